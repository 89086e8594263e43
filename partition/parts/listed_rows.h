/* partition/parts/listed_rows.h - reads listed rows of a sparse operand in a file.

   Rows that are close to each other in the file are read together with the gap between
   them. One call for each short row would take longer than reading the unwanted bytes. */
#ifndef HY_LISTED_ROWS_H
#define HY_LISTED_ROWS_H

#include "base/contract/source.h"

typedef struct hy_listed_rows {
    const hy_source *source;
    const int32_t *rows; /* numbers of the rows, ascending */
    int64_t count;       /* number of rows */
    int64_t *at;         /* for each row, the position of its first entry in the file's
                            arrays */
    int64_t *offsets;    /* offset of each row in a matrix that consists of these rows;
                            count + 1 numbers, the last of which is the number of all
                            entries */
} hy_listed_rows;

/* Fills list->at and list->offsets, for which the caller provides memory. The function
   uses all workers. */
hybrid_status hy_listed_rows_find(hy_listed_rows *list);

/* Reads the columns and values of the rows, which hy_listed_rows_find() has found, to
   `col` and `val`. Numbers are not checked. The function uses all workers. */
hybrid_status hy_listed_rows_read(const hy_listed_rows *list, int32_t *col, void *val);

#endif /* HY_LISTED_ROWS_H */
