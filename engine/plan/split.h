/* engine/plan/split.h - how much of an SpMM the host takes from the devices. An SpGEMM is
   computed by devices alone or by the host alone.

   A plan knows neither X nor Y. If both are pinned the device copies directly and workers
   are free to compute; in other runs workers load X and store Y. There are therefore two
   forecasts, and each run uses the one for its kind. */
#ifndef HY_SPLIT_H
#define HY_SPLIT_H

#include "engine/run/bind.h"
#include "engine/plan/portion.h"
#include "pipeline/run/run.h"

typedef enum hy_run_kind { HY_RUNS_PAGEABLE, HY_RUNS_PINNED, HY_RUN_KINDS } hy_run_kind;

/* Forecast for the runs with pinned X and Y, or for the others. */
typedef struct hy_forecast {
    const char *why_not; /* why devices compute alone in these runs; NULL if the host
                            helps, or computes alone */
    hy_sharing sharing;  /* how the host takes rows, if it helps */
    double share;        /* predicted share of the work that the host takes, 0 to 1 */
} hy_forecast;

typedef struct hy_split {
    hy_forecast of[HY_RUN_KINDS]; /* forecast for each kind of run; the same for both
                                     kinds if pinned X and Y change nothing */
    hy_site *host;                /* site of the host; NULL if it helps in no run */
} hy_split;

/* Called when chunks are cut and the sites of the portions are open. Chooses the shares,
   and opens the host's site if runs of either kind may use it. */
hybrid_status hy_split_open(const hy_portion *portions, int count, hy_split *split);
void hy_split_close(hy_split *split);

/* Returns the host's forecast for a run of the problem, whose image is that of the first
   portion, or NULL if the host takes no part. `direct` is 1 if X and Y are copied
   directly (pin.h). */
const hy_forecast *hy_split_forecast(const hy_split *split, const hy_portion *portions,
                                     int count, const hy_problem *problem, int direct);

/* Returns 1 if all packs of A are cached on devices, so that runs no longer read A. */
int hy_split_all_stays(const hy_portion *portions, int count);

/* Lists the sites of a run: those of the portions, each with its image, and the host if
   there is a forecast. */
void hy_split_sites(const hy_split *split, const hy_portion *portions, int count,
                    const hy_bound *bound, const hy_forecast *forecast, hy_sites *out);

#endif /* HY_SPLIT_H */
