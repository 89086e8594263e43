/* engine/api/narrow.h - converts 64-bit column indices to 32 bits for one call.

   The layers below read 32-bit columns. A call with 64-bit columns makes a copy, 4 bytes
   per entry, and uses it until it ends (hy_engine_end()). The copy lies in pooled pages
   of results, so the next call reuses them. */
#ifndef HY_NARROW_H
#define HY_NARROW_H

#include "base/contract/context.h"

enum { HY_NARROW_MOST = 3 }; /* maximum number of sparse operands of a call */

typedef struct hy_narrow {
    const hybrid_csr *from[HY_NARROW_MOST]; /* the caller's operands, which have 64-bit
                                               columns */
    hybrid_csr of[HY_NARROW_MOST];          /* for each element of `from`, a matrix with
                                               the same offsets and values and 32-bit
                                               columns */
    void *copies[HY_NARROW_MOST];           /* for each element of `from`, the array of
                                               32-bit columns to be freed; NULL if an
                                               earlier operand of the call has the same
                                               column array and its copy */
    int count;
} hy_narrow;

/* If *A has 64-bit columns, replaces it by a matrix with 32-bit columns, valid until the
   call ends. The struct *A must be checked. Equal operands remain equal, and operands
   with the same column array share one copy. BAD_MATRIX names row and entry of a column
   outside [0, cols). */
hybrid_status hy_narrow_add(hy_context *ctx, hy_narrow *narrow, const hybrid_csr **A,
                            const char *name);
/* Calls hy_narrow_add() for A and for B. */
hybrid_status hy_narrow_two(hy_context *ctx, hy_narrow *narrow, const hybrid_csr **A,
                            const hybrid_csr **B);
void hy_narrow_free(hy_context *ctx, hy_narrow *narrow);

#endif /* HY_NARROW_H */
