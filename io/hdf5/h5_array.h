/* io/hdf5/h5_array.h - the numbers of a dataset as an array that any thread reads without
   libhdf5.

   A dataset has one or two axes and is stored whole (contiguous, or compact in the
   dataset's header) or in chunks: rectangles of equal size, each compressed by itself.
   Number k of the array is number k in row-major order. */
#ifndef HY_H5_ARRAY_H
#define HY_H5_ARRAY_H

#include "base/contract/stored.h"
#include "io/hdf5/h5_file.h"
#include "io/hdf5/decode/h5_filters.h"
#include "io/hdf5/decode/h5_numbers.h"

/* Types to which numbers are converted when they are read. HY_H5_VALUES keeps a
   floating-point type and makes double of integers. HY_H5_OFFSETS is int32_t if all
   numbers of the file's type fit, else int64_t. */
typedef enum hy_h5_wanted {
    HY_H5_VALUES,
    HY_H5_OFFSETS,
    HY_H5_I32,
    HY_H5_I64
} hy_h5_wanted;

/* A dataset of numbers, as its header describes it. */
typedef struct hy_h5_array {
    const hy_h5_file *file; /* borrowed; read by the call that opens the
                               array, and not afterwards */
    const char *name;       /* path of the dataset in the file; borrowed */
    int rank;               /* number of axes, 1 or 2 */
    int64_t dims[2];        /* numbers of rows and columns; {1, n} if rank is 1 */
    hy_h5_number number;
    int64_t chunk[2]; /* rows and columns of a chunk; {0, 0}: the dataset has no chunks */
    hy_h5_filters filters;
    int64_t at;    /* without chunks: position of the numbers in the file, in bytes; -1:
                      they are in `compact`, or have never been written */
    char *compact; /* the numbers of a compact dataset, allocated with hy_array(); else
                      NULL */
    char fill[8];  /* bytes of the number that stands for numbers that have never been
                      written */
    hy_h5_place *places; /* place of each chunk in the file, in row-major order of chunks;
                            allocated with hy_array() */
} hy_h5_array;

/* Reads the description of the dataset `name`, and finds its chunks. BAD_FILE if the
   dataset is missing, is not of numbers, has more than two axes, or if a chunk is not
   within the file. Free with hy_h5_array_free(). */
hybrid_status hy_h5_array_describe(const hy_h5_file *file, const char *name,
                                   hy_h5_array *out);
void hy_h5_array_free(hy_context *ctx, hy_h5_array *array); /* accepts a zeroed struct */

/* Returns the number of numbers. hy_h5_chunks_of() returns the number of chunks along an
   axis (0: rows, 1: columns). */
static inline int64_t hy_h5_count(const hy_h5_array *array)
{
    return array->dims[0] * array->dims[1];
}

static inline int64_t hy_h5_chunks_of(const hy_h5_array *array, int axis)
{
    return (array->dims[axis] + array->chunk[axis] - 1) / array->chunk[axis];
}

/* Returns BAD_FILE if `count` numbers, which the file does not hold and its description
   stands for, are more than a file of this size may stand for: 2^16 for each byte. Small
   files could otherwise keep a reader busy for days. */
hybrid_status hy_h5_check_absent(const hy_h5_file *file, const char *name, int64_t count);

/* Opens the array for reading and takes over what *array has allocated, also in case of a
   failure. BAD_FILE if a wanted integer type cannot hold floating-point numbers. */
hybrid_status hy_h5_array_open(hy_context *ctx, hy_h5_array *array, hy_h5_wanted wanted,
                               hy_stored *out);

/* Describes and opens the one-dimensional dataset `name`. *type is the type of the
   numbers as read; NULL: not needed. */
hybrid_status hy_h5_vector_open(const hy_h5_file *file, const char *name,
                                hy_h5_wanted wanted, hy_stored *out, hy_h5_number *type);

/* ---- for the readers, h5_whole.c and h5_chunked.c ---------------------------------- */

/* State that the readers of whole and of chunked datasets begin with. */
typedef struct hy_h5_reader {
    hy_context *ctx;
    hy_h5_array array; /* description of the dataset; its `file` is NULL */
    hy_h5_number to;   /* type to which read() converts numbers */
    int fd;            /* descriptor of the file, closed with the reader */
    char *path;        /* path of the file, allocated with hy_array() */
} hy_h5_reader;

/* Converts numbers [first, first + count) of the array, which lie at `in`, to `to`. If
   one does not fit, returns BAD_FILE with a message that names it. */
hybrid_status hy_h5_deliver(const hy_h5_reader *reader, const char *in, int64_t first,
                            int64_t count, char *to);
/* Writes `count` copies of array->fill to `to`, in the type of the file. */
void hy_h5_fill(const hy_h5_array *array, int64_t count, char *to);

extern const hy_stored_ops hy_h5_whole, hy_h5_chunked;
hybrid_status hy_h5_chunked_make(const hy_h5_reader *reader, void **out);
hybrid_status hy_h5_whole_make(const hy_h5_reader *reader, void **out);
void hy_h5_reader_free(hy_h5_reader *reader);

#endif /* HY_H5_ARRAY_H */
