/* engine/device/recall.h - how recent one-shot calls of SpMM on a device were planned.

   To plan a one-shot call, the host waits for a survey of the pattern, which takes longer
   than a small product. A call with the arrays of a recent call does not wait: it is
   enqueued as that call was planned, behind a survey and a gate. The gate is a word in
   device memory. If the survey finds other numbers than it found for the recent call, the
   gate is closed, the kernels store nothing, and the call is planned anew. Equal numbers
   give an equal plan, so that the result has the same bits in both cases. */
#ifndef HY_RECALL_H
#define HY_RECALL_H

#include "base/contract/backend.h"
#include "base/contract/variant.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A recent call and its plan. Of the arrays of `A` only the addresses are used, to
   compare them; the caller may have freed them. */
typedef struct hy_recalled {
    const hy_backend *device; /* device that computed the call; NULL: the entry is free */
    hybrid_csr A;
    int64_t cols;   /* number of columns of X */
    unsigned flags; /* flags of the call (hybrid_plan_options.flags) */
    hy_survey survey;
    hy_chunk chunk; /* chunk with all rows of A, its features and its variant */
    hy_cost cost;
} hy_recalled;

enum { HY_RECALLED = 4 }; /* maximum number of recent calls that an engine keeps */

typedef struct hy_recall {
    hy_recalled of[HY_RECALLED];
    int next; /* index of the oldest entry, which the next call replaces */
} hy_recall;

/* Returns the entry of a recent call with the arrays of A, `cols` columns of X and these
   flags on this device, or NULL. */
hy_recalled *hy_recall_find(hy_recall *recall, const hy_backend *device,
                            const hybrid_csr *A, int64_t cols, unsigned flags);

/* Adds a call to the recent ones, in place of the oldest. */
void hy_recall_add(hy_recall *recall, const hy_recalled *call);

#ifdef __cplusplus
}
#endif

#endif /* HY_RECALL_H */
