/* io/hdf5/h5_matrix.h - opens or writes a matrix in an HDF5 file. */
#ifndef HY_H5_MATRIX_H
#define HY_H5_MATRIX_H

#include "io/formats/file_format.h"

/* Opens a matrix in an HDF5 file, as hy_file_format.open says. */
hybrid_status hy_h5_matrix_open(hy_context *ctx, const hy_opening *opening,
                                hy_matrix_file *out, hy_entry_reader *entries);

/* Begins a Binsparse file, as hy_file_format.create says. */
hybrid_status hy_h5_matrix_create(hy_context *ctx, const char *path,
                                  const hy_file_shape *shape, hy_file_writer *out);
int64_t hy_h5_matrix_bytes(const hy_file_shape *shape); /* see hy_file_format.bytes */

#endif /* HY_H5_MATRIX_H */
