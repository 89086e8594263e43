/* engine/rates/judge.h - rates the rules that choose between the variants spmm.cuda.rows
   and spmm.cuda.merge, called rows and merge here. */
#ifndef HY_JUDGE_H
#define HY_JUDGE_H

#include "engine/rates/observe.h"

/* A product that was timed with rows and with merge; neither refuses it. */
typedef struct hy_rated {
    double row_mean; /* mean number of entries in a row of A */
    hy_observation rows, merge;
} hy_rated;

/* Fits the threshold to `count` products, rates all rules on them, and stores the results
   in `out`, whose factors are known. Does nothing without products. */
hybrid_status hy_judge(hy_context *ctx, const hy_rated *products, int64_t count,
                       hy_rates_of_device *out);

/* Returns the geometric mean, over all products, of the quotient of two factors of the
   table: merge's by that of rows; 0 without products. */
double hy_merge_factor(const hy_rated *products, int64_t count,
                       const hy_factor_table *factors);

#endif /* HY_JUDGE_H */
