/* engine/plan/reduce.c - makes the reduced A if a device may gain by it.

   Empty rows are found quickly. Finding empty columns takes a look at all entries, which
   takes a small part of the time in which the bus sends A. Planning therefore looks if
   many rows are empty or entries are few, and for plans that will run often. With a
   reduced A, workers gather X and store Y even if both are pinned; sending at least a
   quarter less is worth that. */
#include "engine/plan/reduce.h"

#include "base/data/csr.h"
#include "partition/move/sources.h"

enum {
    LEAST_PART = 4, /* rows and columns: at least 1/LEAST_PART of their total number must
                       be empty */
    SIGN_PART = 8,  /* empty columns are searched for if at least 1/SIGN_PART of the rows
                       are empty */
    FEW = 2,        /* empty columns are also searched for if A has fewer than FEW entries
                       per column on average, or with HYBRID_RESIDENT */
    LEAST_ROW = HY_LINE
};

/* Returns 1 if a reduced A may make runs faster: an SpMM from host memory on a device,
   with rows of X of a cache line or more, and X and Y of hy_settings.hypersparse_bytes or
   more together. Returns 0 with chunk_rows or a share of the host, which refer to row
   numbers of all of A. */
static int may_pay(const hy_product *product, const hybrid_csr *A)
{
    const hybrid_plan_options *o = &product->options;
    const int64_t row            = product->b_cols * (int64_t)hy_value_size(A->type);
    const int shares = o->split == HYBRID_SPLIT_AUTO || o->split == HYBRID_SPLIT_SHARE;

    return product->op == HY_SPMM && !hy_product_device(product) && !shares &&
           o->chunk_rows == 0 && A->nnz > 0 && A->rows <= INT32_MAX && row >= LEAST_ROW &&
           A->rows + A->cols >= hy_settings_of(product->engine)->hypersparse_bytes / row;
}

static int64_t empty_of(const hy_touched *touched, int64_t all)
{
    return all - touched->count;
}

/* Makes the reduced A if at least 1/LEAST_PART of its rows and columns together are
   empty. */
static hybrid_status find(const hy_product *product, const hybrid_csr *A,
                          hy_hypersparse *c)
{
    hy_context *ctx = &product->engine->ctx;

    HY_TRY(hy_touched_rows(ctx, A, &c->rows));
    const int64_t rows = empty_of(&c->rows, A->rows);
    if (rows < A->rows / SIGN_PART && A->nnz / FEW >= A->cols &&
        !(product->options.flags & HYBRID_RESIDENT))
        return HYBRID_OK;
    HY_TRY(hy_touched_cols(ctx, A, &c->cols));
    const int64_t empty = rows + empty_of(&c->cols, A->cols);
    return empty < (A->rows + A->cols) / LEAST_PART ? HYBRID_OK
                                                    : hy_hypersparse_make(ctx, A, c);
}

hybrid_status hy_reduce_find(const hy_product *product, const hybrid_csr *A,
                             hy_hypersparse *reduced)
{
    hy_context *ctx      = &product->engine->ctx;
    hybrid_status status = HYBRID_OK;

    if (may_pay(product, A))
        status = find(product, A, reduced);
    if (status != HYBRID_OK || !hy_is_hypersparse(reduced))
        hy_hypersparse_free(ctx, reduced);
    if (status != HYBRID_NO_MEMORY)
        return status;
    hy_message_clear(&ctx->message); /* drops the error: planning for all of A needs less
                                        memory */
    return HYBRID_OK;
}

void hy_reduce_bind(const hy_product *product, const hy_source *X, hy_problem *problem,
                    hybrid_csr *reduced)
{
    const hy_hypersparse *c = &product->hypersparse;

    if (!hy_is_hypersparse(c))
        return;
    *reduced          = c->A;
    reduced->val      = problem->A->val;
    problem->A        = reduced;
    problem->a_source = hy_source_csr(problem->ctx, reduced);
    problem->source   = hy_source_subset(X, c->cols.rows, c->A.cols);
    problem->a_rows   = c->rows.rows;
}
