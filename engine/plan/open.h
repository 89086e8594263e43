/* engine/plan/open.h - opens and closes the sites of portions. */
#ifndef HY_OPEN_H
#define HY_OPEN_H

#include "engine/plan/portion.h"

/* Opens the sites of `count` portions for the chunks of their layouts. *prefetcher is a
   loader that prefetches B to a device, or NULL: the site on that device takes the loader
   over. The loader ends if there is no such site, or if it does not suit; *prefetcher is
   then NULL. After a failure some portions have sites, which hy_portion_close() closes. */
hybrid_status hy_portions_open(hy_portion *portions, int count, hy_loader **prefetcher);

/* Frees site and layout; a portion without a site is allowed. */
void hy_portion_close(hy_portion *portion);

#endif /* HY_OPEN_H */
