/* tests/unit/partition/test_transpose.c - transposing dense matrices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "partition/move/transpose.h"
#include "support/inputs/cases.h"
#include "support/check/poison.h"

enum { MOST = 37, GAP = 3, BEFORE = 13 };

/* Returns byte k of element (i, j) of the test matrix, which differs from the bytes of
   neighbours. */
static char byte_of(int64_t i, int64_t j, size_t k)
{
    return (char)(i * 7 + j * 31 + (int64_t)k * 101 + 1);
}

static char *block(int64_t elements, size_t size)
{
    return poison_block(BEFORE + (size_t)elements * size);
}

/* Transposes a column-major matrix of `length` columns with `lines` elements of `size`
   bytes each to row-major. The gaps are unused elements between columns and between
   rows. */
static void transpose_one(int64_t lines, int64_t length, size_t size, int64_t gap_from,
                          int64_t gap_to)
{
    const int64_t from_ld = lines + gap_from, to_ld = length + gap_to;
    char *from_block = block(from_ld * length, size);
    char *to_block   = block(to_ld * lines, size);
    char *from = from_block + BEFORE, *to = to_block + BEFORE;

    for (int64_t j = 0; j < length; j++)
        for (int64_t i = 0; i < lines; i++)
            for (size_t k = 0; k < size; k++)
                from[(size_t)(j * from_ld + i) * size + k] = byte_of(i, j, k);
    hy_transpose(from, from_ld, lines, length, size, to, to_ld);
    for (int64_t i = 0; i < lines; i++) {
        const size_t row = (size_t)(i * to_ld) * size;
        for (int64_t j = 0; j < length; j++)
            for (size_t k = 0; k < size; k++)
                assert_int_equal(to[row + (size_t)j * size + k], byte_of(i, j, k));
        const size_t end = BEFORE + row + (size_t)length * size;
        assert_true(poison_intact(to_block, end, end + (size_t)gap_to * size));
    }
    assert_true(poison_intact(to_block, 0, BEFORE));
    assert_true(poison_guard_intact(to_block, BEFORE + (size_t)(to_ld * lines) * size));
    free(from_block);
    free(to_block);
}

/* Transposing is right for shapes that consist of whole squares (the units of the fast
   code), of remainders, or of both. */
static void every_shape_is_turned(void **state)
{
    (void)state;
    for (size_t size = 4; size <= 8; size += 4)
        for (int64_t lines = 0; lines <= MOST; lines++)
            for (int64_t length = 0; length <= MOST; length++)
                transpose_one(lines, length, size, lines % 2 * GAP, length % 3 * GAP);
}

static void long_lines_are_turned(void **state)
{
    (void)state;
    for (size_t size = 4; size <= 8; size += 4) {
        transpose_one(1000, 19, size, GAP, 0);
        transpose_one(19, 1000, size, 0, GAP);
        transpose_one(512, 512, size, 0, 0);
    }
}

/* Stores the numbers of every `how`-th row, or with how == 0 of random rows, in
   `listed`. Returns their number. */
static int64_t list_rows(int64_t rows, int how, int32_t *listed)
{
    int64_t count = 0;

    for (int64_t i = 0; i < rows; i++)
        if (how > 0 ? i % how == 0 : test_hash(3, (uint64_t)i) % 3 == 0)
            listed[count++] = (int32_t)i;
    return count;
}

static void copy_one(int64_t rows, int64_t cols, int how, int orders)
{
    const hy_grid from_grid =
        orders & 1 ? (hy_grid){NULL, 1, rows + GAP} : (hy_grid){NULL, cols + GAP, 1};
    int32_t *listed     = calloc((size_t)rows, sizeof *listed);
    const int64_t count = list_rows(rows, how, listed);
    const hy_grid to_grid =
        orders & 2 ? (hy_grid){NULL, 1, count + GAP} : (hy_grid){NULL, cols + GAP, 1};
    float *from = calloc((size_t)((rows + GAP) * (cols + GAP)), 4);
    float *out  = calloc((size_t)((rows + GAP) * (cols + GAP)), 4);
    hy_grid to = to_grid, source = from_grid;
    int64_t others = 0;

    assert_true(listed && from && out);
    for (int64_t k = 0; k < (rows + GAP) * (cols + GAP); k++)
        from[k] = (float)k;
    to.at     = (char *)out;
    source.at = (char *)from;
    hy_copy_listed(&to, &source, listed, count, cols, 4);
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < cols; j++) {
            float *at = &out[i * to.row + j * to.col];
            assert_true((int64_t)*at == listed[i] * source.row + j * source.col);
            *at = 0;
        }
    for (int64_t k = 0; k < (rows + GAP) * (cols + GAP); k++)
        others += out[k] > 0;
    assert_int_equal(others, 0);
    free(listed);
    free(from);
    free(out);
}

static void listed_rows_are_copied(void **state)
{
    (void)state;
    for (int how = 0; how < 12; how++)
        for (int orders = 0; orders < 4; orders++) {
            copy_one(700, 5, how, orders);
            copy_one(700, 16, how, orders);
            copy_one(31, 45, how, orders);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape_is_turned),
        cmocka_unit_test(long_lines_are_turned),
        cmocka_unit_test(listed_rows_are_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
