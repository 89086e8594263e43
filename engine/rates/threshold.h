/* engine/rates/threshold.h - rates rules that choose between the variants spmm.cuda.rows
   and spmm.cuda.merge, called rows and merge here. */
#ifndef HY_THRESHOLD_H
#define HY_THRESHOLD_H

#include "hybrid_spmm.h"

/* Timings of one product with rows and with merge. x is a number that is known before the
   product is computed, such as entries per row. A rule takes merge if x is below a
   threshold, else rows. */
typedef struct hy_trial {
    double x;
    double rows_s, merge_s; /* measured seconds of rows and of merge, above 0 */
} hy_trial;

/* Returns how well a threshold chooses on n > 0 trials: the share of right choices, and
   the geometric mean of the taken time over the shorter time. */
hybrid_rule hy_rule_at(const hy_trial *trials, int64_t n, double threshold);

/* Returns the threshold that loses least time. `usual` wins ties; other ties go to the
   candidate nearest to `usual`. Candidates are the geometric means of neighbouring x,
   half the smallest and twice the largest x. All x and `usual` must be above 0. */
double hy_fit_threshold(const hy_trial *trials, int64_t n, double usual);

#endif /* HY_THRESHOLD_H */
