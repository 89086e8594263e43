/* engine/api/narrow.h - operands with columns of 64 bits.

   The layers below read columns of 32 bits. A call that reads others makes a copy of them in
   32 bits, 4 bytes an entry, and computes with that until it ends (hy_engine_end()). The
   copy lies in pages of results, which are kept when it is freed: the next call finds them. */
#ifndef HY_NARROW_H
#define HY_NARROW_H

#include "base/contract/context.h"

enum { HY_NARROW_MOST = 3 }; /* sparse operands of a call */

typedef struct hy_narrow {
    const hybrid_csr *from[HY_NARROW_MOST]; /* operands with columns of 64 bits, */
    hybrid_csr of[HY_NARROW_MOST];          /* as they are below */
    void *copies[HY_NARROW_MOST];           /* of their columns; NULL: another one's */
    int count;
} hy_narrow;

/* *A, whose header is checked, becomes a matrix with columns of 32 bits: it stays as it is if
   it has them. Operands that are the same stay so, and two that have the same columns share
   the copy. BAD_MATRIX names row and entry of a column that is not in [0, cols). */
hybrid_status hy_narrow_add(hy_context *ctx, hy_narrow *narrow, const hybrid_csr **A,
                            const char *name);
/* The same of A and B. */
hybrid_status hy_narrow_two(hy_context *ctx, hy_narrow *narrow, const hybrid_csr **A,
                            const hybrid_csr **B);
void hy_narrow_free(hy_context *ctx, hy_narrow *narrow);

#endif /* HY_NARROW_H */
