/* io/hdf5/h5_entries.h - the entries of a matrix that an HDF5 file stores by columns, or
   with both indices of each entry. */
#ifndef HY_H5_ENTRIES_H
#define HY_H5_ENTRIES_H

#include "base/contract/stored.h"
#include "io/formats/entry_reader.h"

/* Arrays of a matrix. All indices and pointers have 64 bits. */
typedef struct hy_h5_lines {
    int by_cols;        /* 1: lines are columns */
    hy_stored pointers; /* one more than lines; not open: `lines` has one index for each
                           entry */
    hy_stored lines;    /* not open: line i of the pointers is line i of the matrix */
    hy_stored indices;  /* of each entry in its line */
    hy_stored values;   /* float or double */
} hy_h5_lines;

void hy_h5_lines_close(hy_h5_lines *lines);

/* Begins to read the entries. Takes over `lines`, also in case of a failure. `out` has
   its sizes and its type. */
hybrid_status hy_h5_entries_open(hy_context *ctx, const char *path, hy_h5_lines *lines,
                                 hy_entry_reader *out);

#endif /* HY_H5_ENTRIES_H */
