/* tests/run/device/test_wrapped.c - copies of column blocks that wrap.

   Block 0 then contains the last columns of each row and the first columns of the next
   row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/data/csr.h"
#include "partition/format/pack.h"
#include "partition/move/sources.h"
#include "partition/move/storing.h"
#include "tests/support/engines/all_pinned.h"
#include "tests/support/inputs/cases.h"

enum { ROWS = 9, LINE = 128 };

static const test_kind kinds[] = {{HYBRID_F32, HYBRID_I32, 1},
                                  {HYBRID_F64, HYBRID_I64, 1}};

/* Row ranges that are copied at a time. */
static const int64_t cuts[] = {0, 1, 5, 5, ROWS};

/* The X and Y of a problem with column blocks. Y begins at some offset in a cache
   line. */
typedef struct wrapped {
    hy_problem problem;
    hybrid_dense x, X, y, Y;
    void *x_line, *y_line;
} wrapped;

/* Returns the image of X in column blocks of `cols` columns. */
static hy_image in_blocks(const hybrid_dense *X, int64_t cols)
{
    hy_image image = hy_image_of_dense(HY_FORM_ROWS, X->rows, X->cols, X->type, 0);

    image.axis   = HY_AXIS_COLS;
    image.places = 2;
    image.block = image.last = image.pitch = cols;
    return image;
}

static void make(wrapped *w, test_kind kind, int64_t lines, int64_t cols, size_t shift)
{
    const int64_t size = (int64_t)hy_value_size(kind.type), line = LINE / size;

    memset(w, 0, sizeof *w);
    dense_make(ROWS, lines * line, 0, HYBRID_ROW_MAJOR, 1, kind, &w->x);
    dense_make(ROWS, lines * line, 0, HYBRID_ROW_MAJOR, 2, kind, &w->y);
    w->x_line         = dense_move(&w->x, 16, &w->X);
    w->y_line         = dense_move(&w->y, shift, &w->Y);
    w->problem        = (hy_problem){.op = HY_SPMM, .X = &w->X, .Y = &w->Y, .alpha = 1};
    w->problem.source = hy_source_dense(&all_pinned, &w->X);
    w->problem.image  = in_blocks(&w->X, cols * line);
    w->problem.image.last += 3;
    w->problem.image.places = (lines + cols - 1) / cols;
    assert_true(hy_image_wrap(&w->problem.image, &w->X, &w->Y));
}

static void drop(wrapped *w)
{
    free(w->x_line);
    free(w->y_line);
    dense_free(&w->x);
    dense_free(&w->y);
}

/* Returns the column of X in column j of block k. */
static int64_t column(const wrapped *w, int64_t k, int64_t j)
{
    const hy_image *p = &w->problem.image;

    if (k > 0)
        return k * p->block - p->back + j;
    return j < p->block - p->back ? j : w->X.cols - p->block + j;
}

static void copy(const hy_row_copy *c)
{
    for (int64_t i = 0; i < c->rows; i++)
        memcpy((char *)c->dst + (size_t)i * c->dst_pitch,
               (const char *)c->src + (size_t)i * c->src_pitch, c->bytes);
}

/* Checks that each column is in exactly one block. */
static void check_columns(const wrapped *w)
{
    const int64_t cols = w->X.cols, panels = hy_image_blocks(&w->problem.image);
    unsigned char *seen = calloc((size_t)cols, 1);

    for (int64_t k = 0; k < panels; k++)
        for (int64_t j = 0; j < hy_image_region(&w->problem.image, k).cols; j++)
            seen[column(w, k, j)]++;
    for (int64_t j = 0; j < cols; j++)
        assert_int_equal(seen[j], 1);
    free(seen);
}

static void check_x(wrapped *w)
{
    const size_t bytes     = hy_image_room(&w->problem.image);
    w->problem.shared.ptr  = calloc(bytes, 1);
    const hy_problem *p    = &w->problem;
    const hybrid_type type = w->X.type;
    const int64_t panels   = hy_image_blocks(&p->image);

    for (int64_t k = 0; k < panels; k++) {
        const hy_region x = hy_image_region(&p->image, k);
        char *rows        = (char *)p->shared.ptr + x.at;
        hy_row_copy copies[HY_ROW_COPIES];
        for (size_t c = 0; c + 1 < sizeof cuts / sizeof *cuts; c++) {
            if (cuts[c + 1] == cuts[c])
                continue;
            const hy_rect rect = {cuts[c], cuts[c + 1] - cuts[c], x.begin, x.cols};
            char *to    = (char *)p->shared.ptr + hy_image_row_at(&p->image, &x, cuts[c]);
            const int n = p->source.ops->lines(&p->source, &rect, x.wrapped, to, copies);
            assert_int_equal(n, x.wrapped > 0 ? HY_ROW_COPIES : 1);
            for (int i = 0; i < n; i++)
                copy(&copies[i]);
        }
        assert_int_equal(x.ld, x.cols);
        for (int64_t i = 0; i < ROWS; i++)
            for (int64_t j = 0; j < x.cols; j++)
                assert_true(value_at(rows, type, i * x.ld + j) ==
                            dense_at(&w->X, i, column(w, k, j)));
    }
    free(w->problem.shared.ptr);
}

