/* io/numbers/put_rows.h - appends the numbers of rows to regions of a file.

   Each function converts the numbers to the kind that the file has. Indices must fit the
   kind, which the caller chooses by the sizes of the matrix. */
#ifndef HY_PUT_ROWS_H
#define HY_PUT_ROWS_H

#include "io/formats/byte_file.h"
#include "io/numbers/number_kind.h"

/* Appends the offsets behind each row: `before`, the number of entries of earlier rows,
   plus the entries up to the end of the row. */
hybrid_status hy_put_offsets(hy_byte_region *to, hy_number_kind kind,
                             const hybrid_csr *rows, int64_t before);

/* Appends the number of entries of each row. */
hybrid_status hy_put_lengths(hy_byte_region *to, hy_number_kind kind,
                             const hybrid_csr *rows);

/* Appends the column indices of all entries. */
hybrid_status hy_put_columns(hy_byte_region *to, hy_number_kind kind,
                             const hybrid_csr *rows);

/* Appends `count` values of `type`. A value that becomes infinite is BAD_ARGUMENT. */
hybrid_status hy_put_values(hy_byte_region *to, hy_number_kind kind, hybrid_type type,
                            const void *values, int64_t count);

/* Appends a single index, converted to `kind`. */
hybrid_status hy_put_index(hy_byte_region *to, hy_number_kind kind, int64_t index);

#endif /* HY_PUT_ROWS_H */
