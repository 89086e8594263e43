/* tests/support/subjects/tiled_matrices.c - matrices for tests of the tiled format. */
#include "tests/support/subjects/tiled_matrices.h"

#include "tests/support/inputs/cases.h"

hybrid_csr tiled_band(int64_t rows, int64_t step, test_kind kind)
{
    builder b = build_start(rows, rows);

    for (int64_t i = 0; i < rows; i++) {
        const int64_t middle = i * step % rows;
        for (int64_t j = middle - 4; j <= middle + 4; j++)
            if (j >= 0 && j < rows)
                build_add(&b, j);
        build_end_row(&b);
    }
    return build_finish(&b, 8, kind);
}

hybrid_csr tiled_spread(int64_t rows, int64_t width, test_kind kind)
{
    builder b = build_start(rows, width);

    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = i % 256; j < width; j += 256)
            build_add(&b, j);
        build_end_row(&b);
    }
    return build_finish(&b, 8, kind);
}

hybrid_csr tiled_skewed(int64_t rows, int64_t cols, test_kind kind)
{
    builder b = build_start(rows, cols);

    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < (i == rows / 2 ? 4000 : i % 5); j++)
            build_add(&b, test_below(3, (uint64_t)(9 * i + j), cols));
        build_end_row(&b);
    }
    return build_finish(&b, 8, kind);
}

hybrid_csr tiled_in_turn(int64_t rows, int64_t cols, test_kind kind)
{
    builder b = build_start(rows, cols);

    for (int64_t i = 0; i < rows; i++) {
        build_add(&b, i % cols);
        build_end_row(&b);
    }
    return build_finish(&b, 8, kind);
}
