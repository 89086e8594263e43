/* io/sort/csr_output.h - receives the entries of a matrix in ascending order and becomes
   a matrix in compressed rows, in memory or in temporary files. */
#ifndef HY_CSR_OUTPUT_H
#define HY_CSR_OUTPUT_H

#include "io/formats/entry_reader.h"
#include "io/sort/records.h"
#include "io/sort/spill.h"
#include "partition/move/matrix_file.h"

/* An array that grows at its end: in `memory`, which hy_array() allocated, or in a spill
   (a temporary file). */
typedef struct hy_out_array {
    char *memory; /* NULL: the array is in the spill */
    hy_spill spill;
    size_t size;   /* bytes of a number of the array */
    int64_t count; /* number of numbers stored so far */
} hy_out_array;

typedef struct hy_csr_output {
    hy_context *ctx;
    const char *name; /* name of the file, for messages; borrowed */
    int64_t base;     /* row and column that the first element of the matrix has in a
                         record */
    hybrid_type type;
    hy_out_array row_ptr, col, values;
    int64_t nnz;     /* number of entries stored so far */
    int64_t row;     /* row of the last entry stored; -1: none */
    hy_record carry; /* the last entry received, with its sum so far: the next record may
                        have its row and column */
    int has_carry;
    int has_values; /* 0: all values so far are `value`, and `values` has none of them */
    double value;
} hy_csr_output;

/* Opens an output for entries that have all been read: in memory for at most `nnz`
   entries, or in temporary files if `in_memory` is 0. Close it in any case. */
hybrid_status hy_csr_output_open(const hy_entry_reader *entries, const char *name,
                                 int in_memory, int64_t nnz, hy_csr_output *out);

/* Receives records in ascending order, none less than the records of earlier calls. Sums
   values of the same row and column, from the first to the last. records[-1] is
   overwritten. BAD_FILE if an entry and a mirror image have the same place. */
hybrid_status hy_csr_output_append(hy_csr_output *out, hy_record *records, int64_t count);

/* Completes the offsets for `rows` rows, and moves the arrays to the matrix, whose
   context and name are set. */
hybrid_status hy_csr_output_finish(hy_csr_output *out, int64_t rows, int64_t cols,
                                   hy_matrix_file *matrix);

void hy_csr_output_close(hy_csr_output *out); /* accepts a zeroed struct */

#endif /* HY_CSR_OUTPUT_H */
