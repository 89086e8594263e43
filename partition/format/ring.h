/* partition/format/ring.h - columns of A as places in a ring of rows of X.

   Row r of X is at place r mod the ring's rows (base/contract/image.h). The rows that a chunk
   touches are all there while it computes: chunk->first <= r < chunk->needs <=
   chunk->first + rows. Its pack names places instead of rows, and the kernels see an X of
   so many rows. Why, and when: engine/schedules/schedule_row_ring.c. */
#ifndef HY_RING_H
#define HY_RING_H

#include "base/data/csr.h"
#include "base/contract/variant.h"

/* How columns of a chunk become places. */
typedef struct hy_ring {
    int32_t base;  /* the row at place 0, of those from chunk->first on or just before */
    int32_t rows;  /* of the ring; 0: X is whole */
    int32_t first; /* the chunk touches rows [first, first + count) */
    uint32_t count;
} hy_ring;

/* Of a chunk, where the image is a ring of rows. */
static inline hy_ring hy_ring_of(const hy_image *image, const hy_chunk *chunk)
{
    const int64_t rows = hy_image_rows_there(image), count = chunk->needs - chunk->first;

    return (hy_ring){.base  = (int32_t)(chunk->first / rows * rows),
                     .rows  = (int32_t)rows,
                     .first = (int32_t)chunk->first,
                     .count = count > 0 ? (uint32_t)count : 0};
}

static inline int hy_ring_has(const hy_ring *ring, int32_t col)
{
    return (uint32_t)(col - ring->first) < ring->count;
}

/* Whether it has all columns of rows [begin, end) of A, which ascend in each. */
static inline int hy_ring_covers(const hy_ring *ring, const hybrid_csr *A, int64_t begin,
                                 int64_t end)
{
    int inside = 1;

    for (int64_t i = begin; i < end; i++) {
        const int64_t from = hy_offset(A, i), to = hy_offset(A, i + 1);
        if (from < to)
            inside &= hy_ring_has(ring, hy_cols(A)[from]) &
                      hy_ring_has(ring, hy_cols(A)[to - 1]);
    }
    return inside;
}

/* Of a column that it has. */
static inline int32_t hy_ring_place(const hy_ring *ring, int32_t col)
{
    const int32_t at = col - ring->base; /* less than twice the rows */
    return at < ring->rows ? at : at - ring->rows;
}

#endif /* HY_RING_H */
