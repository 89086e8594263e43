/* engine/run/resident.h - HYBRID_RESIDENT: which rows of A earlier runs have cached on a
   site.

   The packs of A stay on the device from run to run (pack_cache.h), so later runs need
   not send them. The cache has room for the first chunks of a plan, as many as fit beside
   X and the slots. A pack enters the cache when the device computes its chunk. Chunks
   that the host computes have no pack, so a run with the host's help may leave gaps,
   which later runs fill. The cache counts as complete after a successful run without the
   host's help in which no pack was missing at the end.

   The report of a plan tells the number of cached chunks. The reference time of a run
   leaves out the rows that were cached before it. If all rows are cached, runs do not
   read the arrays of A. */
#ifndef HY_RESIDENT_H
#define HY_RESIDENT_H

#include "engine/plan/portion.h"

/* Returns the bytes that rows cached on the portion's site take in A's CSR arrays; 0
   while no row is cached. Once one row is cached, all rows whose packs have a place in
   the cache count, even those that only the host has computed so far. */
int64_t hy_resident_bytes(const hy_portion *portion);

/* Returns the number of chunks whose packs of A are cached, in a run with `col_blocks`
   column blocks. `helped` is 1 if the host may take part in runs. */
int64_t hy_resident_chunks(const hy_site *site, int64_t col_blocks, int helped);

/* hy_resident_all() returns 1 if all rows of the site are cached, so that no later run
   reads them. hy_resident_everywhere() returns 1 if that holds for all portions. */
int hy_resident_all(const hy_site *site);
int hy_resident_everywhere(const hy_portion *portions, int count);

#endif /* HY_RESIDENT_H */
