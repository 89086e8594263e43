/* partition/move/matrix_file.h - a matrix whose numbers stay in a file. */
#ifndef HY_MATRIX_FILE_H
#define HY_MATRIX_FILE_H

#include "base/contract/stored.h"
#include "base/text/facts.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A matrix whose numbers stay in a file. A sparse matrix has a zeroed `dense`. A dense
   matrix has a zeroed `csr`, `row_ptr` and `col`. */
typedef struct hy_matrix_file {
    hy_context *ctx;
    char *name; /* path of the file, for messages, allocated with hy_array() */
    int sparse;
    hybrid_csr csr;     /* shape of a sparse matrix; its arrays are NULL */
    hybrid_dense dense; /* shape of a dense matrix; its data are NULL */
    hy_stored row_ptr;  /* where the file holds the offsets, which have the type
                           csr.offset_type */
    hy_stored col;      /* where the file holds the columns, which have 32 bits */
    hy_stored values;   /* where the file holds the values; of a dense matrix, value k is
                           element k in the matrix's order, gaps of its leading dimension
                           included */
} hy_matrix_file;

/* Adds a line from which a later call tells whether the file has changed: its path, size,
   time of change, and checksums of its beginning and of samples of its numbers. The line
   calls the matrix `name`. IO_FAILED if the file cannot be read. */
hybrid_status hy_matrix_file_describe(const hy_matrix_file *file, const char *name,
                                      hy_facts *facts);

#ifdef __cplusplus
}
#endif
#endif /* HY_MATRIX_FILE_H */
