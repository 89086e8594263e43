/* engine/plan/product.h - what is known about a product, as a value.

   The plan fills it in: sizes, options, what inspection finds, and who computes the
   product. The files that compare ways of computing it (rank, weigh, reduce, schedules,
   column_blocks, layout, traffic, cut, split) only read it. */
#ifndef HY_PRODUCT_H
#define HY_PRODUCT_H

#include "engine/api/engine.h"
#include "partition/pattern/hypersparse.h"
#include "partition/pattern/inspect.h"

typedef struct hy_product {
    hybrid_engine *engine;
    hy_op op;
    hybrid_plan_options options;   /* `variant` is NULL once the plan is made */
    int once;                      /* 1: a one-shot call */
    int pinned;                    /* one-shot call; 1: the device may copy X and Y
                                      directly */
    int64_t rows, cols;            /* of A */
    int64_t b_rows, b_cols, b_nnz; /* of B; or rows and columns of X, or of the part of X
                                      that is sent, and 0 */

    /* operands in device memory */
    hy_backend *there; /* the device that has them and computes; NULL: all are in host
                          memory */
    int a_there, second_there, result_there; /* 1 if A; B or X; or the result is in device
                                                memory */
    size_t narrow_room; /* bytes for 64-bit columns in 32 bits */

    /* results of inspection */
    hy_hypersparse hypersparse; /* the reduced A, if the product is computed with it */
    hy_profile profile; /* of A, or of the reduced A */
    double host_s;      /* predicted time of an SpMM that the host may take from the
                           device; else INFINITY */

    /* set by hy_product_assign() */
    const hy_variant *variant;
    hy_backend *backend;
    hy_rates rates;     /* of the backend; `memory` is what the rooms below leave */
    size_t transposed_room; /* bytes of each of two rooms on the device, for X and for Y
                               in columns */
} hy_product;

/* Makes the product of these operands. B is NULL for SpMM with `dense_cols` columns. */
hy_product hy_product_of(hybrid_engine *engine, const hybrid_csr *A, const hybrid_csr *B,
                         int64_t dense_cols, const hybrid_plan_options *options);
void hy_product_free(hy_product *product);

/* Finds what sizes tell about an SpMM (hy_inspect_sizes()). */
hybrid_status hy_product_size_up(hy_product *product, const hybrid_csr *A);

/* Inspects A, or the reduced A, and B, in place of what was found before. `counter` is as
   in inspect.h. */
hybrid_status hy_product_inspect(hy_product *product, const hybrid_csr *A,
                                 const hybrid_csr *B, const hy_counter *counter);

/* Finds in addition how the entries of A lie, for an SpMM. */
hybrid_status hy_product_inspect_tiles(hy_product *product, const hybrid_csr *A);

/* Returns 1 if all of B or X leaves slots some room on the backend. An estimate tells how
   small chunks become. */
int hy_product_fits(const hy_product *product);

/* Lets this variant compute the product on this backend. */
void hy_product_assign(hy_product *product, const hy_variant *variant,
                       hy_backend *backend);

/* Returns the bytes of B or X that are sent to the device for this image. */
static inline size_t hy_product_sent(const hy_product *product, const hy_image *image)
{
    return product->second_there ? 0 : hy_image_bytes(image);
}

/* Returns 1 if the product is computed on a device, to which operands are copied. */
static inline int hy_product_on_device(const hy_product *product)
{
    return product->backend->ops->copy != NULL;
}

/* Returns 1 if operands and result are on the device, so that nothing is copied. */
static inline int hy_product_is_there(const hy_product *product)
{
    return product->a_there && product->second_there && product->result_there;
}

/* Returns 1 if X and Y are expected in columns, more than one, which take the host longer
   than rows. */
static inline int hy_product_in_columns(const hy_product *product)
{
    return product->options.order == HYBRID_COL_MAJOR && product->b_cols > 1;
}

/* Returns 1 if a few cores of the CPU compute a one-shot SpGEMM. Each chunk in flight has a
   buffer whose pages the system provides while the product is computed. */
int hy_product_by_few(const hy_product *product);

/* Returns the image of all of B or X as the variant reads it on the device. It has no
   form if the product is computed in place or chunks carry what they need. */
hy_image hy_product_image(const hy_product *product);

/* Returns 1 if chunks find X and Y where the caller has them. The host needs that to
   compute some of the rows, and a device to copy them directly. The reduced A uses some
   rows of each only. */
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
