/* io/hdf5/h5_layout.h - finds out how a group or dataset of an HDF5 file stores a matrix.

   Three kinds of files are known: AnnData (.h5ad), those of 10x Genomics, and Binsparse
   0.1. Each has a function below, which says 0 in *found if the object is of another
   kind. */
#ifndef HY_H5_LAYOUT_H
#define HY_H5_LAYOUT_H

#include "io/hdf5/h5_file.h"

typedef enum hy_h5_storage {
    HY_H5_DENSE_ROWS,    /* dense, row after row */
    HY_H5_DENSE_COLS,    /* dense, column after column */
    HY_H5_SPARSE_LINES,  /* rows or columns with pointers (CSR, CSC, DCSR, DCSC) */
    HY_H5_SPARSE_ENTRIES /* both indices of each entry (COO) */
} hy_h5_storage;

/* How a matrix is stored. Names are those of datasets in the group. */
typedef struct hy_h5_layout {
    hy_h5_storage storage;
    int by_cols;          /* 1: lines are columns, so that the matrix in the file is the
                             transposed one */
    int64_t rows, cols;   /* sizes of the matrix */
    int64_t nnz;          /* stored entries; -1: the length of the values */
    int mirror;           /* hy_entry_reader.mirror, of a symmetric matrix */
    int is_single;        /* 1: the file holds one value, which all entries have */
    const char *pointers; /* of lines; NULL: none */
    const char *lines;    /* index of each stored line, or the line of each entry; NULL:
                             every line has pointers */
    const char *indices;  /* index of each entry in its line; NULL if dense */
    const char *values;   /* NULL: the object is itself the dataset of the values */
} hy_h5_layout;

typedef hybrid_status hy_h5_layout_of(const hy_h5_file *file, const char *object,
                                      hy_h5_layout *out, int *found);

hy_h5_layout_of hy_h5_binsparse, hy_h5_anndata, hy_h5_tenx;

#endif /* HY_H5_LAYOUT_H */
