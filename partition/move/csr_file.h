/* partition/move/csr_file.h - a sparse matrix in a file, read in pieces. */
#ifndef HY_CSR_FILE_H
#define HY_CSR_FILE_H

#include "base/data/stored.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hy_csr_file {
    hy_context *ctx;
    hybrid_csr shape; /* arrays are NULL; offset_type is that of the file */
    char *name;       /* name of the file for messages, allocated with hy_array() */
    hy_stored row_ptr, col, val;
} hy_csr_file;

void hy_csr_file_close(hy_csr_file *file); /* accepts a zeroed struct */

/* Returns the bytes that the matrix takes in memory, with 64-bit offsets. */
int64_t hy_csr_file_bytes(const hy_csr_file *file);

/* Returns the bytes of the matrix in the file. */
int64_t hy_csr_file_stored_bytes(const hy_csr_file *file);

/* Reads the whole matrix and checks it. Free `out` with hy_csr_free(). */
hybrid_status hy_csr_file_read(const hy_csr_file *file, hybrid_csr *out);

/* The functions below may be called by any thread. They read in that thread, in pieces of
   8 MiB. Before each piece they check for cancellation (hy_progress_check()), after it
   they report the bytes (hy_progress_add_bytes()). IO_FAILED names file and offset.

   Reads the offsets of rows [begin, begin + rows) and the one after them; rows > 0.
   *first is the offset of row `begin`, and out[i] is that of row begin + i minus *first.
   BAD_MATRIX names the first row with offsets that fall or leave 0..nnz, and the first or
   last offset of the file if it is not 0 or nnz. */
hybrid_status hy_csr_file_offsets(const hy_csr_file *file, int64_t begin, int64_t rows,
                                  int64_t *first, int64_t *out);

/* Read columns and values of entries [begin, begin + count), within 0..nnz. Columns are
   not checked. */
hybrid_status hy_csr_file_cols(const hy_csr_file *file, int64_t begin, int64_t count,
                               int32_t *out);
hybrid_status hy_csr_file_vals(const hy_csr_file *file, int64_t begin, int64_t count,
                               void *out);

#ifdef __cplusplus
}
#endif
#endif /* HY_CSR_FILE_H */
