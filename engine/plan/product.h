/* engine/plan/product.h - what is known of a product, as a value.

   The plan fills it in: sizes and options as they were asked for, what inspection finds,
   and who computes the product. Whoever compares ways of computing it (rank, weigh, reduce,
   schedules, panels, layout, traffic, cut, split) reads it and changes nothing. */
#ifndef HY_PRODUCT_H
#define HY_PRODUCT_H

#include "engine/api/engine.h"
#include "partition/pattern/hypersparse.h"
#include "partition/pattern/inspect.h"

typedef struct hy_product {
    hybrid_engine *engine;
    hy_op op;
    hybrid_plan_options options;   /* `variant` is NULL once the plan is made */
    int once;                      /* a run of it, and no other */
    int pinned;                    /* once: the device may copy X and Y by itself */
    int64_t rows, cols;            /* of A */
    int64_t b_rows, b_cols, b_nnz; /* of B; of X, or of what is sent of it: rows, columns,
                                      0 */

    /* in the memory of a device */
    hy_backend *there; /* who computes then; NULL: nothing is */
    int a_there, second_there, result_there; /* A; B or X; the result */
    size_t narrow_room; /* for columns of 64 bits, in 32 */

    /* found */
    hy_hypersparse hypersparse; /* the reduced A, if the product is computed with that */
    hy_profile profile; /* of A, or of the reduced A */
    double host_s;      /* predicted, of an SpMM that the host may take from the device, else
                           INFINITY */

    /* who computes it: hy_product_assign() */
    const hy_variant *variant;
    hy_backend *backend;
    hy_rates rates;     /* of the backend; `memory` is what the rooms below leave */
    size_t transposed_room; /* of the device's memory, twice: X and Y in columns */
} hy_product;

/* Of these operands; B NULL: SpMM with dense_cols columns. Nothing is found yet. */
hy_product hy_product_of(hybrid_engine *engine, const hybrid_csr *A, const hybrid_csr *B,
                         int64_t dense_cols, const hybrid_plan_options *options);
void hy_product_free(hy_product *product);

/* What sizes tell of an SpMM (hy_inspect_sizes()). */
hybrid_status hy_product_size_up(hy_product *product, const hybrid_csr *A);

/* Inspect A, or the reduced A, and B; in place of what was found before. `counter` as in
   inspect.h. */
hybrid_status hy_product_inspect(hy_product *product, const hybrid_csr *A,
                                 const hybrid_csr *B, const hy_counter *counter);

/* And how the entries of A lie, of an SpMM. */
hybrid_status hy_product_inspect_tiles(hy_product *product, const hybrid_csr *A);

/* Whether all of B or X leaves slots some room on the backend: what that makes of chunks
   an estimate tells. */
int hy_product_fits(const hy_product *product);

/* This variant computes it on this backend. */
void hy_product_assign(hy_product *product, const hy_variant *variant,
                       hy_backend *backend);

/* Bytes of B or X that are sent to the device, if they are to lie so there. */
static inline size_t hy_product_sent(const hy_product *product, const hy_image *image)
{
    return product->second_there ? 0 : hy_image_bytes(image);
}

/* Whether it is computed on a device: operands are copied there. */
static inline int hy_product_on_device(const hy_product *product)
{
    return product->backend->ops->copy != NULL;
}

/* Whether nothing is copied to the device or from it. */
static inline int hy_product_is_there(const hy_product *product)
{
    return product->a_there && product->second_there && product->result_there;
}

/* Whether X and Y are expected in columns, of more than one, which take the host longer than
   rows. */
static inline int hy_product_in_columns(const hy_product *product)
{
    return product->options.order == HYBRID_COL_MAJOR && product->b_cols > 1;
}

/* Whether a few cores of the CPU compute a SpGEMM in a single run. Each chunk in flight has a
   buffer, whose pages the system makes while the product is computed. */
int hy_product_by_few(const hy_product *product);

/* B or X as the variant reads it on the device, whole; of no form when computing in place,
   or when chunks carry what they need. */
hy_image hy_product_image(const hy_product *product);

/* Whether chunks find X and Y where the caller has them, as the host must to compute some of
   them, and a device to copy them itself: the reduced A has some rows of each. */
static inline int hy_product_has_views(const hy_product *product)
{
    return !hy_is_hypersparse(&product->hypersparse);
}

/* A, or the reduced A that the product is computed with. */
static inline const hybrid_csr *hy_product_a(const hy_product *product,
                                             const hybrid_csr *A)
{
    return hy_product_has_views(product) ? A : &product->hypersparse.A;
}

#endif /* HY_PRODUCT_H */
