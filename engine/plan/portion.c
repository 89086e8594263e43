/* engine/plan/portion.c - what one site does of a product, and how. */
#include "engine/plan/portion.h"

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "pipeline/load/room.h"

/* Sets aside device memory for transposing X and Y. If X does not fit the device, this is
   done only if a column-major X is expected. */
static void leave_rooms(hy_portion *portion)
{
    const hy_product *product = portion->product;
    const hy_features *f      = &portion->profile.features;
    const int64_t row         = f->out_cols * (int64_t)hy_value_size(f->type);
    const size_t x            = (size_t)(product->b_rows * row);
    const size_t memory       = portion->rates.memory;

    if (product->op != HY_SPMM || (product->options.order != HYBRID_COL_MAJOR &&
                                   x > hy_allowed(memory, HY_ALLOW_MOST)))
        return;
    portion->transposed_room =
        hy_room_bytes(portion->backend, f, product->b_rows, memory);
    portion->rates.memory = memory - 2 * portion->transposed_room;
}

void hy_portion_assign(hy_portion *portion, const hy_product *product,
                       const hy_variant *variant, hy_backend *backend)
{
    portion->product         = product;
    portion->variant         = variant;
    portion->backend         = backend;
    portion->transposed_room = 0;
    portion->profile         = product->profile;
    portion->x_begin = portion->x_end = 0;
    portion->begin                    = 0;
    portion->end                      = product->profile.rows;
    portion->weight                   = 1;
    hy_rates_of(backend, &portion->rates);
    portion->rates.memory -= hy_smaller(product->narrow_room, portion->rates.memory);
    hy_product_choose(product, variant, &portion->rates, &portion->profile.features);
    leave_rooms(portion);
}

hy_image hy_portion_image(const hy_portion *portion)
{
    const hy_product *product = portion->product;

    hy_image image = hy_variant_image(portion->variant, product->b_rows, product->b_cols,
                                      product->b_nnz, portion->profile.type);

    if (portion->x_end > 0)
        hy_image_limit(&image, portion->x_begin, portion->x_end);
    return image;
}

int hy_portion_fits(const hy_portion *portion)
{
    const hy_image image = hy_portion_image(portion);

    return portion->product->second_on ||
           hy_align(hy_image_room(&image)) <=
               hy_allowed(portion->rates.memory, HY_ALLOW_MOST);
}

int hy_portion_by_few(const hy_portion *portion)
{
    /* a host has few threads if it has at most this many; measured with two */
    enum { FEW = 4 };
    const hy_product *product = portion->product;

    return product->op == HY_SPGEMM && !hy_portion_on_device(portion) &&
           hy_pool_threads(product->engine->ctx.pool) <= FEW;
}
