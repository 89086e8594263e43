/* engine/narrow.h - operands with columns of 64 bits.

   The layers below read columns of 32 bits. A call that reads others makes a copy of them in
   32 bits, 4 bytes an entry, and computes with that until it returns. The copy lies in pages
   of results, which are kept when it is freed: the next call finds them. */
#ifndef HY_NARROW_H
#define HY_NARROW_H

#include "base/context.h"

enum { HY_NARROW_MOST = 3 }; /* sparse operands of a call */

typedef struct hy_narrow {
    const hybrid_csr *from[HY_NARROW_MOST]; /* operands with columns of 64 bits, */
    hybrid_csr of[HY_NARROW_MOST];          /* as they are below */
    void *copies[HY_NARROW_MOST];           /* of their columns; NULL: another one's */
    int count;
} hy_narrow;

/* *A, *B and *C, whose headers are checked, become matrices with columns of 32 bits: they stay
   as they are if they have them. One that is NULL is not there. Two that are the same stay
   so, and two that have the same columns share the copy. BAD_MATRIX names row and entry of a
   column that is not in [0, cols), NO_MEMORY; then nothing is held. */
hybrid_status hy_narrow_open(hy_context *ctx, const hybrid_csr **A, const hybrid_csr **B,
                             const hybrid_csr **C, hy_narrow *out);
void hy_narrow_close(hy_context *ctx, hy_narrow *narrow);

#endif /* HY_NARROW_H */
