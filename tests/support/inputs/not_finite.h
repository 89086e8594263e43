/* tests/support/inputs/not_finite.h - SpMM of an X with an infinity and a NaN in it. */
#ifndef NOT_FINITE_H
#define NOT_FINITE_H

#include "hybrid_spmm.h"

/* Run the variant of SpMM with `flags` on both types and several widths: what is not
   finite must show where an entry of A asks for it, and nowhere else. Failures are
   printed; returns how many there were. *checked counts products. */
int not_finite_check(hybrid_engine *engine, const char *variant, unsigned flags,
                     int64_t *checked);

/* Of one call. */
enum { NOT_FINITE_PRODUCTS = 10 };

#endif /* NOT_FINITE_H */
