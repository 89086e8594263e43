/* partition/pattern/chunks.h - cuts a product into chunks that fit the device.

   Every slot owns one block of device memory. `depth` slots and the image of B or X,
   which all chunks share, must fit the budget:

       shared + depth * (pack + work + out of the largest chunk) <= budget

   A chunk is a range of consecutive rows, among those that the profile describes
   (hy_cut.profile). It is as long as the memory of a slot and hy_cut.products_max allow,
   so that all chunks take about the same time. With a gathered image and many entries,
   workers cut ranges of rows in parallel, and chunks also end where the range of a worker
   ends (gathered.c).

   With a gathered image, each chunk also carries the rows of B or X that its rows of A
   touch. For SpMM, such an X is cut into column blocks if a single row would not fit
   otherwise. The chunks of the first block come first, then chunks of the same rows for
   each further block. A chunk carries gather_rows x (columns of the block) elements of X,
   and gather_nnz is 0. If X has an image of column blocks, chunks use those blocks. */
#ifndef HY_CHUNKS_H
#define HY_CHUNKS_H

#include "partition/pattern/cut.h"
#include "partition/pattern/extents.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the number of chunks of the first column block. The chunks of the other blocks
   follow and cover the same rows. */
int64_t hy_chunk_ranges(const hy_chunk *chunks, int64_t count);

/* The chunks of a run. With column blocks of X, `cut` has the chunks of the first column
   block, and the list stands for these chunks repeated for every column block. The column
   blocks may differ from run to run. */
typedef struct hy_chunk_list {
    const hy_chunk *cut; /* the chunks as planning cut them, borrowed; with column blocks
                            only the first `ranges` are used */
    int64_t ranges;      /* number of chunks of one column block */
    hy_image image;      /* column blocks of X if its axis is HY_AXIS_COLS */
    int64_t count;       /* number of chunks of all column blocks */
    int more;            /* 1: chunks are still to be appended (pipeline/run/refine.h) */
    int64_t ring_begin;  /* with `more`: the chunks that are still to be appended touch no
                            row of B before row `ring_begin` */
} hy_chunk_list;

hy_chunk_list hy_chunks_of(const hy_chunk *cut, int64_t count);

/* Returns the list with the same ranges of rows, repeated for each column block of
   `image`. */
hy_chunk_list hy_chunks_in(const hy_chunk_list *list, const hy_image *image);

hy_chunk hy_chunk_at(const hy_chunk_list *list, int64_t i);

/* Cuts the rows of cut->profile. *chunks is hy_array() memory that the caller frees.
   Chunks are ordered by column block, then by row. Without rows there are no chunks.

   Fails with NO_DEVICE_MEMORY if a slot cannot hold a single row; the message names the
   row and the bytes that it needs. With a gathered X this means one row and one
   column. */
hybrid_status hy_cut_chunks(hy_context *ctx, const hy_cut *cut, hy_chunk **chunks,
                            int64_t *count);

/* x_ranges.c: sets hy_chunk.x_end of consecutive chunks: a chunk waits for the rows of B
   or X before x_end. `ends` is hy_profile.ends or NULL. With `with_own`, x_end also
   covers the chunk's own rows, because they are rows of B if A is squared. A chunk that
   needs nearly all rows of B or X is made to wait for all. */
hybrid_status hy_chunks_find_x_ranges(hy_context *ctx, const hybrid_csr *A,
                                   const int64_t *ends, int with_own, hy_chunk *chunks,
                                   int64_t count);
/* Adds to the rows of B that each chunk reads the chunk's own rows of A, which are rows
   of B because A is squared; for chunks that use a ring. */
void hy_chunks_read_own(hy_chunk *chunks, int64_t count);
/* Sets hy_chunk.x_end of all chunks to `rows`, the number of rows of B or X, so that
   every chunk waits for all of them. */
void hy_chunks_read_all(hy_chunk *chunks, int64_t count, int64_t rows);
/* x_ranges.c: sets hy_chunk.x_end and hy_chunk.x_begin, both exactly, for chunks that use
   a ring of rows of X. x_begin is the first row of X that this chunk or a later one
   needs. */
hybrid_status hy_chunks_find_band(hy_context *ctx, const hy_extents *extents,
                                  hy_chunk *chunks, int64_t count);

#ifdef __cplusplus
}
#endif
#endif /* HY_CHUNKS_H */
