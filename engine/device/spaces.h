/* engine/device/spaces.h - operands in the memory of a device, and results that are left
   there.

   Only the device that has them computes the product. The layers below are given a view of a
   sparse operand: offsets in host memory, where planning and the cutting of chunks read them,
   and columns too for a call that plans; values stay where they are. A call has these copies
   until it ends (hy_engine_end()); a plan keeps the offsets. */
#ifndef HY_SPACES_H
#define HY_SPACES_H

#include "base/contract/backend.h"

enum { HY_SPACES_MOST = 2 }; /* sparse operands of a call */
enum { HY_SPACES_SEEN = 8 };
enum { HY_SPACES_PIECE = 32 << 20 };

typedef struct hy_spaces {
    hy_context *ctx;              /* the engine's, */
    hy_backend *const *devices;   /* and its devices; or in words */
    const int *device_count;
    const char *why;              /* there is none */
    hy_backend *device; /* that has operands of the call under way or gets its result; NULL */
    int is_bound;       /* an operand is on it alone, not managed */
    void *stream;       /* the caller's, of all calls */
    const hybrid_csr *from[HY_SPACES_MOST]; /* operands on the device, */
    hybrid_csr of[HY_SPACES_MOST];          /* and their views */
    void *offsets[HY_SPACES_MOST], *columns[HY_SPACES_MOST]; /* copies; NULL: another's */
    int count;
    int64_t fetched; /* bytes of these copies */
    size_t piece; /* bytes that are copied between two checks of progress: some ms */
    const void *host[HY_SPACES_SEEN]; /* the last arrays that no device had: to ask takes 1 us */
    unsigned seen;                    /* since a call had operands on a device */
} hy_spaces;

/* Of an engine with these devices. */
void hy_spaces_init(hy_spaces *spaces, hy_context *ctx, hy_backend *const *devices,
                    const int *device_count, const char *why);

/* The operand, whose header is checked, is where it says: in host memory, or on a device of
   the engine, the same for all of a call. Empty arrays are anywhere. */
hybrid_status hy_spaces_csr(hy_spaces *spaces, const hybrid_csr *A, const char *name);
hybrid_status hy_spaces_dense(hy_spaces *spaces, const hybrid_dense *X,
                              const char *name);

/* The plan of a run computes there, or NULL: managed operands alone go with it. */
void hy_spaces_planned(hy_spaces *spaces, hy_backend *there);

/* All operands were found: if one is on a device, wait until the caller's stream has done
   what is enqueued. Progress is told meanwhile, and may end the call. */
hybrid_status hy_spaces_wait(hy_spaces *spaces);

/* Where memory is of which nobody says it: on the host too if it is on a device that is
   none of the engine's, which hy_spaces_dense() refuses then. */
hybrid_space hy_spaces_find(const hy_spaces *spaces, const void *ptr);

/* The pause before the next look at a device that has been waited for so long. */
void hy_spaces_rest(int64_t waited_ns);

/* Options of a call that plans, whose operands were found: who computes follows from where
   they and results are. `of_dense`: x_space is of use. */
hybrid_status hy_spaces_options(hy_spaces *spaces, int of_dense,
                                hybrid_plan_options *options);

/* *A becomes its view, if it is on the device: with a copy of offsets and columns, or in a
   run of a plan with the offsets that this has. */
hybrid_status hy_spaces_fetch(hy_spaces *spaces, const hybrid_csr **A);
void hy_spaces_view(hy_spaces *spaces, const hybrid_csr **A, void *offsets,
                    hybrid_index type);

/* What this is a view of, with columns narrowed or not; NULL: none. */
const hybrid_csr *hy_spaces_of(const hy_spaces *spaces, const hybrid_csr *view);

/* The copy of A's offsets is the caller's, in pages of results. */
void *hy_spaces_take(hy_spaces *spaces, const hybrid_csr *view);

/* hy_csr_hash(), where the pattern is. */
hybrid_status hy_spaces_hash(hy_spaces *spaces, const hybrid_csr *A, uint64_t *out);

void hy_spaces_end(hy_spaces *spaces);

#endif /* HY_SPACES_H */
