/* io/hdf5/h5_layout.h - finds out how a group or dataset of an HDF5 file stores a matrix.

   Three kinds of files are known: AnnData (.h5ad), those of 10x Genomics, and Binsparse
   0.1. Each has a function below, which sets *found to 0 if the object is of another
   kind.

   A line is a row or a column of the matrix, whichever the file stores together. */
#ifndef HY_H5_LAYOUT_H
#define HY_H5_LAYOUT_H

#include "io/hdf5/h5_file.h"

typedef enum hy_h5_storage {
    HY_H5_DENSE_ROWS,    /* dense matrix, row after row */
    HY_H5_DENSE_COLS,    /* dense matrix, column after column */
    HY_H5_SPARSE_LINES,  /* rows or columns with pointers (CSR, CSC, DCSR, DCSC) */
    HY_H5_SPARSE_ENTRIES /* sparse matrix with both indices of each entry (COO) */
} hy_h5_storage;

/* How a matrix is stored. Names are those of datasets in the matrix's group. */
typedef struct hy_h5_layout {
    hy_h5_storage storage;
    int by_cols;          /* 1: lines are columns, so that the arrays, read by rows, hold
                             the transpose */
    int64_t rows, cols;   /* sizes of the matrix */
    int64_t nnz;          /* number of entries; -1: as many as the dataset `values` has
                             numbers */
    int mirror;           /* hy_entry_reader.mirror, of a symmetric matrix */
    int is_single;        /* 1: the file holds one value, which all entries have */
    const char *pointers; /* dataset that tells where each line begins; NULL: none */
    const char *lines;    /* dataset with the row or column of each stored line, or of
                             each entry if `pointers` is NULL. NULL: all lines are stored
                             in order */
    const char *indices;  /* dataset with the index of each entry within its line; NULL if
                             the matrix is dense */
    const char *values;   /* dataset with the values; NULL: the object is itself this
                             dataset */
} hy_h5_layout;

typedef hybrid_status hy_h5_layout_of(const hy_h5_file *file, const char *object,
                                      hy_h5_layout *out, int *found);

hy_h5_layout_of hy_h5_binsparse, hy_h5_anndata, hy_h5_tenx;

#endif /* HY_H5_LAYOUT_H */
