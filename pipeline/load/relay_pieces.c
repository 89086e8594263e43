/* pipeline/load/relay_pieces.c - the pieces in which the loaders of a relay send their
   image. */
#include "pipeline/load/relay_pieces.h"

#include "base/data/min_max.h"

/* Returns the number of elements in a piece of the region; of X, whole rows. */
static int64_t step_of(const hy_loader *loader, const hy_region *region)
{
    const int64_t most = (int64_t)(loader->relay->piece_bytes / region->size);
    const int64_t row  = hy_region_row(region);

    return row == 0 ? most : hy_max(most / row, 1) * row;
}

/* Returns the number of pieces of the region. */
static int64_t count_of(const hy_loader *loader, const hy_region *region)
{
    const int64_t step = step_of(loader, region);

    return (region->elements + step - 1) / step;
}

static hy_relay_piece piece_of(const hy_loader *loader, const hy_region *region,
                               int64_t k)
{
    const int64_t step = step_of(loader, region), begin = k * step;
    const int64_t end = hy_min(begin + step, region->elements);

    return (hy_relay_piece){*region, begin, end, region->before + end};
}

/* Returns the first region of the image: the row offsets of B, or the first column block
   of X. */
static hy_region first_region(const hy_loader *loader)
{
    return hy_image_region(&loader->image, 0);
}

int64_t hy_relay_pieces(const hy_loader *loader)
{
    const hy_region first = first_region(loader);
    const int64_t blocks  = hy_image_col_blocks(&loader->image);
    int64_t count         = count_of(loader, &first);

    if (loader->image.form == HY_FORM_CSR) {
        const hy_region values = hy_image_region(&loader->image, HY_CSR_VALUES);
        return count + count_of(loader, &values);
    }
    for (int64_t b = 1; b < blocks; b++) {
        const hy_region block = hy_image_region(&loader->image, b);
        count += count_of(loader, &block);
    }
    return count;
}

/* Returns piece k of X. Its column blocks follow each other. */
static hy_relay_piece piece_of_x(const hy_loader *loader, int64_t k)
{
    hy_region block = first_region(loader);

    for (int64_t b = 1; k >= count_of(loader, &block); b++) {
        k -= count_of(loader, &block);
        block = hy_image_region(&loader->image, b);
    }
    return piece_of(loader, &block, k);
}

hy_relay_piece hy_relay_piece_at(const hy_loader *loader, int64_t k)
{
    const hy_region first = first_region(loader);
    const int64_t offsets = count_of(loader, &first);

    if (loader->image.form != HY_FORM_CSR)
        return piece_of_x(loader, k);
    if (k >= offsets) {
        const hy_region values = hy_image_region(&loader->image, HY_CSR_VALUES);
        return piece_of(loader, &values, k - offsets);
    }
    hy_relay_piece p = piece_of(loader, &first, k);
    p.reached        = k == offsets - 1 ? 0 : -1;
    return p;
}
