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
    hy_site *site;      /* NULL: not open yet */
    int64_t begin, end; /* the rows that it owns; used for a sparse result only if
                           positions of rows in C are known before a run */
    double weight;      /* share of the work of all devices, 0 to 1; the shares sum up to
                           1 */
    double rate;        /* predicted work per second, in scalar products plus rows; set if
                           there are several portions */
    hy_sharing taking;  /* how it takes rows of others; without a variant it takes none */
} hy_portion;

/* Makes the portion, in its layout, compute all rows of the product. */
void hy_portion_of(const hy_product *product, hy_portion *portion);

/* Opens the site for the chunks of the layout, which takes over *prefetcher, a loader
   that prefetches B, or ends it. *prefetcher may be NULL and is NULL afterwards. After a
   failure the portion has no site. */
hybrid_status hy_portion_open(hy_portion *portion, hy_loader **prefetcher);

/* Frees site and layout; a portion without a site is allowed. */
void hy_portion_close(hy_portion *portion);

/* Returns the estimate of what the portion's site does in a run that finds `found`. */
hy_estimate hy_portion_estimate(const hy_portion *portion, const hy_circumstances *found);

/* Returns the predicted seconds of a run of all portions. found[i] is what the run finds
   at portion i. If the host is the only portion, `found` is not used. */
double hy_portions_s(const hy_portion *portions, int count,
                     const hy_circumstances *found);

/* Returns the seconds of a run of all portions during which packing and storing keep all
   workers busy. */
double hy_portions_workers_s(const hy_portion *portions, int count,
                             const hy_circumstances *found);

#endif /* HY_PORTION_H */
