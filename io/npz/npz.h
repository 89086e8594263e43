/* io/npz/npz.h - writes a sparse matrix as SciPy's save_npz() does. */
#ifndef HY_NPZ_H
#define HY_NPZ_H

#include "io/formats/file_writer.h"

/* Begins a .npz file that scipy.sparse.load_npz() reads as a CSR matrix. Its members are
   stored. Indices have 32 bits if the matrix allows it and shape->offsets and
   shape->columns do not ask for 64. BAD_ARGUMENT if the matrix is dense or its number of
   entries is not known. */
hybrid_status hy_npz_create(hy_context *ctx, const char *path, const hy_file_shape *shape,
                            hy_file_writer *out);
int64_t hy_npz_bytes(const hy_file_shape *shape); /* see hy_file_format.bytes */

#endif /* HY_NPZ_H */
