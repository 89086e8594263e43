/* engine/plan.h - inspect, rank, cut, open the pipeline. */
#ifndef HY_PLAN_H
#define HY_PLAN_H

#include "engine/rank.h"
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
    size_t shared_bytes;         /* B or X on the device; 0 if not resident */
    int gathered;
    hy_chunk *chunks;
    int64_t chunk_count;
    hy_pipeline *pipeline;
    hybrid_report report;
};

/* B NULL: SpMM with dense_cols columns. Operands are checked by the caller. */
hybrid_status hy_plan_make(hybrid_engine *engine, const hybrid_csr *A,
                           const hybrid_csr *B, int64_t dense_cols,
                           const hybrid_plan_options *options, hybrid_plan **out);

#endif /* HY_PLAN_H */
