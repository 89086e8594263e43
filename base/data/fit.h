/* base/data/fit.h - fits a fixed cost and factors to seconds that were measured. */
#ifndef HY_FIT_H
#define HY_FIT_H

#include <stdint.h>

/* A product that was timed in some regime (factors.h). Its prediction is
   base_s + start_s + factor * model_s. */
typedef struct hy_sample {
    int regime;
    double measured_s, base_s, model_s; /* seconds: measured; base_s and model_s as in the
                                           formula above. All are above 0, except that
                                           base_s may be 0 */
} hy_sample;

/* Returns the factor, 1e-3 to 1e3, with which predictions of the samples of a regime are
   nearest to what was measured. Returns 0 if no sample has the regime. Distances are
   logarithms of ratios, and a large one counts in proportion, so that a few wrong samples
   do not decide. */
double hy_fit_factor(const hy_sample *samples, int64_t count, int regime, double start_s);

/* Returns the fixed cost start_s, 0 to 10 ms, with which predictions of all samples are
   nearest, if each of the `regimes` regimes has its best factor. */
double hy_fit_start(const hy_sample *samples, int64_t count, int regimes);

#endif /* HY_FIT_H */
