/* tests/support/subjects/tiled_matrices.h - matrices for tests of the tiled format. Their
   values are small integers. */
#ifndef TILED_MATRICES_H
#define TILED_MATRICES_H

#include "tests/support/inputs/builder.h"

/* Makes a band of nine diagonals. With step != 1 its rows are permuted. */
hybrid_csr tiled_band(int64_t rows, int64_t step, test_kind kind);

/* Makes a matrix whose row panels need `width` rows of X each. Tests choose widths that
   need one tile, that fill tiles exactly, or that need one row more. */
hybrid_csr tiled_spread(int64_t rows, int64_t width, test_kind kind);

/* Makes a matrix with short rows, empty rows, and one very long row. */
hybrid_csr tiled_skewed(int64_t rows, int64_t cols, test_kind kind);

/* Makes a matrix with all entries in two columns, in turn: the strips of a panel share
   both, or, once sorted, one. `cols` 1: all are in one column, so that sorting changes
   nothing. */
hybrid_csr tiled_in_turn(int64_t rows, int64_t cols, test_kind kind);

#endif /* TILED_MATRICES_H */
