/* partition/pattern/cut.c - the limits of a chunk, and arrays of chunks. */
#include "partition/pattern/cut.h"

#include <string.h>

#include "base/data/min_max.h"
#include "base/memory/shortage.h"
#include "base/text/size_text.h"

enum {
    FIRST_CAPACITY = 64,
    ROOM_SPARE = 1024 /* entries for which a chunk has room beyond ROOM_FACTOR times the
                         predicted number */
};

static const double ROOM_FACTOR = 1.125;

size_t hy_cost_bytes(const hy_cost *cost)
{
    return hy_align(cost->pack_bytes) + hy_align(cost->work_bytes) +
           hy_align(cost->out_bytes);
}

static size_t bytes_of(const hy_variant *variant, const hy_rates *rates,
                       const hy_features *f)
{
    const hy_cost cost = variant->cost(f, rates);
    return hy_cost_bytes(&cost);
}

size_t hy_cut_bytes(const hy_cut *cut, const hy_features *f)
{
    return bytes_of(cut->variant, cut->rates, f);
}

/* ---- room for the result ------------------------------------------------------- */

/* Returns the features with room for `room` entries; all of out_bound if that is not
   more. */
static hy_features with(const hy_features *f, int64_t room)
{
    hy_features g = *f;

    g.out_room = room < f->out_bound ? room : 0;
    return g;
}

hy_features hy_with_least_room(const hy_variant *variant, const hy_features *f)
{
    const int64_t row     = hy_min(f->products_max, f->out_cols);
    const double expected = ROOM_FACTOR * hy_expected_entries(f) + ROOM_SPARE;

    if (!variant->overflows)
        return with(f, f->out_bound);
    return with(f, expected < (double)f->out_bound ? hy_max((int64_t)expected, row)
                                                   : f->out_bound);
}

hy_features hy_with_room(const hy_variant *variant, const hy_rates *rates, size_t slot,
                         const hy_features *f)
{
    const hy_features least = hy_with_least_room(variant, f), all = with(f, f->out_bound);
    int64_t low = hy_out_room(&least), high = f->out_bound;

    if (bytes_of(variant, rates, &all) <= slot)
        return all;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        const hy_features g  = with(f, middle);
        if (bytes_of(variant, rates, &g) <= slot)
            low = middle;
        else
            high = middle;
    }
    return with(f, low);
}

/* ---- limits -------------------------------------------------------------------- */

int hy_chunk_is_counted(const hy_features *f)
{
    enum {
        LIMIT = INT32_MAX - 65536
    }; /* leaves room for thread numbers beyond the last
          element, which must fit 31 bits, too */

    return f->products <= LIMIT && f->out_bound <= LIMIT && f->nnz <= LIMIT &&
           f->gather_nnz <= LIMIT && f->gather_rows <= LIMIT && f->rows <= LIMIT;
}

/* Returns 1 if a chunk keeps to cut->host_bytes. */
static int fits_host(const hy_cut *cut, const hy_features *f)
{
    if (cut->host_bytes == 0)
        return 1;
    const hy_cost cost = cut->variant->cost(f, cut->rates);
    return hy_align(cost.pack_bytes) + (cut->B ? 0 : hy_align(cost.out_bytes)) <=
           cut->host_bytes;
}

int hy_cut_is_moderate(const hy_cut *cut, const hy_features *f, int64_t products)
{
    return fits_host(cut, f) && products <= cut->products_max && hy_chunk_is_counted(f) &&
           (cut->chunk_rows <= 0 || f->rows <= cut->chunk_rows);
}

int hy_cut_fits(const hy_cut *cut, const hy_features *f)
{
    const hy_features least = hy_with_least_room(cut->variant, f);

    return (f->rows == 1 || hy_cut_is_moderate(cut, f, f->products)) &&
           hy_cut_bytes(cut, &least) <= cut->slot_bytes;
}

hybrid_status hy_cut_refuse(hy_context *ctx, const hy_cut *cut, int64_t row,
                            const hy_features *f)
{
    return hy_fail(ctx, HYBRID_NO_DEVICE_MEMORY,
                   "row %lld of the product needs %s of memory, and the budget leaves %s "
                   "for it; raise device_bytes (--device-memory), or host_bytes "
                   "(--host-memory) if the CPU computes",
                   (long long)cut->first_row + row,
                   hy_size((int64_t)hy_cut_bytes(cut, f)).s,
                   hy_size((int64_t)cut->slot_bytes).s);
}

/* ---- arrays of chunks ---------------------------------------------------------- */

hybrid_status hy_chunk_array_reserve(hy_context *ctx, hy_chunk_array *array,
                                     int64_t capacity)
{
    void *chunks;

    if (capacity <= array->capacity)
        return HYBRID_OK;
    HY_TRY(hy_array(ctx, capacity, sizeof(hy_chunk), "chunks", &chunks));
    if (array->count > 0)
        memcpy(chunks, array->of, (size_t)array->count * sizeof(hy_chunk));
    hy_array_free(ctx, array->of);
    array->of       = chunks;
    array->capacity = capacity;
    return HYBRID_OK;
}

hybrid_status hy_chunk_array_append(hy_context *ctx, hy_chunk_array *array,
                                    const hy_chunk *chunk)
{
    if (array->count == array->capacity)
        HY_TRY(hy_chunk_array_reserve(
            ctx, array, array->capacity > 0 ? 2 * array->capacity : FIRST_CAPACITY));
    array->of[array->count]    = *chunk;
    array->of[array->count].id = array->count;
    array->count++;
    return HYBRID_OK;
}

hybrid_status hy_chunk_array_add(hy_context *ctx, hy_chunk_array *array,
                                 const hy_cut *cut, int64_t width, int64_t row,
                                 const hy_features *features)
{
    const hy_chunk chunk = {
        .row_begin = row,
        .row_end   = row + features->rows,
        .col_end   = width,
        .features  = hy_with_room(cut->variant, cut->rates, cut->slot_bytes, features),
        .variant   = cut->variant};

    return hy_chunk_array_append(ctx, array, &chunk);
}
