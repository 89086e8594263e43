/* pipeline/load/load_order.c - in which order an operand is loaded. */
#include "base/data/min_max.h"
#include "pipeline/load/load.h"

/* Reports that `elements` leading elements of X, or entries of B, are on their way, or
   the error `status`. If workers fill a piece, the elements are reported when that piece
   is sent. Returns 0 if loading must stop. */
static int reach(hy_loader *loader, int64_t elements, hybrid_status status)
{
    hy_load_progress *progress = &loader->progress;

    if (status != HYBRID_OK || !loader->ring.filled)
        return hy_load_tell(loader, elements, status);
    loader->ring.filled->reached = elements;
    pthread_mutex_lock(&progress->lock);
    const int goes_on = !progress->stop;
    pthread_mutex_unlock(&progress->lock);
    return goes_on;
}

/* Returns 1 while fewer than `least` leading blocks of the image are free, which means
   that no chunk needs them any more. Returns 0 also if loading must stop. */
static int must_wait(hy_load_progress *progress, int64_t least)
{
    pthread_mutex_lock(&progress->lock);
    const int waits = !progress->stop && progress->free < least;
    pthread_mutex_unlock(&progress->lock);
    return waits;
}

/* Waits until `least` leading blocks of the image are free. The filled piece is sent
   first, because a chunk that frees a block may wait for it. Returns 0 if loading must
   stop. */
static int await_free(hy_loader *loader, int64_t least)
{
    hy_load_progress *progress = &loader->progress;

    if (must_wait(progress, least)) {
        loader->ring.paused        = 1;
        const hybrid_status status = hy_load_flush(loader);
        if (status != HYBRID_OK)
            return hy_load_tell(loader, 0, status);
    }
    pthread_mutex_lock(&progress->lock);
    while (!progress->stop && progress->free < least)
        pthread_cond_wait(&progress->changed, &progress->lock);
    const int goes_on = !progress->stop;
    pthread_mutex_unlock(&progress->lock);
    return goes_on;
}

/* ---- X --------------------------------------------------------------------------- */

/* Returns 1 if the region must be loaded in whole rows: its tail columns are stored
   apart, it is a column block, whose rows may be copied directly, or X is transposed. */
static int in_whole_rows(const hy_loader *loader, const hy_region *region)
{
    return region->tail > 0 || loader->image.axis == HY_AXIS_COLS ||
           loader->columns.bytes > 0;
}

/* Returns how many elements of the region are loaded as the next piece, if its first
   `done` elements are loaded. */
int64_t hy_load_step(const hy_loader *loader, const hy_region *region, int64_t done)
{
    const size_t columns = loader->columns.bytes;
    const size_t most    = columns > 0 ? columns : loader->ring.piece_bytes;
    const int64_t piece = (int64_t)(most / region->size), row = hy_region_row(region);

    if (!in_whole_rows(loader, region))
        return (int64_t)(hy_load_max_bytes(loader, region, done, region->elements) /
                         region->size);
    return piece > row ? piece / row * row : row;
}

hybrid_status hy_load_some(hy_loader *loader, const hy_region *region, int64_t begin,
                           int64_t end)
{
    const int64_t row = hy_region_row(region);

    if (!in_whole_rows(loader, region))
        return hy_load_elements(loader, region, begin, end);
    return hy_load_rows(loader, region, begin / row, (end - begin) / row);
}

/* Loads column block k of X, or all of X that is to be sent if it has no column blocks.
   Returns 0 if loading must stop. */
static int load_region(hy_loader *loader, int64_t k)
{
    const hy_image *image  = &loader->image;
    const hy_region region = hy_image_region(image, k);
    const int64_t end      = hy_image_stop(image, &region);

    for (int64_t done = hy_image_first(image, &region); done < end;) {
        const int64_t step = hy_load_step(loader, &region, done);
        const int64_t left = end - done;
        const int64_t stop =
            hy_image_piece(image, &region, done, done + (step < left ? step : left));
        if (!await_free(loader, hy_image_displaced(image, k, stop)))
            return 0;
        const hybrid_status status = hy_load_some(loader, &region, done, stop);
        if (!reach(loader, region.before + stop, status))
            return 0;
        done = stop;
    }
    return 1;
}

