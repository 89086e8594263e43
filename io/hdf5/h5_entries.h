/* io/hdf5/h5_entries.h - the entries of a matrix that an HDF5 file stores by columns, or
   with both indices of each entry.

   A line is a row or a column of the matrix, whichever the file stores together. Pointers
   tell where each line's entries begin and end. */
#ifndef HY_H5_ENTRIES_H
#define HY_H5_ENTRIES_H

#include "base/contract/stored.h"
#include "io/formats/entry_reader.h"

/* Arrays of a matrix. All indices and pointers have 64 bits. */
typedef struct hy_h5_lines {
    int by_cols;        /* 1: a line is a column; 0: a row */
    hy_stored pointers; /* 1 + the number of stored lines; not open: the file has both
                           indices of each entry */
    hy_stored lines;    /* row or column of each stored line; without `pointers`: of each
                           entry. Not open: all lines are stored in order */
    hy_stored indices;  /* index of each entry within its line */
    hy_stored values;   /* value of each entry, float or double */
} hy_h5_lines;

void hy_h5_lines_close(hy_h5_lines *lines);

/* Begins to read the entries. Takes over `lines`, also in case of a failure. The caller
   has set the sizes and the type of *out. */
hybrid_status hy_h5_entries_open(hy_context *ctx, const char *path, hy_h5_lines *lines,
                                 hy_entry_reader *out);

#endif /* HY_H5_ENTRIES_H */
