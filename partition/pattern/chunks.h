/* partition/pattern/chunks.h - cuts a product into chunks that fit the device.

   Every slot owns one block of device memory. `depth` slots and the image of B or X,
   which all chunks share, must fit the budget:

       shared + depth * (pack + work + out of the largest chunk) <= budget

   A chunk is a range of consecutive rows of the narrowed profile. It is as long as the
   memory of a slot and `products_max` allow, so that all chunks cost about the same.

   If there is no such image, each chunk also carries the rows of B or X that its rows of
   A touch (gathered). For SpMM X is then cut into column blocks if a single row would not
   fit otherwise: first all chunks of the first block, then the same rows for each further
   block. The rows that travel are gather_rows x (columns of the block) elements, and
   gather_nnz is 0. If X has an image of column blocks, the chunks have those instead. */
#ifndef HY_CHUNKS_H
#define HY_CHUNKS_H

#include "partition/pattern/extents.h"
#include "partition/pattern/inspect.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns 1 if every count of a chunk with features `f` is so small that kernels can use
   32-bit numbers. A chunk of more than one row must satisfy this. */
int hy_chunk_is_counted(const hy_features *f);

typedef struct hy_cut {
    const hybrid_csr *A;
    const hybrid_csr *B; /* SpGEMM only; NULL for SpMM */
    const hy_profile *profile;
    const hy_variant *variant;
    const hy_rates *rates;
    size_t slot_bytes;    /* device bytes that one chunk may take at most: its pack, work
                             and result */
    int64_t products_max; /* target for the maximum of products of a chunk; a single row
                             may exceed it */
    int64_t chunk_rows;   /* maximum rows of a chunk; 0 = no limit */
    hy_image image;       /* image of B or X */
} hy_cut;

/* Returns the device bytes of a chunk: pack, work and result, each rounded up to the
   alignment of arrays. */
size_t hy_cost_bytes(const hy_cost *cost);

/* Returns the number of chunks of the first column block. The chunks of the other blocks
   follow and cover the same rows. */
int64_t hy_chunk_ranges(const hy_chunk *chunks, int64_t count);

/* The chunks of a run. If X is on the device in column blocks, the chunks of the first
   block are repeated for every block. The blocks may differ from run to run. */
typedef struct hy_chunk_list {
    const hy_chunk *cut; /* the chunks as they were cut, borrowed; with column blocks only
                            the first `ranges` are used */
    int64_t ranges;      /* chunks of one column block */
    hy_image image;      /* column blocks of X if its axis is HY_AXIS_COLS */
    int64_t count;       /* chunks of all column blocks */
} hy_chunk_list;

hy_chunk_list hy_chunks_of(const hy_chunk *cut, int64_t count);

/* Returns the chunks of `list`, but for the column blocks of `image`. */
hy_chunk_list hy_chunks_in(const hy_chunk_list *list, const hy_image *image);

hy_chunk hy_chunk_at(const hy_chunk_list *list, int64_t i);

/* Cuts the rows of cut->profile. *chunks is hy_array() memory that the caller frees.
   Chunks are ordered by column block, then by row. Without rows there are no chunks.
   Fails with NO_DEVICE_MEMORY if one row does not fit, not even with one column if X is
   gathered; the message names the row and the bytes that it needs. */
hybrid_status hy_cut_chunks(hy_context *ctx, const hy_cut *cut, hy_chunk **chunks,
                            int64_t *count);

/* x_ranges.c: sets hy_chunk.x_end, the number of the first rows of B or X that a chunk
   waits for, of consecutive chunks. `ends` is hy_profile.ends or NULL. With `with_own`
   the chunk's own rows count too, because they are rows of B if A is squared. A chunk
   that needs nearly all rows of B or X is made to need all. */
hybrid_status hy_chunks_find_x_ranges(hy_context *ctx, const hybrid_csr *A,
                                   const int64_t *ends, int with_own, hy_chunk *chunks,
                                   int64_t count);
/* Sets hy_chunk.x_end to `rows`, the number of rows of B or X. */
void hy_chunks_read_all(hy_chunk *chunks, int64_t count, int64_t rows);
/* x_ranges.c: sets hy_chunk.x_end and hy_chunk.x_begin (the first row of X that this
   chunk or a later one needs), both exactly, for chunks that use a ring of rows of X. */
hybrid_status hy_chunks_find_band(hy_context *ctx, const hy_extents *extents,
                                  hy_chunk *chunks, int64_t count);

#ifdef __cplusplus
}
#endif
#endif /* HY_CHUNKS_H */
