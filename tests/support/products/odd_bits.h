/* tests/support/products/odd_bits.h - exact bits of products with zeros of both signs,
   infinities and NaN.

   Any NaN counts as equal to any other NaN. Each function prints failures and returns
   their number. */
#ifndef ODD_BITS_H
#define ODD_BITS_H

#include "engine/api/engine.h"

enum { ODD_SCHEDULES = 9 };

typedef struct odd_bits {
    int64_t schedules[ODD_SCHEDULES]; /* number of plans checked with schedule
                                         hy_schedules[k]; the last element counts plans
                                         for which the engine chose */
    int64_t hosts;                    /* number of runs in which the host computed all
                                         rows */
} odd_bits;

/* Checks C = AB under HYBRID_DETERMINISTIC for the engine's variants, with each schedule
   and split, and with indices of 32 and 64 bits. The reference is a plain loop that
   rounds each scalar product and adds them to +0 in the order of A's entries. Plans that
   the engine refuses are skipped. */
int odd_bits_check(hybrid_engine *engine, odd_bits *count);

/* Checks Y = alpha*A*X + beta*Y for the engine's variants, with each schedule. A, X and Y
   have zeros of both signs, infinities, NaN and small whole numbers. Sums begin with +0,
   and alpha and beta follow IEEE 754. Adds the number of runs to *checked. */
int odd_bits_check_spmm(hybrid_engine *engine, int64_t *checked);

#endif /* ODD_BITS_H */
