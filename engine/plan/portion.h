/* engine/plan/portion.h - what one site does of a product, and how.

   Each device has a variant, a schedule and a cut of its own, because budgets and speeds
   differ. Portions of a dense result are cut from their own rows. Portions of a sparse
   result are cut from all rows, since in a run that does not know where rows of C begin
   each device takes the next rows. */
#ifndef HY_PORTION_H
#define HY_PORTION_H

#include "engine/rates/estimate.h"
#include "engine/rates/traffic.h"
#include "pipeline/run/queue.h"

typedef struct hy_portion {
    hy_product product; /* the product as this site computes it; the plan owns the arrays
                           of the profile and the reduced A */
    hy_layout layout;
    hy_traffic traffic;
    hy_site *site;      /* NULL until hy_portion_open() */
    int64_t begin, end; /* rows [begin, end), which the portion owns; a sparse result uses
                           them only in runs that know the positions of its rows */
    double weight;      /* share of the work of all portions, 0 to 1; the shares add up to
                           1 */
    double rate;        /* predicted scalar products plus rows per second; set only if
                           there are several portions */
    hy_sharing taking;  /* how the site takes rows of other portions; taking.variant is
                           NULL if it takes none */
} hy_portion;

/* Makes `portion` compute all rows of the product in portion->layout. */
void hy_portion_of(const hy_product *product, hy_portion *portion);

/* Opens the site for the chunks of the layout. *prefetcher is a loader that prefetches B,
   or NULL: the site takes it over, or ends it if it does not suit. *prefetcher is NULL
   afterwards. After a failure the portion has no site. */
hybrid_status hy_portion_open(hy_portion *portion, hy_loader **prefetcher);

/* Frees site and layout; a portion without a site is allowed. */
void hy_portion_close(hy_portion *portion);

/* Returns the estimate of the portion's part of a run with the circumstances `found`. */
hy_estimate hy_portion_estimate(const hy_portion *portion, const hy_circumstances *found);

/* Returns the predicted seconds of a run of all portions. found[i] has the circumstances
   of portion i; `found` is not used if the host is the only portion. */
double hy_portions_s(const hy_portion *portions, int count,
                     const hy_circumstances *found);

/* Returns the seconds that packing and storing for all portions take if all workers do
   nothing else. */
double hy_portions_workers_s(const hy_portion *portions, int count,
                             const hy_circumstances *found);

#endif /* HY_PORTION_H */
