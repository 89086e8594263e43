/* partition/pattern/chunks.h - the work is cut into chunks that fit the device.

   Every slot owns one block of device memory; `depth` slots and the resident
   operand B or X share the budget:

       shared + depth * (pack + work + out of the largest chunk) <= budget

   Chunks are consecutive rows of those that the profile is narrowed to, each as long as both the block and `products_max`
   allow, so that they cost about the same. When B or X is not resident, each chunk
   also carries the rows of B or X that its rows of A touch (gathered); for SpMM
   the columns of X are then cut into panels where a single row would not fit: all
   chunks of the first panel, then the same rows for the next. For SpMM the rows that
   travel are gather_rows x (columns of the panel) elements, and gather_nnz is 0. A
   resident X has the column blocks of its image. */
#ifndef HY_CHUNKS_H
#define HY_CHUNKS_H

#include "partition/pattern/extents.h"
#include "partition/pattern/inspect.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether numbers of 31 bits count everything in a chunk, as they must in one of several
   rows. */
int hy_chunk_is_counted(const hy_features *f);

typedef struct hy_cut {
    const hybrid_csr *A;
    const hybrid_csr *B; /* SpGEMM, else NULL */
    const hy_profile *profile;
    const hy_variant *variant;
    const hy_rates *rates;
    size_t slot_bytes;    /* device bytes of one chunk, at most */
    int64_t products_max; /* aim for no more in a chunk; single rows may exceed it */
    int64_t chunk_rows;   /* > 0: rows a chunk, at most */
    int gathered;         /* 1: B or X is not resident */
    hy_image image;       /* of B or X, if it is resident */
} hy_cut;

/* Device bytes of a chunk: the aligned sum of the three parts of its cost. */
size_t hy_cost_bytes(const hy_cost *cost);

/* Chunks of the first panel of columns: the others follow, for the same rows. */
int64_t hy_chunk_ranges(const hy_chunk *chunks, int64_t count);

/* The chunks of a run. Where X is on the device in column blocks, which are the run's own,
   they are those of the first block, repeated for each. */
typedef struct hy_chunk_list {
    const hy_chunk *cut; /* borrowed; with blocks only `ranges` of them count */
    int64_t ranges;      /* chunks of one block */
    hy_image image;      /* of column blocks, if X is in such */
    int64_t count;       /* of all blocks */
} hy_chunk_list;

hy_chunk_list hy_chunks_of(const hy_chunk *cut, int64_t count);

/* The same chunks for the column blocks of an image. */
hy_chunk_list hy_chunks_in(const hy_chunk_list *list, const hy_image *image);

hy_chunk hy_chunk_at(const hy_chunk_list *list, int64_t i);

/* The array is hy_array memory, chunks in order of rows (within a panel of columns).
   No rows: no chunks. Fails with NO_DEVICE_MEMORY, naming the row and the bytes it
   needs, when one row with one column does not fit. */
hybrid_status hy_cut_chunks(hy_context *ctx, const hy_cut *cut, hy_chunk **chunks,
                            int64_t *count);

/* x_ranges.c: hy_chunk.needs of chunks that follow each other. `ends`: as the profile has them,
   or NULL. `with_own`: their own rows count too, which are rows of B when A is squared. What
   is nearly all of B or X becomes all. */
hybrid_status hy_chunks_find_x_ranges(hy_context *ctx, const hybrid_csr *A,
                                   const int64_t *ends, int with_own, hy_chunk *chunks,
                                   int64_t count);
/* All of it, which has so many rows. */
void hy_chunks_need_all(hy_chunk *chunks, int64_t count, int64_t rows);
/* hy_chunk.first as well, and both exact, of chunks for a ring of rows of X. */
hybrid_status hy_chunks_find_band(hy_context *ctx, const hy_extents *extents,
                                  hy_chunk *chunks, int64_t count);

#ifdef __cplusplus
}
#endif
#endif /* HY_CHUNKS_H */
