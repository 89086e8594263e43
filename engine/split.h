/* engine/split.h - how much of a product the host takes from the device.

   It takes rows whose place in the result is known: of Y, and of C in runs of a plan with
   HYBRID_REUSE after the first.

   A plan knows neither X nor Y. Where both are pinned the device copies by itself, and
   workers are free to compute; in other runs they load X and store Y. So of SpMM there
   are two forecasts, and each run goes by the one that is about it. */
#ifndef HY_SPLIT_H
#define HY_SPLIT_H

#include "engine/layout.h"
#include "pipeline/run.h"

typedef enum hy_run_kind { HY_RUNS_PAGEABLE, HY_RUNS_PINNED, HY_RUN_KINDS } hy_run_kind;

/* Of runs of one kind. */
typedef struct hy_forecast {
    const char *why_not; /* the device is alone; NULL if it is not, or there is none */
    hy_sharing sharing;  /* unless the device is alone */
    double share;        /* of the work that the host is expected to take */
} hy_forecast;

typedef struct hy_split {
    hy_forecast
        of[HY_RUN_KINDS]; /* the same twice where pinned operands change nothing */
    hy_site *host;        /* NULL: the device is alone in all runs */
} hy_split;

/* Chunks are cut and the device's site is open: choose the shares, and open the host's if
   runs of either kind may use it. */
hybrid_status hy_split_open(const hy_product *product, const hy_layout *layout,
                            hy_split *split);
void hy_split_close(hy_split *split);

/* Who takes part in a run on the device's site. `direct`: X and Y are copied directly
   (pin.h). `places_known`: each row's place in the result is known, that of a row of C
   from an earlier run. */
hy_sites hy_split_sites(const hy_split *split, const hy_product *product, hy_site *device,
                        const hy_problem *problem, int direct, int places_known);

/* Of the work of a run on these sites, what the host is expected to take. */
double hy_split_share(const hy_split *split, const hy_sites *sites);

#endif /* HY_SPLIT_H */
