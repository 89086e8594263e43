/* engine/run/resident.h - HYBRID_RESIDENT: which rows of A earlier runs have cached on a
   site. */
#ifndef HY_RESIDENT_H
#define HY_RESIDENT_H

#include "engine/plan/layout.h"
#include "pipeline/site/site.h"

/* Returns the bytes of the cached rows in A's CSR arrays; 0 while no row is cached. Once
   one is, all rows whose packs have a place in the cache count, even those that the host
   has computed so far. */
int64_t hy_resident_bytes(const hy_product *product, const hy_layout *layout,
                          const hy_site *site);

/* Returns the number of chunks, of a run with `panels` column blocks, whose packs of A
   are cached. `shared` is 1 if the host may take part in runs. */
int64_t hy_resident_chunks(const hy_site *site, int64_t panels, int shared);

/* Returns 1 if all rows are cached after a successful run, so that A is not read
   again. */
int hy_resident_all(const hy_site *site);

#endif /* HY_RESIDENT_H */
