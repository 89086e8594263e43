/* tests/unit/partition/test_rows.c - memory for results, and storing dense rows in Y. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "partition/format/pack.h"
#include "base/contract/image.h"
#include "partition/move/storing.h"
#include "tests/support/inputs/cases.h"
#include "tests/support/engines/group.h"
#include "tests/support/check/poison.h"

static int homes; /* number of chunks that may be copied directly to Y, counted by
                     check_home() */

static const test_kind kinds[]     = {{HYBRID_F32, HYBRID_I32, 1},
                                      {HYBRID_F64, HYBRID_I64, 0}};
static const hybrid_order orders[] = {HYBRID_ROW_MAJOR, HYBRID_COL_MAJOR};

static void results_have_their_room(void **state)
{
    (void)state;
    for (int with = 0; with < 2; with++)
        for (int64_t rows = 1; rows < 100; rows += 31)
            for (int64_t entries = 0; entries < 300; entries += 77) {
                const hy_features f = {
                    .rows = rows, .out_bound = entries, .type = HYBRID_F64};
                const size_t bytes = hy_rows_bytes(HY_SPGEMM, &f, with);
                char *block        = poison_block(bytes);
                const hy_rows r    = hy_rows_in(block, HY_SPGEMM, &f, with);
                char *end          = (char *)(r.row_ptr + rows + 1);
                assert_ptr_equal(r.row_ptr, block);
                assert_true(with == (r.row_at != NULL));
                if (with) {
                    assert_true((char *)r.row_at >= end);
                    end = (char *)(r.row_at + rows);
                }
                assert_true((char *)r.col >= end);
                assert_true((char *)r.val >= (char *)(r.col + entries));
                assert_true((char *)r.val + entries * 8 == block + bytes);
                assert_int_equal(((uintptr_t)r.col | (uintptr_t)r.val) % 256, 0);
                free(block);
            }
}

static double expected(const hy_problem *p, const hybrid_dense *before, double sum,
                       int64_t i, int64_t j)
{
    double y = p->alpha * sum;

    if (p->beta != 0)
        y += p->beta * dense_at(before, i, j);
    return p->Y->type == HYBRID_F32 ? (double)(float)y : y;
}

static hybrid_order order_of(const hy_problem *p)
{
    return hy_form_order(p->image.form);
}

/* Returns the index of element (i, j) in the array of a chunk's result of rows x width
   elements, in the image's order. */
static int64_t at(const hy_problem *p, int64_t i, int64_t j, int64_t rows, int64_t width)
{
    return order_of(p) == HYBRID_COL_MAJOR ? i + j * rows : i * width + j;
}

/* Checks hy_storing_home(): if elements of a chunk's result are as far apart as in Y and
   are not scaled or added to (alpha 1, beta 0), it must return the address in Y to which
   they can be copied as one line (their home), else nothing. */
static void check_home(const hy_problem *p, const hy_part *part, int64_t rows,
                       int64_t width)
{
    const hybrid_dense *Y = p->Y;
    const int in_rows     = Y->order == HYBRID_ROW_MAJOR;
    const int64_t by_row = in_rows ? Y->ld : 1, by_col = in_rows ? 1 : Y->ld;
    const int64_t first =
        part->chunk->row_begin * by_row + part->chunk->col_begin * by_col;
    int flat = rows * width > 0 && p->alpha == 1 && p->beta == 0;

    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < width; j++)
            flat &= i * by_row + j * by_col == at(p, i, j, rows, width);
    char *home             = (char *)Y->data + first * (Y->type == HYBRID_F64 ? 8 : 4);
    const hy_update update = {p->Y, p->alpha, p->beta};
    hy_row_copy copy;
    assert_int_equal(hy_storing_home(&update, part, &copy), flat);
    assert_true(!flat || (copy.dst == home && copy.rows == 1));
    homes += flat;
}

/* Stores a chunk's sums in the middle of Y, with p's alpha and beta, and checks Y. The
   rest of Y must not change. */
static void check_store(hy_problem *p, const hy_chunk *chunk, const void *sums)
{
    const int64_t width    = chunk->col_end - chunk->col_begin;
    const int64_t rows     = chunk->row_end - chunk->row_begin;
    const hy_update update = {p->Y, p->alpha, p->beta};
    const hy_part part     = {
            .chunk = chunk, .rows = {.val = (void *)(uintptr_t)sums}, .order = order_of(p)};
    hy_storing storing = hy_storing_of(&update, &part, NULL);
    hybrid_dense before;

    check_home(p, &part, rows, width);
    dense_copy(p->Y, &before);
    if (p->beta == 0)
        dense_set(p->Y, 0.0 / 0.0);
    assert_int_equal(hy_store_dense(ctx->pool, &storing), HYBRID_OK);
    for (int64_t i = 0; i < p->Y->rows; i++)
        for (int64_t j = 0; j < p->Y->cols; j++) {
            const double y  = dense_at(p->Y, i, j);
            const int64_t r = i - chunk->row_begin, c = j - chunk->col_begin;
            const int inside =
                r >= 0 && i < chunk->row_end && c >= 0 && j < chunk->col_end;
            if (inside)
                assert_true(y ==
                            expected(p, &before,
                                     value_at(sums, p->Y->type, at(p, r, c, rows, width)),
                                     i, j));
            else
                assert_true(p->beta == 0 ? y != y : y == dense_at(&before, i, j));
        }
    assert_true(dense_gaps_intact(p->Y));
    dense_free(&before);
}

static void rows_are_stored(void **state)
{
    static const double scales[][2]  = {{1, 0}, {2.5, 0}, {1, 1}, {-0.3, 0.7}, {0, 2}};
    static const int64_t shapes[][2] = {{2000, 1}, {300, 70}, {1, 1}, {1, 300}};

    (void)state;
    for (size_t k = 0; k < 2; k++)
        for (size_t s = 0; s < 4; s++)
            for (int order = 0; order < 2; order++)
                for (int64_t gap = 0; gap < 2; gap++)
                    for (size_t a = 0; a < 5; a++) {
                        const int64_t rows = shapes[s][0], cols = shapes[s][1];
                        hybrid_dense sums, Y;
                        dense_make(rows, cols, 0, HYBRID_ROW_MAJOR, 7, kinds[k], &sums);
                        dense_make(rows, cols, gap, orders[order], 8, kinds[k], &Y);
                        hy_problem p         = {.op    = HY_SPMM,
                                                .ctx   = ctx,
                                                .Y     = &Y,
                                                .alpha = scales[a][0],
                                                .beta  = scales[a][1]};
                        const hy_chunk all   = {.row_end = rows, .col_end = cols};
                        const hy_chunk inner = {.row_begin = rows / 3,
                                                .row_end   = rows - rows / 5,
                                                .col_begin = cols / 4,
                                                .col_end   = cols - cols / 6};
                        for (int cols_first = 0; cols_first < 2; cols_first++) {
                            p.image.form = cols_first ? HY_FORM_SLABS : HY_FORM_ROWS;
                            check_store(&p, &all, sums.data);
                            check_store(&p, &inner, sums.data);
                        }
                        dense_free(&sums);
                        dense_free(&Y);
                    }
    assert_true(homes > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_have_their_room),
        cmocka_unit_test(rows_are_stored),
    };
    return cmocka_run_group_tests_name("rows", tests, open_context, close_context);
}
