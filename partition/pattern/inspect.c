/* partition/pattern/inspect.c - turns the patterns of the operands into numbers. */
#include "partition/pattern/inspect.h"

#include <math.h>

#include "base/data/min_max.h"
#include "partition/stream/sampled.h"
#include "partition/pattern/count.h"

static void set_features(hy_profile *p, const hy_row_counts *counts)
{
    const double rows = (double)p->rows;
    hy_features *f    = &p->features;

    *f              = (hy_features){.rows      = p->rows,
                                    .cols      = p->cols,
                                    .nnz       = p->nnz[p->rows],
                                    .out_cols  = p->out_cols,
                                    .row_max   = counts->row_max,
                                    .out_ratio = 1,
                                    .type      = p->type};
    f->products     = p->products[p->rows];
    f->products_max = counts->products_max;
    if (p->op == HY_SPMM) {
        f->products *= p->out_cols;
        f->products_max *= p->out_cols;
    }
    f->out_bound = p->op == HY_SPMM ? p->rows * p->out_cols : p->bound[p->rows];
    if (f->nnz == 0)
        return;
    f->row_mean           = (double)f->nnz / rows;
    const double variance = counts->squares / rows - f->row_mean * f->row_mean;
    f->row_cv             = sqrt(variance > 0 ? variance : 0) / f->row_mean;
}

hybrid_status hy_inspect_fill(hy_context *ctx, const hybrid_csr *A, int blocks,
                              hy_profile *profile)
{
    hy_features *f = &profile->features;

    HY_TRY(hy_tile_fill(ctx, A, &f->tile_fill));
    return blocks && f->out_cols == 1 ? hy_block_fill(ctx, A, f) : HYBRID_OK;
}

hybrid_status hy_inspect(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B,
                         int64_t dense_cols, const hy_counter *counter, hy_profile *out)
{
    hybrid_status status;
    hy_row_counts counts;
    hy_profile p = {.op       = B ? HY_SPGEMM : HY_SPMM,
                    .type     = A->type,
                    .rows     = A->rows,
                    .cols     = A->cols,
                    .end      = A->rows,
                    .out_cols = B ? B->cols : dense_cols};

    HY_TRY_ELSE_DONE(hy_count_rows(ctx, A, B, counter, &p, &counts));
    set_features(&p, &counts);
    if (B)
        HY_TRY_ELSE_DONE(hy_estimate_ratio(ctx, A, B, &p, &p.features.out_ratio));
done:
    if (status == HYBRID_OK)
        *out = p;
    else
        hy_profile_free(ctx, &p);
    return status;
}

hybrid_status hy_inspect_sample(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B,
                                hy_profile *out, int *suits)
{
    hybrid_status status;
    hy_row_counts counts;
    hy_profile p = {.op       = HY_SPGEMM,
                    .type     = A->type,
                    .rows     = A->rows,
                    .cols     = A->cols,
                    .end      = A->rows,
                    .out_cols = B->cols};

    HY_TRY_ELSE_DONE(hy_sample_rows(ctx, A, B, &p, &counts, suits));
    if (*suits) {
        set_features(&p, &counts);
        HY_TRY_ELSE_DONE(hy_estimate_ratio(ctx, A, B, &p, &p.features.out_ratio));
    }
done:
    if (status == HYBRID_OK && *suits)
        *out = p;
    else
        hy_profile_free(ctx, &p);
    return status;
}

hybrid_status hy_inspect_sizes(hy_context *ctx, const hybrid_csr *A, int64_t dense_cols,
                               hy_profile *out)
{
    HY_TRY(hy_count_check(ctx, A, dense_cols, 0));
    *out = (hy_profile){
        .op       = HY_SPMM,
        .type     = A->type,
        .rows     = A->rows,
        .cols     = A->cols,
        .end      = A->rows,
        .out_cols = dense_cols,
        .features = {.rows      = A->rows,
                     .cols      = A->cols,
                     .nnz       = A->nnz,
                     .out_cols  = dense_cols,
                     .products  = A->nnz * dense_cols,
                     .out_bound = A->rows * dense_cols,
                     .row_mean  = A->rows > 0 ? (double)A->nnz / (double)A->rows : 0,
                     .out_ratio = 1,
                     .type      = A->type}};
    return HYBRID_OK;
}

hy_features hy_profile_range(const hy_profile *p, int64_t begin, int64_t end,
                             int64_t cols)
{
    hy_features f = p->features;

    if (!p->nnz)
        return f;

    f.rows         = end - begin;
    f.nnz          = p->nnz[end] - p->nnz[begin];
    f.row_max      = hy_min(f.row_max, f.nnz);
    f.out_cols     = cols;
    f.products     = p->products[end] - p->products[begin];
    f.out_bound    = p->op == HY_SPMM ? f.rows * cols : p->bound[end] - p->bound[begin];
    f.products_max = hy_min(f.products_max, f.products);
    if (p->op == HY_SPMM) {
        f.products *= cols;
        f.products_max = f.row_max * cols;
    }
    f.gather_rows = f.gather_nnz = 0;
    return f;
}

hy_profile hy_profile_narrow(const hy_profile *profile, int64_t begin, int64_t end)
{
    hy_profile narrow = *profile;

    narrow.begin    = begin;
    narrow.end      = end;
    narrow.features = hy_profile_range(profile, begin, end, profile->out_cols);
    return narrow;
}
