/* engine/run/resident.h - HYBRID_RESIDENT: what of A is on a site from earlier runs. */
#ifndef HY_RESIDENT_H
#define HY_RESIDENT_H

#include "engine/plan/layout.h"
#include "pipeline/site/site.h"

/* Bytes that the rows which stay there take in A's CSR arrays; 0 while none is there. Rows
   that the host computed so far count as well. */
int64_t hy_resident_bytes(const hy_product *product, const hy_layout *layout,
                          const hy_site *site);

/* Chunks of a run in so many panels whose rows of A are there. `shared`: the host may take
   part in runs. */
int64_t hy_resident_chunks(const hy_site *site, int64_t panels, int shared);

/* Whether all are there, since a run that succeeded: then nobody reads A. */
int hy_resident_all(const hy_site *site);

#endif /* HY_RESIDENT_H */
