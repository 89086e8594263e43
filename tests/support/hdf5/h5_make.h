/* tests/support/hdf5/h5_make.h - writes HDF5 files with libhdf5 alone. A call that
   fails aborts the program. */
#ifndef H5_MAKE_H
#define H5_MAKE_H

#define H5_USE_110_API
#include <hdf5.h>

#include "hybrid_spmm.h"

/* How the numbers of a dataset are stored in a file. */
typedef struct h5_form {
    hsize_t chunk; /* numbers in a chunk of the file; 0: the dataset is not divided into
                      chunks */
    int deflate, shuffle, checksum;
    int big_endian;
} h5_form;

hid_t h5_new(const char *path);
void h5_end(hid_t file);

/* Writes `count` numbers of the type `type`, which lie at `data`, to a new dataset
   `name`. */
void h5_numbers(hid_t at, const char *name, hid_t type, hsize_t count, const void *data,
                const h5_form *form);
/* Adds an attribute `name` to an object: a text, or two numbers. */
void h5_text(hid_t at, const char *object, const char *name, const char *text);
void h5_sizes(hid_t at, const char *object, const char *name, int64_t rows, int64_t cols);

/* Adds a group with the arrays of A, which has 32-bit columns, as AnnData stores a
   sparse matrix. */
void h5_cells(hid_t at, const char *group, const hybrid_csr *A, const h5_form *form);

/* Stores a file with one group, X, made by h5_cells(). */
void h5_store_cells(const char *path, const hybrid_csr *A, const h5_form *form);

#endif /* H5_MAKE_H */
