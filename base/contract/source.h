/* base/contract/source.h - the interface of a source: where an operand comes from.

   Code that reads an operand, packs it, or sends it to a device calls its source and need
   not know whether the operand is pinned, pageable, column-major, a subset of rows, or in
   a file. One call of a function covers 64 KB or more. Each kind of source is a file,
   partition/move/source_*.c. */
#ifndef HY_SOURCE_H
#define HY_SOURCE_H

#include "base/contract/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rows [row, row + rows) and columns [col, col + cols) of an operand. A column of a
   sparse operand is one of its arrays (HY_CSR_OFFSETS, ... in image.h), and a row is an
   element of that array; offsets have 64 bits. */
typedef struct hy_rect {
    int64_t row, rows, col, cols;
} hy_rect;

/* Memory of a rectangle: element (i, j) is i * row + j * col elements after `at`. */
typedef struct hy_grid {
    char *at;
    int64_t row, col;
} hy_grid;

/* An operand that the caller has in the memory of the run's device, as kernels read it.
   Both pointers are NULL if the operand is not there. */
typedef struct hy_on_device {
    const hybrid_csr *csr; /* operand whose arrays are all on the device */
    const hybrid_dense *dense;
} hy_on_device;

typedef struct hy_source hy_source;

/* Cursors over the parts of an operand that the host reads, one after another
   (partition/parts/). */
struct hy_a_part;
struct hy_a_parts;
struct hy_b_rows;

struct hy_facts; /* lines of text (base/text/facts.h) */

/* Any thread may call fill(), gather(), run() and lines(), also several threads at once.
   Only the thread that made the public call of the library may call the other functions.
   whole() and the next_ functions copy nothing if the operand is in memory. */
typedef struct hy_source_ops {
    int at_hand; /* 1: all numbers of the operand lie in memory as the caller passed them;
                    0: fill() and gather() read or collect them */

    /* Writes the rectangle to `to`, where one of the two strides is 1. Fails, with a
       sentence, only if the operand is in a file that cannot be read or has bad
       offsets. */
    hybrid_status (*fill)(const hy_source *self, const hy_rect *rect, const hy_grid *to);

    /* (dense operands only) Writes columns [col, col + cols) of the rows in `listed`,
       which ascend, to successive rows of `to`. Fails as fill() does. */
    hybrid_status (*gather)(const hy_source *self, const int32_t *listed, int64_t count,
                            int64_t col, int64_t cols, const hy_grid *to);

    /* (optional) Returns memory that a copy engine may read and in which elements [begin,
       end) of the operand follow each other, counted line by line in `order`. For a
       sparse operand, they are elements of array number `array`. Returns NULL if there is
       no such memory. */
    const char *(*run)(const hy_source *self, hybrid_order order, int array,
                       int64_t begin, int64_t end);

    /* (optional) Sets *copy to the copy by which a copy engine brings the rectangle to
       `to`, line by line in the source's own order. Returns 1, or 0 if no single copy can
       do it. */
    int (*lines)(const hy_source *self, const hy_rect *rect, char *to, hy_row_copy *copy);

    /* (sparse operands) Sets *out to the whole operand, in memory: to the operand itself,
       or to *own, into which a file is read and checked. The caller frees *own with
       hy_csr_free() if *out == own. */
    hybrid_status (*whole)(const hy_source *self, hybrid_csr *own,
                           const hybrid_csr **out);

    /* (operands as the caller passed them) Adds a line from which a later call tells
       whether the operand has changed. The line calls the operand `name`. IO_FAILED if
       its file cannot be read. */
    hybrid_status (*describe)(const hy_source *self, const char *name,
                              struct hy_facts *facts);

    /* (sparse operands) The functions behind hy_a_parts_next() and hy_b_rows_next(). */
    hybrid_status (*next_part)(struct hy_a_parts *parts, const struct hy_a_part **out);
    hybrid_status (*next_rows)(struct hy_b_rows *rows, const hybrid_csr *A, int64_t first,
                               int64_t begin, int64_t *end);
} hy_source_ops;

/* A source is a value and may be copied. Copies are valid as long as the operand
   lives. */
struct hy_source {
    const hy_source_ops *ops; /* functions of the source; NULL: there is no source */
    hy_context *ctx;
    hybrid_order order; /* order in which X is read fastest. If it differs from the order
                           of the image, the device should transpose. */
    int64_t rows, cols; /* sizes of the operand */

    /* The operand as packers and the host's loops read it. One of csr and dense is NULL.
       Arrays are NULL if the operand is in a file. If the operand is on the device, only
       the offsets of csr can be read. */
    const hybrid_csr *csr;     /* A or B; NULL: the operand is X */
    const hybrid_dense *dense; /* X; NULL: the operand is A or B. With `listed`, the
                                  larger matrix that contains the rows of X. */
    const int32_t *listed;     /* ascending indices of the rows of *dense that form the
                                  operand; NULL: all rows */
    const hy_source *all;      /* source of *dense if `listed` is set */
    const struct hy_matrix_file *matrix_file; /* the file that holds the numbers; else
                                                 NULL. Only the functions of the source
                                                 read this field. */
    const char *name; /* path of the operand's file, for messages; NULL: the operand has
                         no file */
    hy_on_device on_device;
};

/* Reads elements [begin, begin + count) of array number `array` (HY_CSR_OFFSETS, ...) of
   a sparse operand to `out`. */
static inline hybrid_status hy_source_array(const hy_source *source, int array,
                                            int64_t begin, int64_t count, void *out)
{
    const hy_rect rect = {begin, count, array, 1};
    const hy_grid to   = {(char *)out, 1, count};

    return source->ops->fill(source, &rect, &to);
}

/* Returns 1 if all numbers of the operand lie in memory as the caller passed them. */
static inline int hy_source_at_hand(const hy_source *source)
{
    return source->ops->at_hand;
}

#ifdef __cplusplus
}
#endif
#endif /* HY_SOURCE_H */
