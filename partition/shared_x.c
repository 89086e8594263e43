/* partition/shared_x.c - elements of X as the device holds it for all chunks: rows in
   panels of columns, or columns in slabs, from a caller's X in rows or in columns. */
#include "partition/shared.h"

#include <string.h>

#include "base/csr.h"
#include "partition/turn.h"

enum { AHEAD = 4, EXPECTED = 512 }; /* rows, and bytes of them, that are asked for */

/* Element (row, col) of X. */
static const char *element(const hybrid_dense *X, int64_t row, int64_t col)
{
    return hy_dense_at(X, X->order == HYBRID_ROW_MAJOR ? row * X->ld + col
                                                       : row + col * X->ld);
}

/* Rows [row, row + rows) of an X of which only some are rows of the caller's, columns
   [begin, end), element by element. */
static void copy_listed(const hy_problem *problem, int64_t row, int64_t rows,
                        int64_t begin, int64_t end, const hy_grid *to)
{
    const hybrid_dense *X = problem->X;
    const int in_rows     = X->order == HYBRID_ROW_MAJOR;
    const hy_grid from    = {(char *)X->data + (size_t)(begin * (in_rows ? 1 : X->ld)) *
                                                   hy_value_size(X->type),
                          in_rows ? X->ld : 1, in_rows ? 1 : X->ld};

    hy_copy_listed(to, &from, problem->x_rows + row, rows, end - begin,
                   hy_value_size(X->type));
}

/* Nobody else sees which row is next of those that are listed. */
static void expect(const char *from, size_t bytes)
{
    for (size_t at = 0; at < bytes && at < EXPECTED; at += HY_LINE)
        __builtin_prefetch(from + at);
}

/* Rows [row, row + rows) and columns [begin, end), to rows `ld` elements apart. */
static void copy_rows(const hy_problem *problem, int64_t row, int64_t rows, int64_t begin,
                      int64_t end, char *dst, int64_t ld)
{
    const hybrid_dense *X = problem->X;
    const int32_t *listed = problem->x_rows;
    const size_t size     = hy_value_size(X->type);
    const hy_grid to      = {dst, ld, 1};

    if (X->order == HYBRID_COL_MAJOR && listed)
        copy_listed(problem, row, rows, begin, end, &to);
    else if (X->order == HYBRID_COL_MAJOR)
        hy_turn(element(X, row, begin), X->ld, rows, end - begin, size, dst, ld);
    else
        for (int64_t i = row; i < row + rows; i++, dst += (size_t)ld * size) {
            if (listed && i + AHEAD < row + rows)
                expect(element(X, listed[i + AHEAD], begin),
                       (size_t)(end - begin) * size);
            memcpy(dst, element(X, listed ? listed[i] : i, begin),
                   (size_t)(end - begin) * size);
        }
}

/* The same of a panel, whose rows zeros fill up: its columns [begin, end), `end` perhaps
   among what is filled. */
static void fill_rows(const hy_problem *problem, const hy_x_panel *p, int64_t row,
                      int64_t rows, int64_t begin, int64_t end, char *dst)
{
    const size_t size   = hy_value_size(problem->X->type);
    const int64_t last  = end < p->cols ? end : p->cols;
    const int64_t there = last > begin ? last - begin : 0;

    if (there > 0)
        copy_rows(problem, row, rows, p->begin + begin, p->begin + last, dst, p->ld);
    for (int64_t i = 0; i < rows && there < end - begin; i++)
        memset(dst + (size_t)(i * p->ld + there) * size, 0,
               (size_t)(end - begin - there) * size);
}

/* The same, to columns `ld` elements apart. */
static void copy_cols(const hy_problem *problem, int64_t row, int64_t rows, int64_t begin,
                      int64_t end, char *dst, int64_t ld)
{
    const hybrid_dense *X = problem->X;
    const size_t size     = hy_value_size(X->type);
    const hy_grid to      = {dst, 1, ld};

    if (problem->x_rows) {
        copy_listed(problem, row, rows, begin, end, &to);
        return;
    }
    if (X->order == HYBRID_ROW_MAJOR) {
        hy_turn(element(X, row, begin), X->ld, end - begin, rows, size, dst, ld);
        return;
    }
    for (int64_t j = begin; j < end; j++)
        memcpy(dst + (size_t)((j - begin) * ld) * size, element(X, row, j),
               (size_t)rows * size);
}

/* Elements [begin, end) of one slab of X, of `height` rows from `row` on: the end of a
   column, whole columns, the beginning of a column. */
static void make_slab(const hy_problem *problem, int64_t row, int64_t height,
                      int64_t begin, int64_t end, char *dst)
{
    const size_t size  = hy_value_size(problem->X->type);
    int64_t col        = begin / height;
    const int64_t skip = begin % height;

    if (skip > 0 && begin < end) {
        const int64_t n = end - begin < height - skip ? end - begin : height - skip;
        copy_cols(problem, row + skip, n, col, col + 1, dst, height);
        col++;
        dst += (size_t)n * size;
        begin += n;
    }
    const int64_t whole = (end - begin) / height;
    const int64_t rest  = (end - begin) % height;
    copy_cols(problem, row, height, col, col + whole, dst, height);
    if (rest > 0)
        copy_cols(problem, row, rest, col + whole, col + whole + 1,
                  dst + (size_t)(whole * height) * size, height);
}

