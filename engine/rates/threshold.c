/* engine/rates/threshold.c - rates rules that choose between the variants spmm.cuda.rows
   and spmm.cuda.merge, called rows and merge here. */
#include "engine/rates/threshold.h"

#include <math.h>

hybrid_rule hy_rule_at(const hy_trial *trials, int64_t n, double threshold)
{
    int64_t right = 0;
    double lost   = 0; /* sum over all trials of log(time of the variant taken / shorter
                          time) */

    for (int64_t i = 0; i < n; i++) {
        const hy_trial *t  = &trials[i];
        const double taken = t->x < threshold ? t->merge_s : t->rows_s;
        const double least = t->rows_s < t->merge_s ? t->rows_s : t->merge_s;
        right += taken == least;
        lost += log(taken / least);
    }
    return (hybrid_rule){(double)right / (double)n, exp(lost / (double)n)};
}

/* Returns the geometric mean of x and the next larger x of a trial; 2 * x if no trial has
   a larger one. */
static double above(const hy_trial *trials, int64_t n, double x)
{
    double next = INFINITY;

    for (int64_t i = 0; i < n; i++)
        if (trials[i].x > x && trials[i].x < next)
            next = trials[i].x;
    return isinf(next) ? 2 * x : sqrt(x * next);
}

static double least_x(const hy_trial *trials, int64_t n)
{
    double least = INFINITY;

    for (int64_t i = 0; i < n; i++)
        least = trials[i].x < least ? trials[i].x : least;
    return least;
}

double hy_fit_threshold(const hy_trial *trials, int64_t n, double usual)
{
    const double equal = 1 + 1e-12; /* tolerance for rounding of sums */
    double best        = usual;
    double lost        = hy_rule_at(trials, n, usual).slowdown;

    for (int64_t i = -1; i < n; i++) {
        const double t   = i < 0 ? least_x(trials, n) / 2 : above(trials, n, trials[i].x);
        const double now = hy_rule_at(trials, n, t).slowdown;
        const int nearer = fabs(log(t / usual)) < fabs(log(best / usual));
        if (now * equal < lost || (now < lost * equal && nearer)) {
            best = t;
            lost = now;
        }
    }
    return best;
}
