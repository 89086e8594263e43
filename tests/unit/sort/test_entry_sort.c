/* tests/unit/sort/test_entry_sort.c - entries in any order become compressed rows.

   Runs, blocks, pieces, batches and the number of threads must not change a bit of the
   result. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/memory/results.h"
#include "io/formats/file_format.h"
#include "io/sort/entry_sort.h"
#include "support/engines/io_fixture.h"
#include "support/subjects/entry_list.h"

static void every_size_of_run_and_block(void **state)
{
    static const struct {
        int64_t run, block, piece, batch;
    } sizes[] = {{0, 4096, 1 << 16, 0}, {0, 1, 3, 7},    {1, 1, 1, 1},
                 {2, 1, 2, 0},          {7, 2, 3, 5},    {100, 3, 16, 0},
                 {997, 1, 64, 13},      {5000, 10, 5, 0}};

    (void)state;
    for (entry_pattern p = 0; p < PATTERNS; p++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            entry_list l = entry_list_make(
                p, sizes[i].run == 0 || sizes[i].run > 50 ? 3000 : 300, 123, 77);
            entry_list_sizes(sizes[i].run, sizes[i].block, sizes[i].piece);
            l.batch = sizes[i].batch;
            entry_list_check(&l, i % 2 ? HYBRID_F32 : HYBRID_F64);
            free(l.entry);
        }
}

/* Values that are all the same are not stored. They are stored from the first other value
   on, wherever it comes, and after the first sum of two of them. */
static void values_may_be_all_the_same(void **state)
{
    static const int64_t others[] = {3000, 0, 1, 1700, 2999};

    (void)state;
    for (entry_pattern p = 0; p < PATTERNS; p++)
        for (size_t i = 0; i < 2 * sizeof others / sizeof *others; i++) {
            entry_list l = entry_list_make(p, 3000, 1 << 20, i % 2 ? 1 << 20 : 77);
            for (int64_t k = 0; k < l.count; k++)
                l.entry[k].value = k < others[i / 2] ? 1 : 1.5;
            entry_list_sizes(i % 3 == 0 ? 200 : 2000, 4, 16);
            entry_list_check(&l, i % 2 ? HYBRID_F32 : HYBRID_F64);
            free(l.entry);
        }
}

static void sizes_may_be_learnt(void **state)
{
    (void)state;
    for (int64_t run = 0; run <= 50; run += 50) {
        entry_list l = entry_list_make(RANDOM, 1000, 40, 5000);
        l.grows      = 1;
        entry_list_sizes(run, 4, 16);
        entry_list_check(&l, HYBRID_F64);
        free(l.entry);
    }
}

static void keys_of_all_widths(void **state)
{
    static const int64_t sizes[][2] = {
        {1, 1}, {1, INT32_MAX}, {1 << 20, 1}, {1 << 20, INT32_MAX}, {257, 511}};

    (void)state;
    for (int i = 0; i < 10; i++) {
        entry_list l = entry_list_make(RANDOM, 20000, sizes[i / 2][0], sizes[i / 2][1]);
        entry_list_sizes(i % 2 ? 3000 : 0, 16, 1000);
        entry_list_check(&l, HYBRID_F64);
        free(l.entry);
    }
}

static void empty_matrices(void **state)
{
    static const int64_t sizes[][2] = {{0, 0}, {0, 5}, {5, 0}, {20000, 3}};

    (void)state;
    for (int i = 0; i < 8; i++) {
        entry_list l = {
            .rows = sizes[i / 2][0], .cols = sizes[i / 2][1], .calls_left = -1};
        entry_list_sizes(i % 2 ? 4 : 0, 4, 16);
        entry_list_check(&l, HYBRID_F64);
    }
}

/* The records, and the matrix, take more than the budget, so that both go to temporary
   files. */
static void memory_is_bounded(void **state)
{
    const int64_t cap = 12 << 20;
    entry_list l      = entry_list_make(RANDOM, 1500000, 300000, 300000);
    hy_matrix_file A;

    (void)state;
    io_ctx->memory.meter.cap = hy_meter_used(&io_ctx->memory.meter) + cap;
    if (entry_list_sort(&l, HYBRID_F64, &A) != HYBRID_OK)
        fail_msg("%s", io_ctx->message.text);
    assert_true(hy_meter_used(&io_ctx->memory.meter) < 1 << 20);
    io_ctx->memory.meter.cap = 0;
    entry_list_expect(&A, &l, 0, HYBRID_F64);
    hy_matrix_file_close(&A);
    free(l.entry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(every_size_of_run_and_block, entry_list_reset),
        cmocka_unit_test_teardown(values_may_be_all_the_same, entry_list_reset),
        cmocka_unit_test_teardown(sizes_may_be_learnt, entry_list_reset),
        cmocka_unit_test_teardown(keys_of_all_widths, entry_list_reset),
        cmocka_unit_test_teardown(empty_matrices, entry_list_reset),
        cmocka_unit_test_teardown(memory_is_bounded, entry_list_reset),
    };
    return cmocka_run_group_tests(tests, io_group_open, io_group_close);
}
