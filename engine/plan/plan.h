/* engine/plan/plan.h - makes plans: inspect, estimate, choose, cut, divide, open.

   A plan holds what was found out and chosen when it was made, and runs take it as
   `const`. State that lasts from run to run is in its sites (pipeline/site/site.h) and in
   its history. */
#ifndef HY_PLAN_H
#define HY_PLAN_H

#include "engine/run/pattern.h"
#include "engine/plan/rank.h"
#include "engine/device/single.h"
#include "engine/plan/split.h"

/* What runs leave to later runs, to explain and to reports. */
typedef struct hy_history {
    hy_pattern pattern;   /* SpGEMM with HYBRID_REUSE: where rows of C begin */
    hy_bound *bound;      /* chunks of each portion in the last run; before the first run,
                             as planned */
    hybrid_report report; /* of the last run; before the first run, what is
                             predicted */
} hy_history;

/* The operands of a one-shot call. */
typedef struct hy_one_shot {
    hy_loader *prefetcher;     /* loader that prefetches B (prefetch.h), or NULL */
    const hybrid_dense *X, *Y; /* operands that a device may copy directly if they are
                                  pinned, or NULL */
} hy_one_shot;

struct hybrid_plan {
    hy_product product; /* the whole product, as the first portion's site computes it */
    hy_candidates candidates;
    void *a_offsets;            /* offsets, in host memory, of an A in device memory */
    hybrid_index a_offset_type; /* type of a_offsets */
    double plan_s;              /* planning time in seconds, if the plan is handed out */
    int64_t pattern_bytes; /* bytes of patterns that were copied from a device to make the
                              plan */
    hy_split split;        /* how the host helps devices, if it does */
    hy_history history;
    hy_arranged arranged;   /* pack of A on the device, for runs without a pipeline
                               (direct.h) */
    struct hy_async *async; /* state of asynchronous runs (async.h) */
    int count;              /* number of sites that compute, without the host that helps
                               devices */
    hy_portion portions[]; /* `count` are used. Memory for one per device of the engine is
                              allocated, and after it a hy_bound for each. */
};

/* Makes a plan. B is NULL for SpMM with `dense_cols` columns. The caller has checked the
   operands. `one_shot` is NULL for a plan that is handed out. The plan takes over the
   loader one_shot->prefetcher, even if planning fails: the loader goes on if the plan
   wants B on the loader's device, and else ends before the plan allocates device
   memory. */
hybrid_status hy_plan_make(hybrid_engine *engine, const hybrid_csr *A,
                           const hybrid_csr *B, int64_t dense_cols,
                           const hybrid_plan_options *options,
                           const hy_one_shot *one_shot, hybrid_plan **out);

/* Adds what a plan needs that is handed out: with HYBRID_REUSE the patterns, and numbers
   that explain and reports show. */
hybrid_status hy_plan_finish(hybrid_plan *plan, const hybrid_csr *A, const hybrid_csr *B);

/* Returns the number of chunks, of a run with these chunks of each portion, whose packs
   of A are cached. */
int64_t hy_plan_resident_chunks(const hybrid_plan *plan, const hy_bound *bound);

/* Returns the predicted seconds of a device if the host computes in its place; else 0. */
static inline double hy_plan_device_s(const hybrid_plan *plan)
{
    return hy_product_on_device(&plan->product) ? 0 : plan->portions->layout.seconds;
}

/* Returns the bytes of host memory for a C of `rows` rows and `entries` entries, with
   offsets and columns as the options ask for them. */
int64_t hy_result_bytes(const hybrid_plan_options *options, hybrid_type type,
                        int64_t rows, int64_t entries);

/* Returns a report with what is known before a run with these chunks of each portion. */
hybrid_report hy_plan_report(const hybrid_plan *plan, const hy_bound *bound);

#endif /* HY_PLAN_H */
