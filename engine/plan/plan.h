/* engine/plan/plan.h - makes plans: inspect, estimate, choose, cut, divide, open.

   A plan holds what was found out and chosen when it was made, and runs take it as
   `const`. State that lasts from run to run is in its sites (pipeline/site/site.h) and in
   its history. */
#ifndef HY_PLAN_H
#define HY_PLAN_H

#include "engine/run/pattern.h"
#include "engine/plan/rank.h"
#include "engine/device/single.h"
#include "engine/run/bind.h"

/* Data that a run leaves for later runs, for explain and for reports. */
typedef struct hy_history {
    hy_pattern pattern;   /* hashes of the patterns of A and B, and offsets of C; only
                             SpGEMM with HYBRID_REUSE */
    hybrid_report report; /* report of the last run; before the first run, the predicted
                             report */
} hy_history;

/* The operands of a one-shot call. */
typedef struct hy_one_shot {
    hy_loader *prefetcher;     /* loader that prefetches B (prefetch.h), or NULL */
    const hybrid_dense *X, *Y; /* operands of an SpMM, which a device copies directly if
                                  they are pinned; NULL: none, or not known */
    int64_t first_row; /* number of row 0 of A in error sentences: not 0 if A is a part of
                          the caller's A */
} hy_one_shot;

enum { HY_MODEL_TEXT = 640 }; /* maximum bytes of the text that hy_variant.model writes */

struct hybrid_plan {
    hy_product product;
    hy_candidates candidates;
    char model[HY_MODEL_TEXT];  /* what the model of the chosen variant finds, in lines;
                                   empty without HYBRID_EXPLAIN or without a model */
    void *a_offsets;            /* host copy of the offsets of an A in device memory; else
                                   NULL */
    hybrid_index a_offset_type; /* type of the offsets in a_offsets */
    double plan_s;              /* planning time in seconds; not used by one-shot calls */
    int64_t pattern_bytes; /* bytes of patterns copied from a device for planning */
    hy_forecast forecasts[HY_RUN_KINDS]; /* for each kind of run on devices, the host's
                                            share of the work and why it has none
                                            (split.h) */
    hy_history history;
    hy_arranged arranged;   /* pack of A on the device, for runs without a pipeline
                               (direct.h) */
    struct hy_async *async; /* asynchronous runs (async.h); NULL before the first */
    int count;              /* number of portions with rows of their own */
    hy_portion portions[]; /* portions[count] is the host if it helps devices; else its
                              site is NULL. There is room for each device of the engine
                              and for the host. */
};

/* Makes a plan. B is NULL for SpMM with `dense_cols` columns. The caller has checked the
   operands. `one_shot` is NULL for a plan that the caller of the library receives. The
   plan takes over the loader one_shot->prefetcher, even if planning fails. The loader
   continues if the plan wants B on the loader's device; else it ends before the plan
   allocates device memory. */
hybrid_status hy_plan_make(hybrid_engine *engine, const hybrid_csr *A,
                           const hybrid_csr *B, int64_t dense_cols,
                           const hybrid_plan_options *options,
                           const hy_one_shot *one_shot, hybrid_plan **out);

/* Completes a plan that the caller of the library receives: predicts the numbers that
   explain and reports show. With HYBRID_REUSE also stores hashes of the patterns. */
hybrid_status hy_plan_finish(hybrid_plan *plan, const hybrid_csr *A, const hybrid_csr *B);

/* Returns the number of chunks with cached packs of A in the run for which the sites were
   bound last. */
int64_t hy_plan_resident_chunks(const hybrid_plan *plan);

/* Returns the predicted seconds of a device if the host computes in place of it; else
   0. */
static inline double hy_plan_device_s(const hybrid_plan *plan)
{
    return hy_portion_on_device(plan->portions) ? 0 : plan->portions->layout.seconds;
}

/* Returns 1 if the host helps devices in some runs. */
static inline int hy_plan_has_helper(const hybrid_plan *plan)
{
    return plan->portions[plan->count].site != NULL;
}

/* Returns the bytes of host memory for a C of `rows` rows and `entries` entries, with
   offsets and columns as the options ask for them. */
int64_t hy_result_bytes(const hybrid_plan_options *options, hybrid_type type,
                        int64_t rows, int64_t entries);

/* Returns a report with what is known before the run for which the sites are bound. */
hybrid_report hy_plan_report(const hybrid_plan *plan);

#endif /* HY_PLAN_H */
