/* engine/run/bind.c - the chunks of a run: X and Y tell where its panels begin, and
   whether those for pinned operands are taken. */
#include "engine/run/bind.h"

#include "base/data/csr.h"
#include "engine/plan/column_blocks.h"

/* Rows that begin within lines go down at half of the speed. */
static int in_lines(const hy_product *product, const hybrid_dense *Y)
{
    const int64_t size = (int64_t)hy_value_size(Y->type);

    return product->engine->panels > 0 ||
           (Y->ld * size % HY_X_LINE == 0 && (uintptr_t)Y->data % HY_X_LINE == 0);
}

/* So that its blocks begin where lines of Y do. */
static hy_image moved(const hy_product *product, const hy_image *image,
                      const hy_problem *problem)
{
    hy_image m = *image;

    if (m.axis == HY_AXIS_COLS && hy_column_blocks_may_move(product))
        hy_image_move(&m, problem->Y);
    return m;
}

/* Of a run whose X and Y are pinned. */
static hy_image image_of_pinned(const hy_product *product, const hy_image *pinned,
                                const hy_problem *problem)
{
    hy_image wrapped = *pinned;

    if (hy_image_wrap(&wrapped, problem->X, problem->Y))
        return wrapped;
    return in_lines(product, problem->Y) ? moved(product, pinned, problem)
                                         : hy_product_image(product);
}

/* Of a run. */
static hy_image image_for(const hy_product *product, const hy_layout *layout, int direct,
                          const hy_problem *problem)
{
    const hy_image *pinned = &layout->if_pinned;

    if (pinned->axis != HY_AXIS_COLS)
        return moved(product, &layout->image, problem);
    if (direct && problem->X->order == HYBRID_ROW_MAJOR)
        return image_of_pinned(product, pinned, problem);
    if (direct && product->transposed_room > 0)
        return *pinned; /* columns begin where they do */
    return hy_product_image(product);
}

static int is_planned(const hy_image *image, const hy_image *planned)
{
    return image->axis == planned->axis && image->block == planned->block &&
           image->back == planned->back && image->wraps == planned->wraps;
}

hy_bound hy_bind_planned(const hy_layout *layout, const hy_traffic *traffic)
{
    const hy_chunk_list list = hy_chunks_of(layout->chunks, layout->count);

    if (layout->image.axis != HY_AXIS_COLS)
        return (hy_bound){list, layout->image, traffic->up};
    return (hy_bound){hy_chunks_in(&list, &layout->image), layout->image, traffic->up};
}

hy_bound hy_bind(const hy_product *product, const hy_layout *layout,
                 const hy_traffic *traffic, int direct, const hy_problem *problem)
{
    hy_bound bound = hy_bind_planned(layout, traffic);

    bound.image = image_for(product, layout, direct, problem);
    if (is_planned(&bound.image, &layout->image))
        return bound;
    hy_layout moved_to      = *layout;
    moved_to.image          = bound.image;
    moved_to.resident_bytes = hy_image_bytes(&bound.image);
    bound.list              = hy_chunks_in(&bound.list, &bound.image);
    if (bound.up > 0) /* predicted at all */
        bound.up = hy_traffic_dense_up(product, &moved_to);
    return bound;
}
