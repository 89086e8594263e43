/* partition/move/matrix_file.h - a matrix whose numbers stay in a file. */
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

#ifdef __cplusplus
}
#endif
#endif /* HY_MATRIX_FILE_H */
