/* engine/plan/portion.h - what one site does of a product, and how.

   A device plans for itself, since budgets and speeds differ: it has a variant, a schedule
   and a cut of its own. Portions of a dense result are cut from their rows alone; those of
   a sparse one from all rows, as in a run that does not know where rows of C begin each
   device takes the next ones. */
#ifndef HY_PORTION_H
#define HY_PORTION_H

#include "engine/rates/estimate.h"
#include "engine/rates/traffic.h"
#include "pipeline/run/queue.h"

typedef struct hy_portion {
    hy_product product; /* as it is computed there; sums and the reduced A are the plan's */
    hy_layout layout;
    hy_traffic traffic;
    hy_site *site;      /* NULL: not open yet */
    int64_t begin, end; /* its rows; of a sparse result where places are known */
    double weight;      /* of the work that devices do: sums up to 1, */
    double rate;        /* and as work a second, if there are several portions */
    hy_sharing taking;  /* how it takes rows of others; no variant: it does not */
} hy_portion;

/* The whole product, as it is in a layout. */
void hy_portion_of(const hy_product *product, hy_portion *portion);

/* The site, for the chunks of the layout. `early`: as hy_plan_make() has it; *early is NULL
   then. On failure the portion has no site. */
hybrid_status hy_portion_open(hy_portion *portion, hy_loader **early);

/* Site and layout; one without is fine. */
void hy_portion_close(hy_portion *portion);

/* A run's part that is computed there. */
hy_estimate hy_portion_estimate(const hy_portion *portion, const hy_circumstances *found);

/* Seconds of a run in which all of them take part, each with what the run finds there; or
   of the host, if it is the only one. */
double hy_portions_s(const hy_portion *portions, int count,
                     const hy_circumstances *found);

/* Returns the seconds during which packing and storing keep all workers busy. */
double hy_portions_workers_s(const hy_portion *portions, int count,
                             const hy_circumstances *found);

#endif /* HY_PORTION_H */
