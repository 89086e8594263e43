/* engine/plan/product.c - what is known about a product. */
#include "engine/plan/product.h"

#include <string.h>

#include "base/data/csr.h"

/* Returns the bytes of device memory for 32-bit copies of the operand's columns; 0 if the
   operand is not in device memory or has 32-bit columns. */
static size_t narrow_room(const hybrid_engine *engine, const hybrid_csr *A)
{
    const hybrid_csr *there = A ? hy_spaces_of(&engine->spaces, A) : NULL;

    return there && there->col_type == HYBRID_I64 ? hy_align((size_t)there->nnz * 4) : 0;
}

/* Returns the device of the call if an array in this space is in device memory, else
   NULL. */
static hy_backend *device_of(const hybrid_engine *engine, hybrid_space space)
{
    return space == HYBRID_SPACE_DEVICE ? engine->spaces.device : NULL;
}

hy_product hy_product_of(hybrid_engine *engine, const hybrid_csr *A, const hybrid_csr *B,
                         int64_t dense_cols, const hybrid_plan_options *options)
{
    const hybrid_space second = B ? B->space : options->x_space;

    hy_product product = {.engine      = engine,
                          .op          = B ? HY_SPGEMM : HY_SPMM,
                          .a_on        = device_of(engine, A->space),
                          .second_on   = device_of(engine, second),
                          .result_on   = device_of(engine, options->result_space),
                          .narrow_room = narrow_room(engine, A) + narrow_room(engine, B),
                          .options     = *options,
                          .rows        = A->rows,
                          .cols        = A->cols,
                          .b_rows      = A->cols,
                          .b_cols      = B ? B->cols : dense_cols,
                          .b_nnz       = B ? B->nnz : 0};

    if (product.a_on) /* kernels read A in the caller's device memory, so no packs of A
                         are cached */
        product.options.flags &= ~(unsigned)HYBRID_RESIDENT;
    return product;
}

void hy_product_free(hy_product *product)
{
    hy_context *ctx = &product->engine->ctx;

    hy_profile_free(ctx, &product->profile);
    hy_hypersparse_free(ctx, &product->hypersparse);
}

/* Adds to the features what options ask for: TF32, and parameters of the variant. */
static void add_options(hy_product *product)
{
    hy_features *f = &product->profile.features;

    f->allow_tf32 = (product->options.flags & HYBRID_ALLOW_TF32) != 0;
    memcpy(f->parameter, product->parameter, sizeof f->parameter);
}

hybrid_status hy_product_size_up(hy_product *product, const hybrid_csr *A)
{
    hy_context *ctx = &product->engine->ctx;

    hy_profile_free(ctx, &product->profile);
    HY_TRY(hy_inspect_sizes(ctx, A, product->b_cols, &product->profile));
    add_options(product);
    return HYBRID_OK;
}

hybrid_status hy_product_inspect(hy_product *product, const hybrid_csr *A,
                                 const hybrid_csr *B, const hy_counter *counter)
{
    hy_context *ctx     = &product->engine->ctx;
    hy_profile *profile = &product->profile;

    hy_profile_free(ctx, profile);
    product->b_rows = A->cols;
    if (product->streams)
        HY_TRY(hy_inspect_sample(ctx, A, B, profile, &product->streams));
    if (!product->streams)
        HY_TRY(hy_inspect(ctx, A, B, product->b_cols, counter, profile));
    add_options(product);
    return HYBRID_OK;
}

hybrid_status hy_product_inspect_tiles(hy_product *product, const hybrid_csr *A)
{
    const hybrid_plan_options *o = &product->options;
    /* 1: also looks for dense blocks of A. This takes longer than one product, so it is
       done only for plans that run often and for a named variant. */
    const int blocks = o->flags & HYBRID_RESIDENT || o->variant;

    if (product->op != HY_SPMM)
        return HYBRID_OK;
    return hy_inspect_fill(&product->engine->ctx, A, blocks, &product->profile);
}

void hy_product_choose(const hy_product *product, const hy_variant *variant,
                       const hy_rates *rates, hy_features *f)
{
    memcpy(f->parameter, product->parameter, sizeof f->parameter);
    if (variant->choose)
        variant->choose(f, rates);
}