/* Returns the result of a chunk: 1000 * row + column of Y. */
static void *sums_of(const wrapped *w, const hy_chunk *chunk, int64_t panel)
{
    const int64_t width = chunk->col_end - chunk->col_begin;
    void *sums          = calloc((size_t)(ROWS * width), 8);

    for (int64_t i = chunk->row_begin; i < chunk->row_end; i++)
        for (int64_t j = 0; j < width; j++)
            value_set(sums, w->Y.type, (i - chunk->row_begin) * width + j,
                      (double)(1000 * i + column(w, panel, j)));
    return sums;
}

static int in_lines(const hy_row_copy *c)
{
    return (uintptr_t)c->dst % LINE == 0 && c->bytes % LINE == 0;
}

static void store_chunk(const wrapped *w, const hy_chunk *chunk, int64_t panel)
{
    void *sums             = sums_of(w, chunk, panel);
    const hy_image *image  = &w->problem.image;
    const hy_update update = {w->problem.Y, w->problem.alpha, w->problem.beta};
    const hy_part part     = {.chunk    = chunk,
                              .order    = HYBRID_ROW_MAJOR,
                              .rows     = {.val = sums},
                              .by_lines = image->axis == HY_AXIS_COLS,
                              .wrapped  = hy_image_wrapped(image, chunk->col_begin)};
    hy_row_copy copies[HY_ROW_COPIES];
    const int n = hy_storing_home(&update, &part, copies);

    assert_int_equal(n, panel == 0 && w->problem.image.wraps ? HY_ROW_COPIES : 1);
    for (int i = 0; i < n; i++)
        copy(&copies[i]);
    assert_true(in_lines(&copies[n / 2])); /* the chunk with most rows */
    free(sums);
}

static void check_y(const wrapped *w)
{
    const hy_image *image = &w->problem.image;

    for (int64_t k = 0; k < hy_image_blocks(image); k++)
        for (size_t c = 0; c + 1 < sizeof cuts / sizeof *cuts; c++) {
            hy_chunk chunk = {.row_begin = cuts[c],
                              .row_end   = cuts[c + 1],
                              .col_begin = hy_image_begin(image, k)};
            chunk.col_end  = chunk.col_begin + hy_image_width(image, k);
            if (cuts[c] < cuts[c + 1])
                store_chunk(w, &chunk, k);
        }
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < w->Y.cols; j++)
            assert_true(dense_at(&w->Y, i, j) == (double)(1000 * i + j));
    assert_true(dense_moved_intact(w->y_line, &w->Y));
}

static void every_place_within_a_line(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2; k++)
        for (int64_t lines = 2; lines < 6; lines++)
            for (int64_t cols = 1; cols < lines; cols++)
                for (size_t shift = 0; shift < LINE;
                     shift += hy_value_size(kinds[k].type)) {
                    wrapped w;
                    make(&w, kinds[k], lines, cols, shift);
                    check_columns(&w);
                    check_x(&w);
                    check_y(&w);
                    drop(&w);
                }
}

/* Gaps between rows, blocks that are not whole cache lines, and column-major operands
   prevent wrapping. */
static void others_do_not_wrap(void **state)
{
    hybrid_dense X, Y;

    (void)state;
    for (int gap = 0; gap < 4; gap++) {
        dense_make(ROWS, 64, gap % 2, HYBRID_ROW_MAJOR, 1, kinds[0], &X);
        dense_make(ROWS, 64, gap / 2, HYBRID_ROW_MAJOR, 1, kinds[0], &Y);
        hy_image image = in_blocks(&X, 32);
        assert_int_equal(hy_image_wrap(&image, &X, &Y), gap == 0);
        Y.order = HYBRID_COL_MAJOR;
        assert_false(hy_image_wrap(&image, &X, &Y));
        dense_free(&X);
        dense_free(&Y);
    }
    dense_make(ROWS, 80, 0, HYBRID_ROW_MAJOR, 1, kinds[0], &X);
    hy_image image = in_blocks(&X, 32);
    assert_false(hy_image_wrap(&image, &X, &X));
    dense_free(&X);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_place_within_a_line),
        cmocka_unit_test(others_do_not_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
