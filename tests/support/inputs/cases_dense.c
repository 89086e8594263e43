/* tests/support/inputs/cases_dense.c - dense operands for the cases. */
#include "tests/support/inputs/cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract/image.h"

static const double GAP = 12345; /* value of all unused elements between lines */

static size_t value_size(hybrid_type type)
{
    return type == HYBRID_F64 ? 8 : 4;
}

/* Returns the number of rows (row-major) or columns (column-major). */
static int64_t lines(const hybrid_dense *m)
{
    return m->order == HYBRID_ROW_MAJOR ? m->rows : m->cols;
}

static int64_t line_length(const hybrid_dense *m)
{
    return m->order == HYBRID_ROW_MAJOR ? m->cols : m->rows;
}

double value_at(const void *values, hybrid_type type, int64_t k)
{
    return type == HYBRID_F64 ? ((const double *)values)[k]
                              : (double)((const float *)values)[k];
}

void value_set(void *values, hybrid_type type, int64_t k, double value)
{
    if (type == HYBRID_F64)
        ((double *)values)[k] = value;
    else
        ((float *)values)[k] = (float)value;
}

double dense_at(const hybrid_dense *m, int64_t i, int64_t j)
{
    const int64_t at = m->order == HYBRID_ROW_MAJOR ? i * m->ld + j : i + j * m->ld;
    return value_at(m->data, m->type, at);
}

static void *allocate(const hybrid_dense *m)
{
    const size_t bytes = (size_t)(lines(m) * m->ld) * value_size(m->type);
    void *data         = malloc(bytes > 0 ? bytes : 1);

    if (!data) {
        fprintf(stderr, "no memory for a test: %zu bytes\n", bytes);
        abort();
    }
    return data;
}

void dense_make(int64_t rows, int64_t cols, int64_t gap, hybrid_order order,
                unsigned seed, test_kind kind, hybrid_dense *out)
{
    hybrid_dense m = {rows, cols, 0, order, NULL, kind.type};

    m.ld   = line_length(&m) + gap;
    m.ld   = m.ld > 0 ? m.ld : 1;
    m.data = allocate(&m);
    for (int64_t l = 0; l < lines(&m); l++)
        for (int64_t k = 0; k < m.ld; k++)
            value_set(m.data, m.type, l * m.ld + k,
                      k < line_length(&m) ? test_number(seed, l * m.ld + k, kind.integers)
                                          : GAP);
    *out = m;
}

void dense_copy(const hybrid_dense *from, hybrid_dense *out)
{
    const size_t bytes = (size_t)(lines(from) * from->ld) * value_size(from->type);

    *out      = *from;
    out->data = allocate(from);
    memcpy(out->data, from->data, bytes);
}

void dense_reorder(const hybrid_dense *from, hybrid_order order, int64_t gap,
                   hybrid_dense *out)
{
    const test_kind kind = {from->type, HYBRID_I64, 1};

    dense_make(from->rows, from->cols, gap, order, 1, kind, out);
    for (int64_t i = 0; i < from->rows; i++)
        for (int64_t j = 0; j < from->cols; j++)
            value_set(out->data, out->type,
                      order == HYBRID_ROW_MAJOR ? i * out->ld + j : j * out->ld + i,
                      dense_at(from, i, j));
}

/* LINE is the longest cache line, in bytes, to which column blocks of X are aligned. */
enum { LINE = HY_X_LINE, UNTOUCHED = 0xa5 };

void *dense_move(const hybrid_dense *from, size_t bytes, hybrid_dense *out)
{
    const size_t size = (size_t)(lines(from) * from->ld) * value_size(from->type);
    const size_t room = (bytes + size + LINE) / LINE * LINE;
    char *line        = aligned_alloc(LINE, room);

    if (!line)
        abort();
    memset(line, UNTOUCHED, bytes);
    memcpy(line + bytes, from->data, size);
    *out      = *from;
    out->data = line + bytes;
    return line;
}

int dense_moved_intact(const void *line, const hybrid_dense *matrix)
{
    const unsigned char *end = matrix->data;

    for (const unsigned char *at = line; at < end; at++)
        if (*at != UNTOUCHED)
            return 0;
    return 1;
}

void dense_free(hybrid_dense *matrix)
{
    free(matrix->data);
    memset(matrix, 0, sizeof *matrix);
}

void dense_set(hybrid_dense *m, double value)
{
    for (int64_t l = 0; l < lines(m); l++)
        for (int64_t k = 0; k < line_length(m); k++)
            value_set(m->data, m->type, l * m->ld + k, value);
}

int dense_gaps_intact(const hybrid_dense *m)
{
    for (int64_t l = 0; l < lines(m); l++)
        for (int64_t k = line_length(m); k < m->ld; k++)
            if (value_at(m->data, m->type, l * m->ld + k) != GAP)
                return 0;
    return 1;
}
