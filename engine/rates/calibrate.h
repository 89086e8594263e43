/* engine/rates/calibrate.h - measures the speeds of this machine. */
#ifndef HY_CALIBRATE_H
#define HY_CALIBRATE_H

#include "engine/api/engine.h"

/* Products on which rules are compared: every problem with every number of columns. */
typedef struct hy_calibrate_set {
    const char *const *problems; /* descriptions for hybrid_generate(), up to NULL */
    const int64_t *columns;      /* numbers of columns of X, up to 0 */
    int runs;                    /* timed runs per product and variant, whose median
                                    counts */
    double limit_s;              /* seconds after the start from which no new problem is
                                    begun */
} hy_calibrate_set;

/* Does what hybrid_engine_calibrate() does, with the products of `set`. */
hybrid_status hy_calibrate(hybrid_engine *engine, const char *path,
                           const hy_calibrate_set *set, hybrid_calibrate_fn fn,
                           void *user, hybrid_calibration *out);

#endif /* HY_CALIBRATE_H */
