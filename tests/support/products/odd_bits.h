/* tests/support/products/odd_bits.h - products of zeros of both signs, infinities and
   NaN, bit for bit.

   A NaN of any sign and payload is right where a NaN is due. Failures are printed; each
   function returns how many there were. */
#ifndef ODD_BITS_H
#define ODD_BITS_H

#include "engine/api/engine.h"

enum { ODD_SCHEDULES = 6 };

typedef struct odd_bits {
    int64_t schedules[ODD_SCHEDULES]; /* plans checked with hy_schedules[k]; last: any */
    int64_t hosts;                    /* runs in which the CPU computed all */
} odd_bits;

/* Checks C = AB under HYBRID_DETERMINISTIC by the engine's variants, with each schedule and
   split, operands and results with indices of 32 and 64 bits, against a plain loop. The loop
   rounds each product and adds the products to +0 in the order of A's entries. Plans that
   the engine refuses are left out. */
int odd_bits_check(hybrid_engine *engine, odd_bits *count);

/* Checks Y = alpha*A*X + beta*Y by the engine's variants, with each schedule, of whole
   numbers: sums begin with +0, and alpha and beta follow IEEE 754. *checked counts runs.
 */
int odd_bits_check_spmm(hybrid_engine *engine, int64_t *checked);

#endif /* ODD_BITS_H */
