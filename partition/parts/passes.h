/* partition/parts/passes.h - chunks that multiply B in passes.

   A pass brings a range of rows of B to the device, with those entries of the chunk's
   rows of A that multiply them. The device keeps the sums of a pass, and adds those of
   the next one to them: they become further rows of B, which A multiplies by 1. So all
   passes of a chunk use the kernels of an ordinary product:

     pass 0   C = A_0 * B_0
     pass k   C = [1 A_k] * [C]      A_k: the entries of A in the columns of pass k
                            [B_k]    B_k: the rows of B of pass k

   Every chunk brings all of B once, in ranges that are the same for all chunks. A range
   has the rows of B that begin in hy_image.block successive bytes of B (hy_pass_at()). */
#ifndef HY_PASSES_H
#define HY_PASSES_H

#include "base/data/csr.h"
#include "partition/pattern/cut.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the bytes of the rows of B before `row`, with their offsets. */
static inline int64_t hy_pass_at(const hybrid_csr *B, int64_t row)
{
    return hy_csr_bytes(row, hy_offset(B, row), B->type) - 8;
}

/* Returns the image of `whole`, the image of B, as it is brought in passes of about
   `bytes` bytes, or 2^33 if `bytes` is larger. No pass has more than these bytes and the
   bytes of one row. */
hy_image hy_image_of_passes(const hy_image *whole, const hybrid_csr *B, int64_t bytes);

/* Returns the number of passes of a chunk; 1 for other images. */
int64_t hy_passes(const hy_image *image);

/* Returns the first row of B of pass k; the number of rows if k is hy_passes(). */
int64_t hy_pass_begin(const hy_image *image, const hybrid_csr *B, int64_t k);

/* Returns the pass with row `row` of B. */
static inline int64_t hy_pass_of(const hy_image *image, const hybrid_csr *B, int64_t row)
{
    return hy_pass_at(B, row) / image->block;
}

/* Returns the number of entries of B in the job's pass. */
static inline int64_t hy_pass_nnz(const hy_job *job)
{
    const hybrid_csr *B = job->problem->B;

    return hy_offset(B, job->pass.end) - hy_offset(B, job->pass.begin);
}

/* Returns how many of the `n` ascending columns of A are before `col`. */
static inline int64_t hy_columns_before(const int32_t *columns, int64_t n, int64_t col)
{
    int64_t low = 0;

    while (low < n) {
        const int64_t middle = low + (n - low) / 2;
        if (columns[middle] < col)
            low = middle + 1;
        else
            n = middle;
    }
    return low;
}

/* Returns the features of one pass of a chunk, if `f` are those of all its passes
   together, and entries of A are spread evenly over them. Returns `f` for other
   images. */
hy_features hy_pass_features(const hy_image *image, const hy_features *f);

/* Returns the features of what a pass with features `f` sends to the device: an average
   part of B, without the sums of earlier passes. Returns `f` for other images. */
hy_features hy_pass_packed(const hy_image *image, const hy_features *f);

/* Cuts all rows of cut->profile into chunks, whose features are those of their largest
   pass. The caller frees the array, also after a failure. */
hybrid_status hy_cut_passes(hy_context *ctx, const hy_cut *cut, hy_chunk_array *out);

#ifdef __cplusplus
}
#endif
#endif /* HY_PASSES_H */
