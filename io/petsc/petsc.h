/* io/petsc/petsc.h - the binary form of PETSc's matrices.

   All numbers are big-endian. A matrix is four integers (the class, rows, columns, number
   of entries), the length of each row, the columns of all entries, and their values. With
   -1 entries, the matrix is dense: values follow the header, row by row. Integers have 4
   or, if PETSc was built with 64-bit indices, 8 bytes. */
#ifndef HY_PETSC_H
#define HY_PETSC_H

#include "io/formats/file_writer.h"

enum { HY_PETSC_MAT = 1211216, HY_PETSC_DENSE = -1, HY_PETSC_HEADER = 4 };

/* Begins a file. Values have 8 bytes. Integers have 4 bytes if the matrix allows it and
   shape->offsets and shape->columns do not ask for 8. BAD_ARGUMENT if the number of
   entries of a sparse matrix is not known. */
hybrid_status hy_petsc_create(hy_context *ctx, const char *path,
                              const hy_file_shape *shape, hy_file_writer *out);
int64_t hy_petsc_bytes(const hy_file_shape *shape); /* see hy_file_format.bytes */

#endif /* HY_PETSC_H */
