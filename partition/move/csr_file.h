/* partition/move/csr_file.h - a sparse matrix in a file, read by pieces. */
#ifndef HY_CSR_FILE_H
#define HY_CSR_FILE_H

#include "base/data/stored.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hy_csr_file {
    hy_context *ctx;
    hybrid_csr shape; /* its arrays are NULL; offset_type as they are stored */
    char *name;       /* that sentences say; hy_array memory */
    hy_stored row_ptr, col, val;
} hy_csr_file;

void hy_csr_file_close(hy_csr_file *file); /* zeroed is fine */

/* Bytes of its arrays as they are in memory, offsets of 64 bits. */
int64_t hy_csr_file_bytes(const hy_csr_file *file);

/* Bytes of its arrays in the files. */
int64_t hy_csr_file_stored_bytes(const hy_csr_file *file);

/* All of it, in pages of results: free with hy_csr_free(). All rules are verified. */
hybrid_status hy_csr_file_read(const hy_csr_file *file, hybrid_csr *out);

/* The functions below may be called by any thread, and read in that thread, in pieces of 8
   MiB: between two pieces they ask hy_progress_check(), and hy_progress_add_bytes() is told. IO_FAILED names file and offset.

   Reads the offsets of rows [begin, begin + rows), and the one that follows, rows > 0.
   *first is the offset of row `begin`, and out[i] that of row begin + i less *first.
   BAD_MATRIX names the first row whose offsets fall or leave 0..nnz, and the first or last
   offset of the file if it is not 0 or nnz. */
hybrid_status hy_csr_file_offsets(const hy_csr_file *file, int64_t begin, int64_t rows,
                                  int64_t *first, int64_t *out);

/* Columns and values of entries [begin, begin + count), which are in 0..nnz. Columns are not
   checked. */
hybrid_status hy_csr_file_cols(const hy_csr_file *file, int64_t begin, int64_t count,
                               int32_t *out);
hybrid_status hy_csr_file_vals(const hy_csr_file *file, int64_t begin, int64_t count,
                               void *out);

#ifdef __cplusplus
}
#endif
#endif /* HY_CSR_FILE_H */
