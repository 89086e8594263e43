/* io/sort/entry_sort.h - turns entries in any order into a matrix in compressed rows, in
   bounded memory (external sort). */
#ifndef HY_ENTRY_SORT_H
#define HY_ENTRY_SORT_H

#include "base/contract/source.h"
#include "io/formats/entry_reader.h"
#include "partition/move/matrix_file.h"

/* Reads all entries and sets the shape and the arrays of *out, whose context and name are
   set before. Columns ascend within a row. Duplicates are summed in the order of the file,
   so that the result depends neither on the budget nor on the number of threads.

   Uses at most half of the host memory that the engine has left, and keeps a small matrix
   in memory. Larger matrices go through temporary files without a name. The caller closes
   the matrix, also after a failure, and the reader.

   NO_MEMORY, IO_FAILED if a temporary file cannot be written, or the error of the
   reader. */
hybrid_status hy_entry_sort(hy_context *ctx, hy_entry_reader *entries,
                            hy_matrix_file *out);

/* Sets *out to the transpose of a sparse matrix, as hy_entry_sort() does. BAD_MATRIX names
   the row or the entry of A that breaks a rule of hybrid_csr. */
hybrid_status hy_source_transpose(const hy_source *A, hy_matrix_file *out);

#endif /* HY_ENTRY_SORT_H */