static void load_x(hy_loader *loader)
{
    const int64_t blocks = hy_image_col_blocks(&loader->image);
    int goes_on          = hy_load_tell(loader, 0, HYBRID_OK);

    for (int64_t k = 0; k < blocks && goes_on; k++)
        goes_on = load_region(loader, k);
}

/* ---- B --------------------------------------------------------------------------- */

/* Loads entries [begin, end). In a ring, those at its start are stored behind its end,
   too, except in the first turn, whose entries no chunk reads there. */
static hybrid_status load_entries(hy_loader *loader, int array, int64_t begin,
                                  int64_t end)
{
    const hy_image *image = &loader->image;
    hy_region region      = hy_image_region(image, array);

    HY_TRY(hy_load_elements(loader, &region, begin, end));
    if (image->axis != HY_AXIS_ENTRIES || begin < image->held)
        return HYBRID_OK;
    const int64_t again = hy_entry_ring_base(image, begin) + image->span;
    region.at += (size_t)image->held * region.size;
    return begin < again
               ? hy_load_elements(loader, &region, begin, end < again ? end : again)
               : HYBRID_OK;
}

/* Returns the first entry of B, at `done` or after it, that a chunk may need. Chunks of
   this device may begin far from the first row of A, and skip rows that other devices
   compute. */
static int64_t next_needed(hy_loader *loader, int64_t done)
{
    hy_load_progress *progress = &loader->progress;

    if (loader->image.axis != HY_AXIS_ENTRIES)
        return done;
    pthread_mutex_lock(&progress->lock);
    const int64_t free = progress->free;
    pthread_mutex_unlock(&progress->lock);
    return hy_max(done, hy_min(free, loader->image.nnz));
}

/* Loads B: all row offsets, then alternately some columns and their values. */
static void load_b(hy_loader *loader)
{
    const hy_region offsets = hy_image_region(&loader->image, HY_CSR_OFFSETS);
    const hy_region values  = hy_image_region(&loader->image, HY_CSR_VALUES);
    const int64_t step      = (int64_t)(loader->ring.piece_bytes / values.size);
    int goes_on =
        reach(loader, 0, hy_load_elements(loader, &offsets, 0, offsets.elements));

    for (int64_t done = next_needed(loader, 0); done < values.elements && goes_on;
         done         = next_needed(loader, done)) {
        const int64_t left = values.elements - done;
        const int64_t stop = hy_image_piece(&loader->image, &values, done,
                                            done + (step < left ? step : left));
        if (!await_free(loader, hy_image_displaced(&loader->image, 0, stop)))
            return;
        hybrid_status status = load_entries(loader, HY_CSR_COLS, done, stop);
        if (status == HYBRID_OK)
            status = load_entries(loader, HY_CSR_VALUES, done, stop);
        goes_on = reach(loader, stop, status);
        done    = stop;
    }
    if (goes_on) /* the last entries may be skipped, but a chunk that touches only empty
                    rows behind them waits for them */
        reach(loader, values.elements, HYBRID_OK);
}

hybrid_status hy_load_all(hy_loader *loader)
{
    hybrid_status status = HYBRID_OK;

    if (loader->relay)
        status = hy_relay_load(loader);
    else
        (loader->image.form == HY_FORM_CSR ? load_b : load_x)(loader);
    /* The loop that fills the last piece ends here after an error, too. The next run uses
       the piece again, or the loader is freed. */
    const hybrid_status flushed = hy_load_flush(loader);
    HY_TRY(status);
    HY_TRY(flushed);
    /* without timed marks the host times the copies, for which it must wait for them */
    return loader->ring.timed ? HYBRID_OK : hy_load_retire(loader);
}
