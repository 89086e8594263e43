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
    hy_product product; /* the product as this site computes it; checksums and the reduced
                           A are the plan's */
    hy_layout layout;
    hy_traffic traffic;
    hy_site *site;      /* NULL: not open yet */
    int64_t begin, end; /* its rows; for a sparse result only if positions are known */
    double weight;      /* share of the devices' work; all shares sum up to 1 */
    double rate;        /* work per second, if there are several portions */
    hy_sharing taking;  /* how it takes rows of others; without a variant it takes none */
} hy_portion;

/* Makes a portion of the whole product in a layout. */
void hy_portion_of(const hy_product *product, hy_portion *portion);

/* Opens the site for the chunks of the layout. `early` is as in hy_plan_make(); *early is
   NULL afterwards. After a failure the portion has no site. */
hybrid_status hy_portion_open(hy_portion *portion, hy_loader **early);

/* Frees site and layout; a portion without a site is allowed. */
void hy_portion_close(hy_portion *portion);

/* Returns the estimate of the part of a run that is computed there. */
hy_estimate hy_portion_estimate(const hy_portion *portion, const hy_circumstances *found);

/* Returns the seconds of a run of all portions, each with what the run finds there, or of
   the host if it is the only portion. */
double hy_portions_s(const hy_portion *portions, int count,
                     const hy_circumstances *found);

/* Returns the seconds during which packing and storing keep all workers busy. */
double hy_portions_workers_s(const hy_portion *portions, int count,
                             const hy_circumstances *found);

#endif /* HY_PORTION_H */
