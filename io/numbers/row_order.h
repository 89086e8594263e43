/* io/numbers/row_order.h - rows whose columns do not ascend. */
#ifndef HY_ROW_ORDER_H
#define HY_ROW_ORDER_H

#include "io/formats/entry_reader.h"
#include "partition/move/matrix_file.h"

/* Looks at rows of a sparse matrix: the first ones, up to 2^18 entries, and some at 15
   places behind them, up to 2^14 entries each. If the columns of a row do not ascend,
   moves the arrays of *file to the reader *entries, whose caller sorts the entries. Other
   rows are not examined: if only their columns do not ascend, reading them is BAD_MATRIX.

   Writers of files leave all rows unsorted or none, and reading all of a large file would
   take as long as using it. */
hybrid_status hy_row_order_check(hy_matrix_file *file, hy_entry_reader *entries);

#endif /* HY_ROW_ORDER_H */
