/* engine/plan/product.h - what is known about a product, as a value.

   The plan fills it in: sizes, options and what inspection finds. A portion (portion.h)
   refers to the product and says who computes it. */
#ifndef HY_PRODUCT_H
#define HY_PRODUCT_H

#include "engine/api/engine.h"
#include "partition/pattern/hypersparse.h"
#include "partition/pattern/inspect.h"

typedef struct hy_product {
    hybrid_engine *engine;
    hy_op op;
    hybrid_plan_options options;   /* the caller's options; options.variant is NULL once
                                      the plan is made */
    int one_shot;                  /* 1: a one-shot call; 0: a plan for several runs */
    int streams;                   /* 1: the profile is sampled, and the run counts rows
                                      ahead of its chunks (stream.h) */
    int pinned;                    /* 1: a one-shot call whose X and Y are pinned and have
                                      the same order (row- or column-major), so that the
                                      device can copy both directly; else 0 */
    int64_t rows, cols;            /* sizes of the caller's A, even if the reduced A is
                                      used */
    int64_t first_row;             /* number of row 0 of A in error sentences */
    int64_t b_rows, b_cols, b_nnz; /* SpGEMM: sizes of B. SpMM: rows and columns of X
                                      (with a reduced A, only the rows that are sent);
                                      b_nnz is 0. */

    hy_backend *a_on, *second_on, *result_on; /* devices whose memory holds A, B or X, and
                                                 the result; NULL: the matrix is in host
                                                 memory. All that are not NULL are the
                                                 same device, which computes. */
    size_t narrow_room; /* bytes of device memory for 32-bit copies of 64-bit columns of A
                           and B */

    /* the fields from here on are set by inspection: */
    hy_hypersparse hypersparse; /* the reduced A, if the product is computed with it */
    hy_profile profile;         /* profile of A, or of the reduced A */
    int32_t parameter[HY_PARAMETERS]; /* the variant's parameters that options name, for
                                         all rows (hy_features.parameter) */
} hy_product;

/* Makes the product of these operands. B is NULL for SpMM with `dense_cols` columns. */
hy_product hy_product_of(hybrid_engine *engine, const hybrid_csr *A, const hybrid_csr *B,
                         int64_t dense_cols, const hybrid_plan_options *options);
void hy_product_free(hy_product *product);

/* Fills in what the sizes of A and X tell about an SpMM, as hy_inspect_sizes() does. */
hybrid_status hy_product_size_up(hy_product *product, const hybrid_csr *A);

/* Inspects A, or the reduced A, and B, in place of what was found before. `counter` lets
   a device count scalar products, or is NULL. */
hybrid_status hy_product_inspect(hy_product *product, const hybrid_csr *A,
                                 const hybrid_csr *B, const hy_counter *counter);

/* SpMM: computes hy_features.tile_fill, which says how close together the entries of A
   lie. SpGEMM: does nothing. */
hybrid_status hy_product_inspect_tiles(hy_product *product, const hybrid_csr *A);

/* Sets the parameters of f, and what the variant chooses on a backend with these rates
   (hy_variant.choose). f is a copy of the product's features. */
void hy_product_choose(const hy_product *product, const hy_variant *variant,
                       const hy_rates *rates, hy_features *f);

/* SpGEMM: returns an upper bound on the entries of C. */
static inline int64_t hy_product_bound(const hy_product *product)
{
    const hy_features *f = &product->profile.features;

    return product->streams ? f->nnz * product->profile.lengths.longest : f->out_bound;
}

/* Returns the bytes of B or X that are sent to the device for this image. */
static inline size_t hy_product_sent(const hy_product *product, const hy_image *image)
{
    return product->second_on ? 0 : hy_image_bytes(image);
}

/* Returns the device whose memory has operands or the result; NULL if all are in host
   memory. */
static inline hy_backend *hy_product_device(const hy_product *product)
{
    return product->a_on        ? product->a_on
           : product->second_on ? product->second_on
                                : product->result_on;
}

/* Returns 1 if operands and result are in device memory, so that nothing is copied. */
static inline int hy_product_in_gpu_memory(const hy_product *product)
{
    return product->a_on && product->second_on && product->result_on;
}

/* Returns 1 if X and Y are expected to be column-major and have several columns. The host
   takes longer for them than for row-major ones. */
static inline int hy_product_in_columns(const hy_product *product)
{
    return product->options.order == HYBRID_COL_MAJOR && product->b_cols > 1;
}

/* Returns 1 unless the reduced A is used, which refers to some rows of X and Y only.
   Without it, row numbers of chunks are those of X and Y where the caller has them: the
   host needs that to compute some of the rows, and a device to copy X and Y directly. */
static inline int hy_product_has_views(const hy_product *product)
{
    return !hy_is_hypersparse(&product->hypersparse);
}

/* Returns A, or the reduced A with which the product is computed. */
static inline const hybrid_csr *hy_product_a(const hy_product *product,
                                             const hybrid_csr *A)
{
    return hy_product_has_views(product) ? A : &product->hypersparse.A;
}

#endif /* HY_PRODUCT_H */
