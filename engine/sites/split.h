/* engine/sites/split.h - how much of an SpMM the host takes from the devices.

   An SpGEMM is computed by devices alone or by the host alone.

   A plan knows neither X nor Y. If both are pinned the device copies directly and workers
   are free to compute; in other runs workers load X and store Y. There are therefore two
   forecasts, and each run uses the one for its kind. */
#ifndef HY_SPLIT_H
#define HY_SPLIT_H

#include "engine/plan/portion.h"

typedef enum hy_run_kind { HY_RUNS_PAGEABLE, HY_RUNS_PINNED, HY_RUN_KINDS } hy_run_kind;

/* Forecast for the runs with pinned X and Y, or for the others. */
typedef struct hy_forecast {
    const char *why_not; /* why devices compute alone in these runs; NULL if the host
                            helps, or computes alone */
    double share;        /* predicted share of the work that the host takes, 0 to 1 */
    double device_rate, host_rate; /* predicted work per second, of all devices together
                                      and of the host. Work is scalar products plus
                                      rows. */
} hy_forecast;

/* Called when chunks are cut and the sites of the `count` portions are open. Makes the
   forecasts, one for each kind of run; they are the same if pinned X and Y change
   nothing. If the host may help in runs of either kind, portions[count] becomes the
   host, with an open site and no rows of its own. Else portions[count].site is NULL. */
hybrid_status hy_split_open(hy_portion *portions, int count, hy_forecast *forecasts);

/* Returns the host's forecast for a run of the problem, whose image is that of the first
   portion, or NULL if the host takes no part. `direct` is 1 if X and Y are copied
   directly (pin.h). */
const hy_forecast *hy_split_forecast(const hy_forecast *forecasts,
                                     const hy_portion *portions, int count,
                                     const hy_problem *problem, int direct);

#endif /* HY_SPLIT_H */
