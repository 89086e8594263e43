/* io/numbers/entry_arrays.h - entries of a sparse matrix whose file holds arrays of rows
   and columns (COO), compressed columns (CSC), or compressed rows (CSR) whose columns may
   have any order. */
#ifndef HY_ENTRY_ARRAYS_H
#define HY_ENTRY_ARRAYS_H

#include "io/formats/entry_reader.h"
#include "partition/move/matrix_file.h"

/* The arrays of a sparse matrix in a file. */
typedef struct hy_entry_arrays {
    const char *name; /* name of the file, for messages; copied */
    int64_t rows, cols;
    hybrid_type type; /* type of the values */
    hy_stored row;    /* CSR: rows + 1 offsets; else the row of each entry. 64 bits */
    hy_stored col;    /* CSC: cols + 1 offsets; else the column of each entry. 64 bits */
    hy_stored values; /* value of each entry, with the size of `type` */
} hy_entry_arrays;

/* Open a reader, which owns the arrays, also after a failure. All counts must agree, which
   the caller checks. The reader checks indices and offsets: BAD_MATRIX names the file and
   the entry or column. */
hybrid_status hy_entry_reader_coo(hy_context *ctx, hy_entry_arrays *arrays,
                                  hy_entry_reader *out);
hybrid_status hy_entry_reader_csc(hy_context *ctx, hy_entry_arrays *arrays,
                                  hy_entry_reader *out);
hybrid_status hy_entry_reader_csr(hy_context *ctx, hy_entry_arrays *arrays,
                                  hy_entry_reader *out);

#endif /* HY_ENTRY_ARRAYS_H */
