/* partition/move/matrix_file.h - a matrix in a file, read in pieces. */
#ifndef HY_MATRIX_FILE_H
#define HY_MATRIX_FILE_H

#include "base/contract/stored.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A matrix whose numbers stay in a file. The struct of the other kind, and the arrays
   that the matrix does not have, are zeroed. */
typedef struct hy_matrix_file {
    hy_context *ctx;
    char *name; /* path of the file, for messages, allocated with hy_array() */
    int sparse;
    hybrid_csr csr;     /* shape of a sparse matrix; its arrays are NULL */
    hybrid_dense dense; /* shape of a dense matrix; its data are NULL */
    hy_stored row_ptr;  /* offsets of csr.offset_type */
    hy_stored col;      /* 32-bit columns */
    hy_stored values;   /* of a dense matrix: number k is element k in its order, with its
                            leading dimension */
} hy_matrix_file;

void hy_matrix_file_close(hy_matrix_file *file); /* accepts a zeroed struct */

/* ---- sparse matrices -------------------------------------------------------------- */

/* Returns the bytes that the matrix takes in memory, with 64-bit offsets. */
int64_t hy_csr_file_bytes(const hy_matrix_file *file);

/* Returns the bytes of the matrix in the file. */
int64_t hy_csr_file_stored_bytes(const hy_matrix_file *file);

/* Reads the whole matrix and checks it. Free `out` with hy_csr_free(). */
hybrid_status hy_csr_file_read(const hy_matrix_file *file, hybrid_csr *out);

/* The functions below may be called by any thread. They read in that thread, in pieces of
   8 MiB. Before each piece they check for cancellation (hy_progress_check()), after it
   they report the bytes (hy_progress_add_bytes()).

   Reads the offsets of rows [begin, begin + rows) and the one after them; rows > 0.
   *first is the offset of row `begin`, and out[i] is that of row begin + i minus *first.
   BAD_MATRIX names the first row with offsets that fall or leave 0..nnz, and the first or
   last offset of the file if it is not 0 or nnz. */
hybrid_status hy_csr_file_offsets(const hy_matrix_file *file, int64_t begin, int64_t rows,
                                  int64_t *first, int64_t *out);

/* Read columns and values of entries [begin, begin + count), within 0..nnz. Columns are
   not checked. */
hybrid_status hy_csr_file_cols(const hy_matrix_file *file, int64_t begin, int64_t count,
                               int32_t *out);
hybrid_status hy_csr_file_vals(const hy_matrix_file *file, int64_t begin, int64_t count,
                               void *out);

#ifdef __cplusplus
}
#endif
#endif /* HY_MATRIX_FILE_H */
