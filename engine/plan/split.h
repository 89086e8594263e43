/* engine/plan/split.h - how much of an SpMM the host takes from the devices. Devices alone
   compute an SpGEMM, or the host does.

   A plan knows neither X nor Y. Where both are pinned the device copies by itself, and
   workers are free to compute; in other runs they load X and store Y. So there are two
   forecasts, and each run goes by the one that is about it. */
#ifndef HY_SPLIT_H
#define HY_SPLIT_H

#include "engine/run/bind.h"
#include "engine/plan/portion.h"
#include "pipeline/run/run.h"

typedef enum hy_run_kind { HY_RUNS_PAGEABLE, HY_RUNS_PINNED, HY_RUN_KINDS } hy_run_kind;

/* Of runs of one kind. */
typedef struct hy_forecast {
    const char *why_not; /* the device is alone; NULL if it is not, or there is none */
    hy_sharing sharing;  /* unless the device is alone */
    double share;        /* share of the work that the host is expected to take, 0 to 1 */
} hy_forecast;

typedef struct hy_split {
    hy_forecast
        of[HY_RUN_KINDS]; /* the same twice where pinned operands change nothing */
    hy_site *host;        /* NULL: the device is alone in all runs */
} hy_split;

/* Chunks are cut and the sites of the portions of the product are open: choose the shares,
   and open the host's site if runs of either kind may use it. */
hybrid_status hy_split_open(const hy_product *product, const hy_portion *portions,
                            int count, hy_split *split);
void hy_split_close(hy_split *split);

/* Returns the host's forecast for a run of the problem, whose image is that of the first
   portion, or NULL if the host takes no part. `direct`: X and Y are copied directly
   (pin.h). */
const hy_forecast *hy_split_forecast(const hy_split *split, const hy_portion *portions,
                                     int count, const hy_problem *problem, int direct);

/* Whether nobody reads A any more: all of it is on devices. */
int hy_split_all_stays(const hy_portion *portions, int count);

/* Who takes part: the portions' sites, each with its image, and the host if there is a
   forecast. */
void hy_split_sites(const hy_split *split, const hy_portion *portions, int count,
                    const hy_bound *bound, const hy_forecast *forecast, hy_sites *out);

#endif /* HY_SPLIT_H */
