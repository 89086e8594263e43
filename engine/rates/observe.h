/* engine/rates/observe.h - compares measured with predicted seconds of variants, for the
   factors of engine/rates/factors.h. */
#ifndef HY_OBSERVE_H
#define HY_OBSERVE_H

#include "engine/plan/plan.h"
#include "base/data/fit.h"

/* A product that is timed. B is NULL for SpMM, which has X and Y instead. */
typedef struct hy_observed_product {
    const hybrid_csr *A, *B;
    const hybrid_dense *X;
    hybrid_dense *Y;
    unsigned flags; /* flags of the plan (hybrid_plan_options.flags) */
} hy_observed_product;

/* Median seconds of the runs of a plan, and what the models predict without factors. */
typedef struct hy_observation {
    const hy_variant *variant;
    int regime;                        /* regime of the product (factors.h); -1: the
                                          variant refuses the product */
    double compute_s, model_s;         /* seconds of multiply and finish: measured, and as
                                          the model predicts */
    double built_in_s;                 /* model_s with built-in instead of measured speeds */
    double prepare_s, prepare_model_s; /* seconds in which all workers pack: measured, and
                                          as the model predicts; 0: nothing is packed, or
                                          memory bounds packing */
    double total_s;                    /* seconds of the whole call, measured */
    double threads_share;              /* host: number of threads that computed, divided
                                          by the number that its rates describe (which
                                          leave cores to a device); 0: a device
                                          computed */
    double rest_s, call_model_s;       /* rest_s: seconds of work (measured) and copies
                                          (predicted); call_model_s: predicted seconds
                                          that the call costs besides these */
    int64_t chunks;                    /* number of chunks of a second run, in several
                                          chunks; 0: there was none */
    double chunked_s;                  /* measured seconds of multiply and finish in the
                                          run in several chunks */
    double
        chunked_model_s[HY_REGIMES]; /* predicted seconds of multiply and finish in that
                                        run, summed by the regime of the chunks */
} hy_observation;

/* Times the product with this variant in one chunk: a run that is not counted, then up to
   `runs` runs, fewer if they take long. Products in f32 that a device computes from rows
   in CSR are timed in several chunks, too. SpMM on the host is planned without naming the
   variant: plans that may choose learn less about A, and the model predicts from what the
   plan knows. The factors of the backend must be 0. */
hybrid_status hy_observe(hybrid_engine *engine, const hy_variant *variant,
                         hy_backend *backend, const hy_observed_product *product,
                         int runs, hy_observation *out);

enum { HY_SAMPLES = 512, HY_CHUNKED = 256 };

typedef struct hy_series {
    int64_t count;
    hy_sample of[HY_SAMPLES];
} hy_series;

/* A geometric mean: `logs` is the sum of log(measured / predicted seconds) over `count`
   observations. */
typedef struct hy_mean {
    double logs;
    int64_t count;
} hy_mean;

/* Observations of one backend. Observations for which the arrays have no room are
   dropped. */
typedef struct hy_observed {
    hy_series spmm_call, spgemm_call;
    int count;
    struct {
        const hy_variant *variant;
        hy_series compute;
        hy_mean prepare;
    } of[HY_FACTOR_ROWS];
    int64_t chunked_count;
    hy_observation chunked[HY_CHUNKED]; /* observations that include a run in several
                                           chunks */
} hy_observed;

void hy_observed_add(hy_observed *all, const hy_observation *seen);

/* Returns the factors and fixed costs with which predictions are nearest to the
   observations (fit.h). Factors of packing are geometric means. A number that was not
   observed is 0. */
hy_factor_table hy_observed_factors(const hy_observed *all);

#endif /* HY_OBSERVE_H */
