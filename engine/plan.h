/* engine/plan.h - inspect, rank, cut, open the pipeline. */
#ifndef HY_PLAN_H
#define HY_PLAN_H

#include "engine/pattern.h"
#include "engine/rank.h"
#include "engine/split.h"
#include "engine/traffic.h"
#include "pipeline/run.h"

struct hybrid_plan {
    hybrid_engine *engine;
    hy_op op;
    unsigned flags;
    hy_profile profile;
    int64_t b_rows, b_cols, b_nnz; /* of B; of X: rows, columns, 0 */
    hy_candidate candidates[HY_CANDIDATES];
    int candidate_count, chosen; /* index of the one that computes */
    hy_rates rates;              /* of its backend */
    size_t resident_bytes;       /* B or X sent to the device if it is resident */
    size_t shared_bytes;         /* and its room there; 0 if it is not */
    hy_panels panels;            /* of X in the last run, or in the first one; */
    hy_panels if_pinned;         /* in runs with X and Y pinned. 0 columns: as in others */
    int64_t window;              /* rows of X that are there at once; 0: all */
    int gathered;
    int64_t gathered_up, window_up, panels_up; /* bytes of the ways of a large X; -1: not
                                                  looked at, or not to be had */
    hy_chunk *chunks;
    int64_t chunk_count;
    hy_pipeline *pipeline;
    hy_split split; /* between device and host */
    hy_pattern pattern; /* SpGEMM */
    hy_traffic traffic;
    int64_t there_bytes; /* of A's CSR arrays, that the run needs not send */
    hybrid_report report;
};

/* B NULL: SpMM with dense_cols columns. Operands are checked by the caller. `early` may
   be NULL, or B on its way to the device, which the plan's only run will be for
   (early.h): it goes on as it is if the plan wants it there, and is ended before the
   plan's own memory is had if not; the caller has it no more either way. */
hybrid_status hy_plan_make(hybrid_engine *engine, const hybrid_csr *A,
                           const hybrid_csr *B, int64_t dense_cols,
                           const hybrid_plan_options *options, hy_loader *early,
                           hybrid_plan **out);

/* cut.c: chunks for the chosen candidate, in the first layout that holds every row, and
   how many are to be in flight. */
hybrid_status hy_plan_cut(hybrid_plan *plan, const hybrid_csr *A, const hybrid_csr *B,
                          const hybrid_plan_options *options, int *depth);

/* What a plan needs that is handed out, not run once and destroyed: with HYBRID_REUSE the
   patterns that it was made for, and what explain and report tell. */
hybrid_status hy_plan_finish(hybrid_plan *plan, const hybrid_csr *A, const hybrid_csr *B);

/* Of A's CSR arrays, the bytes of rows that are on the device, packed. */
int64_t hy_plan_there_bytes(const hybrid_plan *plan);

/* A report of what is known before a run. */
void hy_plan_start_report(hybrid_plan *plan);

#endif /* HY_PLAN_H */
