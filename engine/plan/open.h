/* engine/plan/open.h - opens and closes the sites of portions. */
#ifndef HY_OPEN_H
#define HY_OPEN_H

#include "engine/plan/portion.h"

/* Opens the site for the chunks of the layout. *prefetcher is a loader that prefetches B
   to the site's device, or NULL: the site takes it over, or ends it if it does not suit.
   *prefetcher is NULL afterwards. After a failure the portion has no site. */
hybrid_status hy_portion_open(hy_portion *portion, hy_loader **prefetcher);

/* Frees site and layout; a portion without a site is allowed. */
void hy_portion_close(hy_portion *portion);

#endif /* HY_OPEN_H */
