/* tests/support/hdf5/h5_make.h - writes HDF5 files with libhdf5 alone. A call that
   fails aborts the program. */
#ifndef H5_MAKE_H
#define H5_MAKE_H

#define H5_USE_110_API
#include <hdf5.h>

#include "hybrid_spmm.h"

/* How numbers are stored. */
typedef struct h5_form {
    hsize_t chunk; /* numbers of a chunk; 0: contiguous */
    int deflate, shuffle, checksum;
    int big_endian;
} h5_form;

hid_t h5_new(const char *path);
void h5_end(hid_t file);

/* Writes `count` numbers, in memory of the type `type`, to a new dataset. */
void h5_numbers(hid_t at, const char *name, hid_t type, hsize_t count, const void *data,
                const h5_form *form);
/* Adds an attribute to an object. */
void h5_text(hid_t at, const char *object, const char *name, const char *text);
void h5_sizes(hid_t at, const char *object, const char *name, int64_t rows, int64_t cols);

/* Adds a group with a matrix of 32-bit columns, as AnnData stores it. */
void h5_cells(hid_t at, const char *group, const hybrid_csr *A, const h5_form *form);

/* Stores a file with one such group, X. */
void h5_store_cells(const char *path, const hybrid_csr *A, const h5_form *form);

#endif /* H5_MAKE_H */
