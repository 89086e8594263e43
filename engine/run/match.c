/* engine/run/match.c - checks that operands of a run are those that the plan was made
   for. */
#include "engine/run/match.h"

#include "base/data/csr.h"

hybrid_status hy_match_product(const hy_product *product, hy_op op, const hybrid_csr *A,
                               int64_t b_rows, int64_t b_cols, int64_t b_nnz)
{
    hy_context *ctx = &product->engine->ctx;

    if (product->op != op)
        return hy_fail(ctx, HYBRID_BAD_STATE,
                       "the plan is for a product with a %s matrix, but the call is for "
                       "one with a %s matrix",
                       op == HY_SPMM ? "sparse" : "dense",
                       op == HY_SPMM ? "dense" : "sparse");
    if (A->type != product->profile.type)
        return hy_fail(ctx, HYBRID_BAD_STATE,
                       "A holds f%d values, but the plan was made for f%d",
                       hy_value_bits(A->type), hy_value_bits(product->profile.type));
    if (A->rows != product->rows || A->cols != product->cols ||
        A->nnz != product->profile.features.nnz)
        return hy_fail(ctx, HYBRID_BAD_STATE,
                       "A is %lld x %lld with %lld entries, but the plan was made for "
                       "%lld x %lld with %lld",
                       (long long)A->rows, (long long)A->cols, (long long)A->nnz,
                       (long long)product->rows, (long long)product->cols,
                       (long long)product->profile.features.nnz);
    if (b_rows != product->cols || b_cols != product->b_cols || b_nnz != product->b_nnz)
        return hy_fail(ctx, HYBRID_BAD_STATE,
                       "the second operand is %lld x %lld with %lld entries, but the "
                       "plan was made for %lld x %lld with %lld",
                       (long long)b_rows, (long long)b_cols, (long long)b_nnz,
                       (long long)product->cols, (long long)product->b_cols,
                       (long long)product->b_nnz);
    return HYBRID_OK;
}

static const char *words_of(int there)
{
    return there ? "device memory" : "host memory";
}

static hybrid_status check_space(const hy_product *product, const char *name, int there,
                                 int planned)
{
    if (!there == !planned)
        return HYBRID_OK;
    return hy_fail(&product->engine->ctx, HYBRID_BAD_STATE,
                   "%s is in %s, but the plan was made for %s", name, words_of(there),
                   words_of(planned));
}

/* Checks that A, B or X, and Y are in the memory that the plan expects. A NULL Y is not
   checked. */
hybrid_status hy_match_spaces(const hy_product *product, hybrid_space a,
                              hybrid_space second, const hybrid_dense *Y)
{
    const char *name = product->op == HY_SPMM ? "X" : "B";

    HY_TRY(check_space(product, "A", a == HYBRID_SPACE_DEVICE, product->a_on != NULL));
    HY_TRY(check_space(product, name, second == HYBRID_SPACE_DEVICE,
                       product->second_on != NULL));
    if (Y)
        HY_TRY(check_space(product, "Y", Y->space == HYBRID_SPACE_DEVICE,
                           product->result_on != NULL));
    hy_backend *planned = hy_product_device(product);
    hy_spaces_planned(&product->engine->spaces, planned);
    const hy_backend *device = product->engine->spaces.device;
    if (!device || device == planned)
        return HYBRID_OK;
    return hy_fail(&product->engine->ctx, HYBRID_BAD_STATE,
                   "operands are in the memory of the engine's device %d, but the plan "
                   "was made for its device %d",
                   device->index, planned ? planned->index : -1);
}

/* The caller ensures that the plan has HYBRID_REUSE: other plans have no hashes to
   compare with. */
hybrid_status hy_match_patterns(const hybrid_plan *plan, const hybrid_csr *A,
                                const hybrid_csr *B)
{
    hybrid_engine *engine = plan->product.engine;
    uint64_t a, b;

    HY_TRY(hy_spaces_hash(&engine->spaces, A, &a));
    b = a;
    if (!hy_pattern_same(A, B))
        HY_TRY(hy_spaces_hash(&engine->spaces, B, &b));
    return hy_pattern_check(&engine->ctx, &plan->history.pattern, a, b);
}

static hybrid_status match_ring(const hy_portion *portion, const hybrid_csr *B)
{
    const hy_layout *layout = &portion->layout;
    const hy_image *image   = &layout->image;

    if (image->axis != HY_AXIS_ENTRIES)
        return HYBRID_OK;
    for (int64_t k = 0; k < layout->count; k++) {
        const hy_chunk *chunk = &layout->chunks[k];
        const int64_t read    = hy_offset(B, chunk->x_end) - hy_offset(B, chunk->x_begin);
        if (read > image->span || read > hy_ring_max_span(image->held))
            return hy_fail(&portion->product->engine->ctx, HYBRID_BAD_STATE,
                           "rows %lld to %lld of B have %lld entries, and at most %lld "
                           "when they were planned; make a new plan",
                           (long long)chunk->x_begin, (long long)chunk->x_end - 1,
                           (long long)read, (long long)image->span);
    }
    return HYBRID_OK;
}

/* Checks the lengths of rows of B, for which the chunks were cut when the plan was made.
   With other lengths a chunk could wait for entries that wait for the chunk. */
hybrid_status hy_match_ring(const hybrid_plan *plan, const hybrid_csr *B)
{
    for (int i = 0; i < plan->count; i++)
        HY_TRY(match_ring(&plan->portions[i], B));
    return HYBRID_OK;
}
