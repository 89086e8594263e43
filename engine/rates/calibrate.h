/* engine/rates/calibrate.h - measure this machine. */
#ifndef HY_CALIBRATE_H
#define HY_CALIBRATE_H

#include "engine/api/engine.h"

/* Products on which rules are compared: each problem with each number of columns. */
typedef struct hy_calibrate_set {
    const char *const *problems; /* as hybrid_generate() takes them; ends with NULL */
    const int64_t *columns;      /* ends with 0 */
    int runs;                    /* of which the median counts */
    double limit_s;              /* no problem is begun after so many seconds in all */
} hy_calibrate_set;

/* hybrid_engine_calibrate() with another set: tests bring small ones. */
hybrid_status hy_calibrate(hybrid_engine *engine, const char *path,
                           const hy_calibrate_set *set, hybrid_calibrate_fn fn,
                           void *user, hybrid_calibration *out);

#endif /* HY_CALIBRATE_H */
