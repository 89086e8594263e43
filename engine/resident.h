/* engine/resident.h - HYBRID_RESIDENT: what of A is on a site and need not be sent again.
 */
#ifndef HY_RESIDENT_H
#define HY_RESIDENT_H

#include "engine/layout.h"
#include "pipeline/site.h"

/* Of A's CSR arrays, the bytes of rows that are there: those that stay, be it that the
   host took them so far. */
int64_t hy_resident_bytes(const hy_product *product, const hy_layout *layout,
                          const hy_site *site);

/* How many chunks, each range of rows being one of so many panels, have theirs there.
   `shared`: the host may take part in runs. */
int64_t hy_resident_chunks(const hy_site *site, int64_t panels, int shared);

/* Whether all are there, since a run that succeeded: then nobody reads A. */
int hy_resident_all(const hy_site *site);

#endif /* HY_RESIDENT_H */
