/* host/spmm/spmm_host_columns.c - a piece of Y = alpha*A*X + beta*Y for a column-major Y.

   If each row were stored at once, it would write to as many cache lines as it has
   columns, and lines a power of two apart share few sets of the cache. Therefore, a few
   rows at a time are computed into a sheet (a small row-major matrix in the cache),
   transposed there, and stored as parts of columns. Long rows do not use a sheet, because
   several workers may compute their sums. */
#include <string.h>

#include "base/data/min_max.h"
#include "base/data/value_type.h"
#include "host/spmm/spmm_host.h"
#include "partition/move/transpose.h"

enum {
    SHEET_BYTES = 1 << 15,
    LEAST_ROWS  = 16, /* minimum rows of a sheet, so that parts of columns fill cache
                         lines */
    LINES = 16        /* columns that are transposed at a time */
};

/* The rows of Y and the columns of the chunk that are computed in one sheet. */
typedef struct part {
    int64_t row, rows, col, cols;
} part;

#define DEFINE_ADD(NAME, T)                                                              \
    static void NAME(const T *from, int64_t count, T beta, T *to)                        \
    {                                                                                    \
        for (int64_t i = 0; i < count; i++)                                              \
            to[i] = from[i] + beta * to[i];                                              \
    }

DEFINE_ADD(add_f32, float)
DEFINE_ADD(add_f64, double)

/* Stores `lines` parts of columns of Y at `to`, of `rows` elements each: Y = from + beta
 * Y. At `from` the parts lie one behind the other. */
static void store(const hy_dense_product *p, const void *from, int64_t lines,
                  int64_t rows, char *to)
{
    const size_t size  = hy_value_size(p->A->type);
    const size_t bytes = (size_t)rows * size, step = (size_t)p->y_col * size;

    if (p->stream) {
        hy_copy_rows_past(to, step, from, bytes, bytes, (size_t)lines);
        return;
    }
    for (int64_t i = 0; i < lines; i++, to += step) {
        const void *line = (const char *)from + (size_t)i * bytes;
        if (p->beta == 0)
            memcpy(to, line, bytes);
        else if (size == 8)
            add_f64(line, rows, p->beta, (double *)(void *)to);
        else
            add_f32(line, rows, (float)p->beta, (float *)(void *)to);
    }
}

static void make_sheet(const hy_dense_product *p, const part *s)
{
    const size_t size     = hy_value_size(p->A->type);
    hy_dense_product rows = *p;
    _Alignas(HY_LINE) char sheet[SHEET_BYTES], transposed[SHEET_BYTES];

    rows.x = (const char *)p->x + (size_t)s->col * size;
    /* the address that row 0 of Y would have in the sheet */
    rows.y      = (void *)((uintptr_t)sheet - (uintptr_t)(s->row * s->cols) * size);
    rows.y_row  = s->cols;
    rows.y_col  = 1;
    rows.n      = s->cols;
    rows.beta   = 0;
    rows.stream = 0;
    hy_dense_product_piece(&rows, &(hy_piece){{s->row, 0}, {s->row + s->rows, 0}});
    for (int64_t j = 0; j < s->cols; j += LINES) {
        const int64_t lines = hy_min(LINES, s->cols - j);
        hy_transpose(sheet + (size_t)j * size, s->cols, lines, s->rows, size, transposed,
                     s->rows);
        store(p, transposed, lines, s->rows,
              (char *)p->y + (size_t)(s->row + (s->col + j) * p->y_col) * size);
    }
}

static int is_long(const hy_dense_product *p, int64_t row)
{
    return hy_segments(hy_offset(p->A, row + 1) - hy_offset(p->A, row)) > 1;
}

/* Computes rows [begin, end) sheet by sheet; the caller ensures that none of them is long
   (spmm_host.h). */
static void make_rows(const hy_dense_product *p, int64_t begin, int64_t end)
{
    const int64_t most = SHEET_BYTES / (int64_t)hy_value_size(p->A->type);
    const int64_t cols = hy_min(p->n, most / LEAST_ROWS), rows = most / cols;

    for (int64_t i = begin; i < end; i += rows)
        for (int64_t j = 0; j < p->n; j += cols)
            make_sheet(p, &(part){i, hy_min(rows, end - i), j, hy_min(cols, p->n - j)});
}

/* Computes the segments of a long row, from `at` on, that belong to the piece. Returns
   where the rest of the piece begins. */
static hy_row_cut make_long(const hy_dense_product *p, const hy_piece *w, hy_row_cut at)
{
    const hy_row_cut end = at.row == w->end.row ? w->end : (hy_row_cut){at.row + 1, 0};
    hy_dense_product row = *p;

    row.stream = 0;
    hy_dense_product_piece(&row, &(hy_piece){at, end});
    return end;
}

void hy_dense_product_columns(const hy_dense_product *p, const hy_piece *w)
{
    hy_row_cut at = w->begin;

    while (at.row < w->end.row || at.segment < w->end.segment) {
        int64_t end = at.row;
        if (is_long(p, at.row)) {
            at = make_long(p, w, at);
            continue;
        }
        while (end < w->end.row && !is_long(p, end))
            end++;
        make_rows(p, at.row, end);
        at = (hy_row_cut){end, 0};
    }
}
