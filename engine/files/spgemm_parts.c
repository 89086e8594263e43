/* engine/files/spgemm_parts.c - C = A*B, part by part of A. */
#include "engine/files/spgemm_parts.h"

#include "base/data/csr.h"
#include "engine/api/check.h"

/* ---- products of parts ----------------------------------------------------------- */

/* Computes A*B and gives its rows to the sink. Row 0 of this A is row `first` of the
   operand. */
static hybrid_status multiply(hy_spgemm *p, const hybrid_csr *A, const hybrid_csr *B,
                              int64_t first)
{
    hybrid_engine *engine      = p->call.engine;
    const hy_beginning start   = hy_usage_begin(engine);
    const hy_one_shot one_shot = {0};
    hybrid_plan *plan;

    HY_TRY(hy_plan_make(engine, A, B, 0, &p->call.options, &one_shot, &plan));
    p->sink->ops->begin(p->sink, first, first + A->rows,
                        (int64_t)hy_expected_entries(&plan->product.profile.features));
    const hybrid_status status =
        hy_multiply_to(plan, A, B, &start, &plan->history, p->sink);
    if (status == HYBRID_OK)
        hy_files_add(&p->call, plan);
    hybrid_plan_destroy(plan);
    return status;
}

/* Multiplies a part of the operand A with the rows of B that it touches, one range of its
   rows after another. Row 0 of this A is row `first` of the operand. */
static hybrid_status multiply_rows(hy_spgemm *p, const hybrid_csr *A, int64_t first)
{
    int64_t begin = 0, next;

    do {
        HY_TRY(hy_b_rows_next(&p->b_rows, A, first, begin, &next));
        hy_files_gathered(&p->call, &p->b_rows, first + begin);
        HY_TRY(multiply(p, p->b_rows.A, p->b_rows.B, first + begin));
        begin = next;
    } while (begin < A->rows);
    return HYBRID_OK;
}

static hybrid_status multiply_parts(hy_spgemm *p, int64_t first)
{
    hy_a_parts parts;
    const hy_a_part *part;
    hybrid_status status;

    hy_a_parts_open(&p->A.source, hy_files_part_bytes(&p->call, &p->A), &parts);
    if (first > 0)
        hy_a_parts_range(&parts, first, p->A.source.rows, 0);
    do {
        status = hy_a_parts_next(&parts, &part);
        if (part)
            hy_files_read(&p->call, part);
        if (status == HYBRID_OK && part)
            status = multiply_rows(p, part->A, part->begin);
    } while (status == HYBRID_OK && part);
    hy_b_rows_close(&p->b_rows); /* first, because its thread may be using a part of A */
    hy_a_parts_close(&parts);
    return status;
}

hybrid_status hy_spgemm_multiply(hy_spgemm *p, int64_t first)
{
    hy_b_rows_open(&p->B.source, p->rows_bytes, &p->b_rows);
    const hybrid_status status = multiply_parts(p, first);
    if (status != HYBRID_OK)
        p->sink->ops->abort(p->sink);
    return status;
}

/* ---- operands --------------------------------------------------------------------- */

hybrid_status hy_spgemm_begin(hy_spgemm *p, hybrid_engine *engine,
                              const hybrid_operand *A, const hybrid_operand *B,
                              const hybrid_plan_options *options)
{
    HY_TRY(hy_files_begin(&p->call, engine, options));
    p->rows_bytes = hy_files_rows(&p->call, 0);
    HY_TRY(hy_sparse_find(&p->call, A, "A", &p->A));
    HY_TRY(hy_sparse_find(&p->call, B, "B", &p->B));
    HY_TRY(hy_check_spgemm_shapes(&engine->ctx, p->A.source.csr, p->B.source.csr));
    hy_progress_begin(&engine->ctx.progress, p->A.source.csr->rows);
    hy_progress_expect(&engine->ctx.progress, p->A.source.csr->rows);
    return HYBRID_OK;
}

hybrid_status hy_spgemm_read_small(hy_spgemm *p)
{
    const int same = p->A.source.csr == p->B.source.csr;

    HY_TRY(hy_sparse_read_small(&p->call, &p->A));
    if (same)
        p->B.source = p->A.source;
    else
        HY_TRY(hy_sparse_read_small(&p->call, &p->B));
    HY_TRY(hy_sparse_check(&p->call, &p->A, "A"));
    return p->B.source.csr == p->A.source.csr ? HYBRID_OK
                                              : hy_sparse_check(&p->call, &p->B, "B");
}

void hy_spgemm_end(hy_spgemm *p, int64_t nnz)
{
    const hybrid_csr *A = p->A.source.csr, *B = p->B.source.csr;
    const int64_t b_bytes = A == B ? 0 : hy_sparse_bytes(&p->B);

    hy_files_end(&p->call, hy_sparse_bytes(&p->A) + b_bytes,
                 hy_csr_bytes(A->rows, nnz, A->type));
}

void hy_spgemm_release(hy_spgemm *p)
{
    hy_sparse_free(&p->call, &p->A);
    hy_sparse_free(&p->call, &p->B);
}
