/* io/formats/file_writer.h - the interface of a file that receives a matrix row by row.

   A format creates the file under a temporary name that it is given. The caller of
   finish() makes the file durable and gives it its final name. */
#ifndef HY_FILE_WRITER_H
#define HY_FILE_WRITER_H

#include "base/contract/context.h"

enum { HY_MOST_PARTS = 4096 }; /* maximum number of parts of a matrix that is written */

/* How the numbers of a file are compressed, if its format can compress them. */
typedef enum hy_compression { HY_STORED, HY_DEFLATE, HY_ZSTD } hy_compression;

typedef struct hy_file_shape {
    int sparse;
    int64_t rows, cols;
    int64_t nnz;          /* number of entries of a sparse matrix; -1 if not known yet */
    hybrid_type type;     /* type of the matrix's values */
    hybrid_index offsets; /* wanted type of row offsets, where the format has a choice */
    hybrid_index columns; /* wanted type of column indices, where the format has a choice */
    hybrid_order order;   /* order of a dense matrix in the file; rows are appended from
                             first to last in either case */
    hy_compression compression;
    int shuffle;        /* 1: bytes are shuffled (byte k of all numbers together) before
                           compression, if the format can do that */
    int64_t part_rows;  /* 0: the matrix is one file; else number of rows of each part, if
                           the format has parts. A dense matrix in parts is row-major. */
    const char *target; /* final path of the file. A format that writes several files
                           names the others after it. NULL: the path that create() is
                           called with. Valid during create(). */
} hy_file_shape;

typedef struct hy_file_writer hy_file_writer;

typedef struct hy_file_writer_ops {
    size_t state_bytes; /* bytes of the writer's own state */

    /* Begins the file. self->writer is zero. After a failure abort() is called. */
    hybrid_status (*begin)(hy_file_writer *self, const char *path);

    /* Appends the rows of a sparse matrix: rows->rows rows, whose offsets begin with 0, in
       memory. Rows arrive in order, in any number per call. */
    hybrid_status (*sparse)(hy_file_writer *self, const hybrid_csr *rows);

    /* Appends the rows of a dense matrix, which may be row-major or column-major. */
    hybrid_status (*dense)(hy_file_writer *self, const hybrid_dense *rows);

    /* Completes the file and closes it. After a failure the caller calls abort(). */
    hybrid_status (*finish)(hy_file_writer *self);

    void (*abort)(hy_file_writer *self); /* closes the file, which the caller removes */
} hy_file_writer_ops;

struct hy_file_writer {
    const hy_file_writer_ops *ops; /* NULL: no file is open */
    hy_context *ctx;
    hy_file_shape shape;
    int64_t rows;  /* number of rows written so far */
    int64_t nnz;   /* number of entries written so far */
    int64_t bytes; /* bytes written so far, for progress */
    void *writer;  /* the writer's own state, for ops */
};

/* Allocates the state of a writer and begins its file. *out is set if that succeeds. */
hybrid_status hy_file_writer_open(hy_context *ctx, const char *path,
                                  const hy_file_shape *shape,
                                  const hy_file_writer_ops *ops, hy_file_writer *out);

/* Returns the bytes of the arrays of a sparse matrix whose offsets, columns and values
   take this many bytes each. */
static inline int64_t hy_arrays_bytes(const hy_file_shape *shape, int64_t offset,
                                      int64_t column, int64_t value)
{
    return (shape->rows + 1) * offset + shape->nnz * (column + value);
}

#endif /* HY_FILE_WRITER_H */
