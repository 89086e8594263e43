/* engine/plan/plan.h - inspect, rank, cut, open the sites.

   A plan is what was known and chosen when it was made, and runs take it as `const`. What
   lasts from run to run lies at its sites (pipeline/site/site.h) and in its history. */
#ifndef HY_PLAN_H
#define HY_PLAN_H

#include "engine/run/pattern.h"
#include "engine/plan/rank.h"
#include "engine/device/single.h"
#include "engine/plan/split.h"

/* What runs leave to later runs, to explain and to reports. */
typedef struct hy_history {
    hy_pattern pattern;   /* SpGEMM with HYBRID_REUSE: where rows of C begin */
    hy_bound *bound;      /* of each portion in the last run, or as planned */
    hybrid_report report; /* likewise */
} hy_history;

/* The one run of a plan that is handed out to nobody. */
typedef struct hy_once {
    hy_loader *early;          /* B on its way to the device (prefetches.h), or NULL */
    const hybrid_dense *X, *Y; /* that a device copies by itself if they are pinned, or NULL */
} hy_once;

struct hybrid_plan {
    hy_product product; /* all of it, as the first portion's site computes it */
    hy_candidates candidates;
    const hy_once *unasked; /* whose X and Y may be pinned, until somebody has to know */
    void *a_offsets; /* of an A in the memory of the device, in host memory, of */
    hybrid_index a_offset_type; /* that type */
    double plan_s;   /* that making it took, if it is handed out */
    int64_t pattern_bytes; /* bytes of patterns copied from a device to make the plan */
    double spared_s; /* what a device is expected to take, if the host computes instead; or 0 */
    hy_split split; /* between devices and host */
    hy_history history;
    hy_arranged arranged;   /* of A in runs without a pipeline (direct.h) */
    struct hy_async *async; /* of runs that return before their work is done (async.h) */
    int count;             /* sites that compute it, but for the host that helps devices: */
    hy_portion portions[]; /* room for each of the engine's devices, and for its bound */
};

/* B NULL: SpMM with dense_cols columns. Operands are checked by the caller. `once`: NULL of
   a plan for runs of whatever its owner brings. `early` of one run goes on as it is if the
   plan wants B there, and is ended before the plan's own memory is had if not; the caller
   has it no more either way. */
hybrid_status hy_plan_make(hybrid_engine *engine, const hybrid_csr *A,
                           const hybrid_csr *B, int64_t dense_cols,
                           const hybrid_plan_options *options, const hy_once *once,
                           hybrid_plan **out);

/* What a plan needs that is handed out, not run once and destroyed: with HYBRID_REUSE the
   patterns that it was made for, and what explain and report tell. */
hybrid_status hy_plan_finish(hybrid_plan *plan, const hybrid_csr *A, const hybrid_csr *B);

/* Chunks of such a run whose rows of A are on devices from earlier ones. */
int64_t hy_plan_resident_chunks(const hybrid_plan *plan, const hy_bound *bound);

/* Returns the bytes of host memory for a C of `rows` rows and `entries` entries, with offsets
   and columns as the options ask for them. */
int64_t hy_result_bytes(const hybrid_plan_options *options, hybrid_type type, int64_t rows,
                        int64_t entries);

/* What is known before a run of these chunks, those of each portion. */
hybrid_report hy_plan_report(const hybrid_plan *plan, const hy_bound *bound);

#endif /* HY_PLAN_H */
