/* tests/support/inputs/blocked_matrix.c - test matrices that consist of blocks. */
#include "tests/support/inputs/blocked.h"
#include "tests/support/inputs/builder.h"

typedef struct pattern {
    int r, c, shift;
    int64_t per_row, holes;
} pattern;

static void add_row(builder *b, const pattern *p, int64_t row)
{
    const int64_t block_row = row / p->r, across = b->cols / p->c;
    const int64_t blocks = block_row % 10 == 3 ? 0
                           : block_row == 7    ? 5 * p->per_row
                                               : p->per_row - block_row % 3;

    for (int64_t k = 0; k < blocks && across > 0; k++) {
        const uint64_t draw = (uint64_t)(block_row * 1000 + k);
        const int64_t first = test_below(51, draw, across) * p->c + p->shift;
        for (int64_t j = first; j < first + p->c && j < b->cols; j++)
            if (p->holes == 0 || (row * 31 + j) % p->holes != 0)
                build_add(b, j);
    }
}

void blocked_matrix(int64_t rows, int64_t cols, int r, int c, int64_t per_row, int shift,
                    int64_t holes, test_kind kind, hybrid_csr *out)
{
    const pattern p = {r, c, shift, per_row, holes};
    builder b       = build_start(rows, cols);

    for (int64_t i = 0; i < rows; i++) {
        add_row(&b, &p, i);
        build_end_row(&b);
    }
    *out = build_finish(&b, 52, kind);
}
