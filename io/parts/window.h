/* io/parts/window.h - a window: successive rows of a matrix in a file, as a matrix. */
#ifndef HY_WINDOW_H
#define HY_WINDOW_H

#include "partition/move/matrix_file.h"

/* Restricts *file to its rows [begin, end), which become rows [0, end - begin). Nothing is
   copied. BAD_FILE if the matrix lacks these rows; BAD_MATRIX if the offsets of the two
   ends are invalid. After a failure *file must be closed. */
hybrid_status hy_matrix_file_window(hy_matrix_file *file, int64_t begin, int64_t end);

#endif /* HY_WINDOW_H */
