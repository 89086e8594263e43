/* engine/rates/calibrate.h - measures the speeds of this machine. */
#ifndef HY_CALIBRATE_H
#define HY_CALIBRATE_H

#include "engine/api/engine.h"

/* Products on which the variants of a backend are timed: two lists of descriptions for
   hybrid_generate(), which end with NULL. After limit_s seconds no new problem is
   begun. */
typedef struct hy_calibrate_list {
    const char *const *spmm, *const *spgemm;
    double limit_s;
} hy_calibrate_list;

typedef struct hy_calibrate_set {
    hy_calibrate_list device, host;
    const int64_t *columns; /* numbers of columns of X for each SpMM problem; the list
                               ends with 0 */
    int runs; /* maximum number of timed runs of each product and variant; their median
                 counts */
    double end_s; /* seconds after the start of calibration from which no new problem is
                     begun */
} hy_calibrate_set;

/* Does what hybrid_engine_calibrate() does, with the products of `set`. */
hybrid_status hy_calibrate(hybrid_engine *engine, const char *path,
                           const hy_calibrate_set *set, hybrid_calibrate_fn fn,
                           void *user, hybrid_calibration *out);

#endif /* HY_CALIBRATE_H */
