/* io/arrays/dense_put.h - writes rows of a dense matrix to a file, in row-major or
   column-major order. */
#ifndef HY_DENSE_PUT_H
#define HY_DENSE_PUT_H

#include "io/formats/byte_file.h"
#include "io/formats/file_writer.h"

/* The place of a dense matrix in a file. */
typedef struct hy_dense_place {
    const hy_byte_file *file;
    int64_t at;       /* position of the first element in the file, in bytes */
    hy_reused *lines; /* buffer for the rows of one call, arranged in the order of the
                         file */
} hy_dense_place;

/* Writes the next rows of the writer's matrix, which has the order writer->shape.order and
   no gaps between its lines, and counts rows and bytes. BAD_ARGUMENT if the rows do not
   fit the shape. */
hybrid_status hy_dense_put(hy_file_writer *writer, const hy_dense_place *place,
                           const hybrid_dense *rows);

/* Returns BAD_ARGUMENT if fewer rows were put than writer->shape announces, else OK. */
hybrid_status hy_dense_put_end(const hy_file_writer *writer, const hy_dense_place *place);

#endif /* HY_DENSE_PUT_H */
