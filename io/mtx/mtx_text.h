/* io/mtx/mtx_text.h - formats rows of a sparse matrix as lines of a Matrix Market file. */
#ifndef HY_MTX_TEXT_H
#define HY_MTX_TEXT_H

#include "io/text/encoder.h"

/* Receives the next part of the text, compressed if the formatter has an encoder. Called by one thread at a time, in order. */
typedef hybrid_status (*hy_put_text_fn)(void *arg, const char *text, size_t bytes);

typedef struct hy_mtx_text hy_mtx_text;

/* Makes a formatter, which has buffers of about 1 MiB for each worker, and more if
   `encoder` is not NULL and compresses the text. */
hybrid_status hy_mtx_text_open(hy_context *ctx, const hy_encoder *encoder,
                               hy_put_text_fn put, void *arg, hy_mtx_text **out);
/* Formats the entries of A, whose first row is row `first_row` of the matrix, from 0. With
   `bytes` >= 0, the bytes of the file so far, tells progress the expected size of the
   file that ends with A. */
hybrid_status hy_mtx_text_put(hy_mtx_text *text, const hybrid_csr *A, int64_t first_row,
                              int64_t bytes);
void hy_mtx_text_close(hy_mtx_text *text); /* accepts NULL */

/* Maximum bytes of a banner and a line of sizes, also in a frame of an encoder. */
enum { HY_MTX_HEAD_BYTES = 160 };

/* Writes the banner and the sizes to `to`, in a frame if `encoder` is not NULL. If
   `is_padded`, blanks follow the number of entries, so that the bytes are as many for
   every number. Returns the bytes. */
size_t hy_mtx_head(char to[HY_MTX_HEAD_BYTES], const hy_encoder *encoder, int64_t rows,
                   int64_t cols, int64_t nnz, int is_padded);

#endif /* HY_MTX_TEXT_H */
