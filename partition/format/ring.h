/* partition/format/ring.h - turns columns of A into places in a ring of rows of X.

   Row r of X is at place r mod the ring's rows (base/contract/image.h). All rows that a
   chunk touches are in the ring while it computes: chunk->x_begin <= r < chunk->x_end <=
   chunk->x_begin + rows. The pack of the chunk has places instead of columns, and the
   kernels see an X with as many rows as the ring. engine/schedules/schedule_row_ring.c
   says why and when rings are used. */
#ifndef HY_RING_H
#define HY_RING_H

#include "base/data/csr.h"
#include "base/contract/variant.h"

/* Maps columns of one chunk, which are rows of X, to places in the ring. */
typedef struct hy_ring {
    int32_t base;  /* row of X whose place is 0: the greatest multiple of `rows` that is
                      at most chunk->x_begin; 0 if X has no ring */
    int32_t rows;  /* number of rows of the ring; 0 if X has no ring */
    int32_t first; /* the chunk may touch rows [first, first + count) of X */
    uint32_t count;
} hy_ring;

/* Returns only the range of rows of B or X that the chunk may touch (first, count); the
   image may have no ring. */
static inline hy_ring hy_ring_reads(const hy_chunk *chunk)
{
    const int64_t count = chunk->x_end - chunk->x_begin;

    return (hy_ring){.first = (int32_t)chunk->x_begin,
                     .count = count > 0 ? (uint32_t)count : 0};
}

/* Returns the mapping of a chunk; the image must be a ring of rows. */
static inline hy_ring hy_ring_of(const hy_image *image, const hy_chunk *chunk)
{
    const int64_t rows = hy_image_rows_held(image);
    hy_ring ring       = hy_ring_reads(chunk);

    ring.base = (int32_t)(chunk->x_begin / rows * rows);
    ring.rows = (int32_t)rows;
    return ring;
}

static inline int hy_ring_has(const hy_ring *ring, int32_t col)
{
    return (uint32_t)(col - ring->first) < ring->count;
}

/* Returns 1 if the chunk may touch (hy_ring_has()) all columns of rows [begin, end) of A.
   Columns ascend in a row, so the first and the last are tested. */
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

/* Returns the place in the ring of row `col` of X, which the ring must hold. */
static inline int32_t hy_ring_position(const hy_ring *ring, int32_t col)
{
    const int32_t at = col - ring->base; /* less than 2 * rows */
    return at < ring->rows ? at : at - ring->rows;
}

#endif /* HY_RING_H */
