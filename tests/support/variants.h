/* tests/support/variants.h - every variant of a backend times every case. */
#ifndef VARIANTS_H
#define VARIANTS_H

#include "hybrid_spmm.h"

/* Run the named variants over all cases, both types, both widths of offsets, integer and
   real data, chunks of 1 row, of a prime number of rows, and of as many as fit; check
   against the oracle, bit for bit where the data are integers. Failures are printed;
   returns how many there were. *checked counts the products that were checked; variants
   of SpMV may refuse matrices without blocks, and more than one column. */
int variants_check(hybrid_engine *engine, const char *const *names, int64_t *checked);

/* The same, of every product about half on the host. */
int variants_check_shared(hybrid_engine *engine, const char *const *names,
                          int64_t *checked);

/* Names of the compiled variants whose second part is `backend`, ended by NULL; at most
   `room` with the NULL. Returns their number. */
int variants_of(const char *backend, const char **names, int room);

#endif /* VARIANTS_H */
