/* engine/rates/observe.h - compares measured with predicted seconds of variants, for the
   factors of engine/rates/factors.h. */
#ifndef HY_OBSERVE_H
#define HY_OBSERVE_H

#include "engine/plan/plan.h"

/* A product that is timed. B is NULL for SpMM, which has X and Y instead. */
typedef struct hy_observed_product {
    const hybrid_csr *A, *B;
    const hybrid_dense *X;
    hybrid_dense *Y;
    unsigned flags; /* of the plan */
} hy_observed_product;

/* Median seconds of the runs of a plan, and what the models predict without factors. */
typedef struct hy_observation {
    const hy_variant *variant;
    int regime;                           /* -1: the variant refuses the product */
    double compute_s, model_s;            /* multiply and finish */
    double built_in_s;                    /* model_s with built-in speeds */
    double prepare_s, prepare_model_s;    /* packing by all workers; 0: nothing is packed,
                                             or memory bounds it */
    double call_s, call_model_s;          /* what the call costs besides work and copies;
                                             0: work and copies take longer */
} hy_observation;

/* Times the product with this variant in one chunk: a run that is not counted, then up to
   `runs` runs, fewer if they take long. The factors of the backend must be 0. */
hybrid_status hy_observe(hybrid_engine *engine, const hy_variant *variant,
                         hy_backend *backend, const hy_observed_product *product,
                         int runs, hy_observation *out);

/* Sums of logarithms of measured over predicted seconds, for one backend. */
typedef struct hy_mean {
    double logs;
    int64_t count;
} hy_mean;

typedef struct hy_observed {
    hy_mean spmm_call, spgemm_call;
    int count;
    struct {
        const hy_variant *variant;
        hy_mean compute[HY_REGIMES], prepare;
    } of[HY_FACTOR_ROWS];
} hy_observed;

void hy_observed_add(hy_observed *all, const hy_observation *seen);

/* Returns the factors with which predictions agree with the observations in the geometric
   mean. A factor without observations is 0. */
hy_factor_table hy_observed_factors(const hy_observed *all);

#endif /* HY_OBSERVE_H */
