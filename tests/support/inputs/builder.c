/* tests/support/inputs/builder.c - builds test matrices row by row. */
#include "tests/support/inputs/builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes > 0 ? bytes : 1);

    if (!memory) {
        fprintf(stderr, "no memory for a test: %zu bytes\n", bytes);
        abort();
    }
    return memory;
}

uint64_t test_hash(uint64_t seed, uint64_t k)
{
    uint64_t x = seed * 0x9e3779b97f4a7c15u + k + 1;
    x          = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x          = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

double test_uniform(uint64_t seed, uint64_t k)
{
    return (double)(test_hash(seed, k) >> 11) * 0x1p-53;
}

int64_t test_below(uint64_t seed, uint64_t k, int64_t limit)
{
    return (int64_t)(test_hash(seed, k) % (uint64_t)limit);
}

/* ---- numbers ---- */

double test_number(uint64_t seed, int64_t k, int integers)
{
    if (!integers)
        return 2 * test_uniform(seed, (uint64_t)k) - 1;
    const double n = (double)test_below(seed, (uint64_t)k, 14) - 7;
    return n < 0 ? n : n + 1;
}

/* ---- building row after row ---- */

builder build_start(int64_t rows, int64_t cols)
{
    builder b    = {.rows = rows, .cols = cols};
    b.row_ptr    = allocate((size_t)(rows + 1) * 8);
    b.row_ptr[0] = 0;
    return b;
}

void build_add(builder *b, int64_t col)
{
    if (b->nnz == b->capacity) {
        b->capacity   = 2 * b->capacity + 64;
        int32_t *more = allocate((size_t)b->capacity * 4);
        if (b->nnz > 0)
            memcpy(more, b->col, (size_t)b->nnz * 4);
        free(b->col);
        b->col = more;
    }
    b->col[b->nnz++] = (int32_t)col;
}

static int ascending(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

void build_end_row(builder *b)
{
    const int64_t begin = b->row_ptr[b->row];
    int64_t kept        = begin;

    if (b->nnz > begin)
        qsort(b->col + begin, (size_t)(b->nnz - begin), 4, ascending);
    for (int64_t k = begin; k < b->nnz; k++)
        if (kept == begin || b->col[kept - 1] != b->col[k])
            b->col[kept++] = b->col[k];
    b->nnz               = kept;
    b->row_ptr[++b->row] = kept;
}

hybrid_csr build_finish(builder *b, uint64_t seed, test_kind kind)
{
    hybrid_csr m;

    while (b->row < b->rows)
        build_end_row(b);
    m = (hybrid_csr){b->rows,    b->cols, b->nnz, kind.offsets,
                     b->row_ptr, b->col,  NULL,   kind.type};
    if (!m.col)
        m.col = allocate(0);
    m.val = allocate((size_t)m.nnz * (kind.type == HYBRID_F64 ? 8 : 4));
    for (int64_t k = 0; k < m.nnz; k++)
        value_set(m.val, m.type, k, test_number(seed, k, kind.integers));
    if (kind.offsets == HYBRID_I32) {
        int32_t *narrow = allocate((size_t)(m.rows + 1) * 4);
        for (int64_t i = 0; i <= m.rows; i++)
            narrow[i] = (int32_t)b->row_ptr[i];
        free(b->row_ptr);
        m.row_ptr = narrow;
    }
    return m;
}

hybrid_csr build_rows(int64_t rows, int64_t cols, int64_t each, int64_t full,
                      test_kind kind)
{
    builder b = build_start(rows, cols);

    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < (i == full ? cols : each); j++)
            build_add(&b, j);
        build_end_row(&b);
    }
    return build_finish(&b, 1, kind);
}

hybrid_csr matrix_widen(const hybrid_csr *A)
{
    hybrid_csr wide = *A;
    int64_t *col    = malloc((size_t)A->nnz * 8 + 1);

    if (!col)
        abort();
    for (int64_t k = 0; k < A->nnz; k++)
        col[k] = ((const int32_t *)A->col)[k];
    wide.col      = col;
    wide.col_type = HYBRID_I64;
    return wide;
}

void matrix_free(hybrid_csr *matrix)
{
    free(matrix->row_ptr);
    free(matrix->col);
    free(matrix->val);
    memset(matrix, 0, sizeof *matrix);
}

void matrix_random(int64_t rows, int64_t cols, double per_row, unsigned seed,
                   test_kind kind, hybrid_csr *out)
{
    builder b  = build_start(rows, cols);
    uint64_t k = 0;

    for (int64_t i = 0; i < rows; i++) {
        const int64_t most = (int64_t)(2 * per_row) + 1;
        int64_t n          = test_below(seed, k++, most);
        for (; n > 0 && cols > 0; n--)
            build_add(&b, test_below(seed, k++, cols));
        build_end_row(&b);
    }
    *out = build_finish(&b, seed + 1u, kind);
}
