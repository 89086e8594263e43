/* pipeline/sink/sink_each.h - passes rows of C to a function of the caller.

   C is not stored. The sink passes a part to the function directly from its slot. If the
   part's rows have gaps, or if it arrives in pieces, the sink first assembles it in
   arrays that hold one part. The next part waits in its slot meanwhile. */
#ifndef HY_SINK_EACH_H
#define HY_SINK_EACH_H

#include "base/contract/sink.h"

/* A function of the library that receives rows of C, from row `begin` on, in order. The
   arrays are valid until it returns. */
typedef hybrid_status (*hy_take_fn)(void *user, int64_t begin, const hybrid_csr *rows);

typedef struct hy_each_sink {
    hy_sink sink; /* must be first: the sink's functions cast it to this struct */
    int64_t cols;
    hybrid_type type;
    hybrid_each_fn fn; /* function of the caller; NULL: `take` receives the rows */
    hy_take_fn take;
    void *user; /* pointer of the caller, which fn or take receives */
    int64_t first_row; /* row of C that is row 0 of the current product */
    int64_t end_row;   /* row of C after the last one of the current product */
    int64_t next_row;  /* first row of C whose part is not reserved yet */
    int64_t room;      /* number of entries for which `col` and `val` have memory */
    void *col, *val;
} hy_each_sink;

/* Returns the number of entries for which the sink allocates memory when it assembles a
   part of `nnz` entries: a quarter more, because parts have similar sizes. */
static inline int64_t hy_each_sink_room(int64_t nnz)
{
    return nnz + nnz / 4;
}

/* Opens a sink that passes rows of C = A*B to `fn`. The arrays for a part are allocated
   when a part is first assembled. */
void hy_each_sink_open(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B,
                       hybrid_each_fn fn, void *user, hy_each_sink *out);

/* Opens a sink that passes rows of C = A*B to `take`. */
void hy_take_sink_open(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B,
                       hy_take_fn take, void *user, hy_each_sink *out);

#endif /* HY_SINK_EACH_H */
