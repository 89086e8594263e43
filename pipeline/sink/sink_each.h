/* pipeline/sink/sink_each.h - passes rows of C to a function of the caller.

   The result is not stored. A part is passed directly from its slot. If its rows have
   gaps or arrive in pieces, it is first assembled in arrays that hold one part. The next
   part waits in its slot meanwhile. */
#ifndef HY_SINK_EACH_H
#define HY_SINK_EACH_H

#include "base/contract/sink.h"

typedef struct hy_each_sink {
    hy_sink sink; /* must be the first member */
    int64_t cols;
    hybrid_type type;
    hybrid_each_fn fn;
    void *user;
    int64_t first_row; /* row of C that is row 0 of the current product */
    int64_t end_row;   /* row of C after the last one of the current product */
    int64_t next_row;  /* first row that is not reserved */
    int64_t room;      /* entries that `col` and `val` have room for */
    void *col, *val;
} hy_each_sink;

/* Opens a sink that passes rows of C = A*B to `fn`. Room for a part is allocated when one
   is first assembled. */
void hy_each_sink_open(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B,
                       hybrid_each_fn fn, void *user, hy_each_sink *out);

#endif /* HY_SINK_EACH_H */
