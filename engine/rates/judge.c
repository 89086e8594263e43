/* engine/rates/judge.c - rates the rules that choose between rows and merge. */
#include "engine/rates/judge.h"

#include <math.h>

#include "engine/rates/factors.h"
#include "engine/rates/threshold.h"

/* Threshold that Yang, Buluc and Owens fitted on a K40c, in entries per row: below it,
   merge is taken. */
static const double PAPER_THRESHOLD = 9.35;

static double corrected(const hy_factor_table *factors, const hy_observation *seen)
{
    return hy_start_seen(factors, seen->variant) +
           seen->model_s * hy_factor_seen(factors, seen->variant, seen->regime);
}

/* Writes three trials for each product. Their x is the entries per row (by_mean), and
   merge's predicted time divided by that of rows: without factors (built_in), and with
   the factors of this machine (here). */
static void list_trials(const hy_rated *products, int64_t count,
                        const hy_factor_table *factors, hy_trial *by_mean,
                        hy_trial *built_in, hy_trial *here)
{
    for (int64_t i = 0; i < count; i++) {
        const hy_observation *rows = &products[i].rows, *merge = &products[i].merge;
        const double rows_s = rows->compute_s, merge_s = merge->compute_s;
        by_mean[i]  = (hy_trial){products[i].row_mean, rows_s, merge_s};
        built_in[i] = (hy_trial){merge->built_in_s / rows->built_in_s, rows_s, merge_s};
        here[i] = (hy_trial){corrected(factors, merge) / corrected(factors, rows), rows_s,
                             merge_s};
    }
}

hybrid_status hy_judge(hy_context *ctx, const hy_rated *products, int64_t count,
                       hy_rates_of_device *out)
{
    void *made;

    if (count == 0)
        return HYBRID_OK;
    HY_TRY(hy_array(ctx, 3 * count, sizeof(hy_trial), "timings of a calibration", &made));
    hy_trial *by_mean = made, *built_in = by_mean + count, *here = built_in + count;
    list_trials(products, count, &out->speeds.factors, by_mean, built_in, here);
    out->products  = (double)count;
    out->threshold = hy_fit_threshold(by_mean, count, PAPER_THRESHOLD);
    out->paper     = hy_rule_at(by_mean, count, PAPER_THRESHOLD);
    out->fitted    = hy_rule_at(by_mean, count, out->threshold);
    out->model     = hy_rule_at(built_in, count, 1);
    out->scaled    = hy_rule_at(here, count, 1);
    hy_array_free(ctx, made);
    return HYBRID_OK;
}

double hy_merge_factor(const hy_rated *products, int64_t count,
                       const hy_factor_table *factors)
{
    double logs = 0;

    for (int64_t i = 0; i < count; i++) {
        const hy_observation *rows = &products[i].rows, *merge = &products[i].merge;
        logs += log(hy_factor_seen(factors, merge->variant, merge->regime) /
                    hy_factor_seen(factors, rows->variant, rows->regime));
    }
    return count > 0 ? exp(logs / (double)count) : 0;
}
