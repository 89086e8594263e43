/* engine/rates/threshold.h - rules that choose between two variants, against an oracle.
   */
#ifndef HY_THRESHOLD_H
#define HY_THRESHOLD_H

#include "hybrid_spmm.h"

/* One product. A rule takes merge where x is below a threshold. */
typedef struct hy_trial {
    double x;
    double rows_s, merge_s; /* measured, above 0 */
} hy_trial;

/* The rule with this threshold on n > 0 trials. */
hybrid_rule hy_rule_at(const hy_trial *trials, int64_t n, double threshold);

/* The threshold that loses least time: `usual` unless another is better, and of equally
   good ones that next to it. Between two neighbouring x it is their geometric mean, and
   beyond the outermost at a factor of 2. All x and `usual` are above 0. */
double hy_fit_threshold(const hy_trial *trials, int64_t n, double usual);

#endif /* HY_THRESHOLD_H */