void hy_shared_fill_columns(const hy_problem *problem, const hy_x_panel *x, int64_t row,
                            int64_t rows, size_t at, size_t bytes, char *dst)
{
    const size_t size   = hy_value_size(problem->X->type);
    const int64_t begin = rows * x->begin + (int64_t)(at / size);

    make_slab(problem, row, rows, begin, begin + (int64_t)(bytes / size), dst);
}

/* Elements [begin, end) of X in slabs. */
static void make_slabs(const hy_problem *problem, int64_t begin, int64_t end, char *dst)
{
    const hybrid_dense *X = problem->X;
    const int64_t each    = HY_X_SLAB * X->cols;

    while (begin < end) {
        const int64_t slab = begin / each, row = slab * HY_X_SLAB;
        const int64_t height = X->rows - row < HY_X_SLAB ? X->rows - row : HY_X_SLAB;
        const int64_t stop   = end - slab * each < each ? end : (slab + 1) * each;
        make_slab(problem, row, height, begin - slab * each, stop - slab * each, dst);
        dst += (size_t)(stop - begin) * hy_value_size(X->type);
        begin = stop;
    }
}

/* Elements [begin, end) of rows of X: the end of a row, whole rows, the beginning of a
   row. */
static void make_rows(const hy_problem *problem, const hy_x_panel *p, int64_t begin,
                      int64_t end, char *dst)
{
    const size_t size  = hy_value_size(problem->X->type);
    int64_t row        = begin / p->ld;
    const int64_t skip = begin % p->ld;

    if (skip > 0 && begin < end) {
        const int64_t n = end - begin < p->ld - skip ? end - begin : p->ld - skip;
        fill_rows(problem, p, row++, 1, skip, skip + n, dst);
        dst += (size_t)n * size;
        begin += n;
    }
    const int64_t whole = (end - begin) / p->ld;
    const int64_t rest  = (end - begin) % p->ld;
    fill_rows(problem, p, row, whole, 0, p->ld, dst);
    if (rest > 0)
        fill_rows(problem, p, row + whole, 1, 0, rest,
                  dst + (size_t)(whole * p->ld) * size);
}

/* Of a panel what is in its lines, and what lies apart. */
static hy_x_panel lines_of(const hy_x_panel *p)
{
    return (hy_x_panel){.begin = p->begin, .cols = p->cols - p->rest, .ld = p->ld};
}

static hy_x_panel rest_of(const hy_x_panel *p)
{
    return (hy_x_panel){
        .begin = p->begin + p->cols - p->rest, .cols = p->rest, .ld = p->rest_ld};
}

void hy_shared_fill_rows(const hy_problem *problem, const hy_x_panel *x, int64_t row,
                         int64_t rows, char *lines, char *rest)
{
    const hy_x_panel near = lines_of(x), apart = rest_of(x);

    fill_rows(problem, &near, row, rows, 0, near.ld, lines);
    fill_rows(problem, &apart, row, rows, 0, apart.ld, rest);
}

/* Elements [begin, end) of a panel of X: rows, and the rest of each behind them. */
static void make_panel(const hy_problem *problem, const hy_x_panel *p, int64_t begin,
                       int64_t end, char *dst)
{
    const hy_x_panel lines = lines_of(p), rest = rest_of(p);
    const int64_t behind = problem->X->rows * p->ld;
    const int64_t middle = begin > behind ? begin : end < behind ? end : behind;

    if (begin < middle)
        make_rows(problem, &lines, begin, middle, dst);
    if (middle < end)
        make_rows(problem, &rest, middle - behind, end - behind,
                  dst + (size_t)(middle - begin) * hy_value_size(problem->X->type));
}

/* Elements [begin, end) of X in panels. */
static void make_panels(const hy_problem *problem, int64_t begin, int64_t end, char *dst)
{
    while (begin < end) {
        const hy_x_panel p = hy_shared_panel_at(problem, begin);
        const int64_t stop = end < p.end ? end : p.end;
        make_panel(problem, &p, begin - p.first, stop - p.first, dst);
        dst += (size_t)(stop - begin) * hy_value_size(problem->X->type);
        begin = stop;
    }
}

void hy_shared_x_elements(const void *source, int64_t begin, int64_t end, char *dst)
{
    const hy_problem *problem = source;

    (problem->in_cols ? make_slabs : make_panels)(problem, begin, end, dst);
}

int hy_shared_x_is_flat(const hy_problem *problem)
{
    const hybrid_dense *X = problem->X;
    const int in_cols = problem->in_cols, in_rows = X->order == HYBRID_ROW_MAJOR;

    if (problem->x_rows || problem->panels.cols > 0 ||
        (!in_cols && hy_shared_panel(problem, 0).ld != X->cols))
        return 0;
    if (in_rows ? X->ld != X->cols : X->ld != X->rows && X->cols != 1)
        return 0;
    return X->cols == 1 || (in_cols ? !in_rows && X->rows <= HY_X_SLAB : in_rows);
}
