/* base/memory/shortage.h - the sentence that says that memory is too small. Every such
   sentence is built here, so that each names the array, its size, the budget and the
   remedy. */
#ifndef HY_SHORTAGE_H
#define HY_SHORTAGE_H

#include "base/contract/state.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hy_shortage {
    const char *memory;    /* kind: "host memory" */
    const char *what;      /* the array, or the result that the array belongs to */
    int64_t bytes;         /* its whole size; INT64_MAX: more than can be counted */
    const hy_meter *meter; /* bytes in use, and the budget; NULL: nothing is counted */
    int64_t spare;         /* bytes in use that the array would replace */
    const char *facts;     /* what else is known, or NULL */
    const char *remedy;
    const char *also;      /* continues the remedy, or NULL */
} hy_shortage;

/* Fails with `status` and the sentence
       MEMORY is too small for WHAT of BYTES: USED of the budget of CAP are in use, FACTS;
       REMEDY ALSO
   Without a cap the budget is left out, and without a meter what is in use. */
hybrid_status hy_short(struct hy_context *ctx, hybrid_status status, const hy_shortage *s);

/* Fails with NO_MEMORY because the cap on host memory leaves no room. `also` continues the
   remedy, or is empty. */
hybrid_status hy_memory_full(struct hy_context *ctx, const char *what, int64_t bytes,
                             const char *also);

/* Fails with NO_MEMORY because the system refuses memory below the cap; `reason` is a
   sentence without an end, or NULL. */
hybrid_status hy_memory_refused(struct hy_context *ctx, const char *what, int64_t bytes,
                                const char *reason);

/* The same for address space. */
hybrid_status hy_address_space_full(struct hy_context *ctx, const char *what,
                                    int64_t bytes, const char *reason);

/* Fails with NO_DEVICE_MEMORY because the cap of a device leaves no room. `facts` and `also`
   may be NULL. */
hybrid_status hy_device_full(struct hy_context *ctx, const hy_meter *meter,
                             const char *what, int64_t bytes, const char *facts,
                             const char *also);

/* Says what to do about a cap on host memory that is too small. Static. */
const char *hy_memory_remedy(const hy_memory *memory);

#ifdef __cplusplus
}
#endif
#endif /* HY_SHORTAGE_H */
