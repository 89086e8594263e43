/* tests/run/calls/test_undo.c - a call that fails leaves the engine unchanged.

   After the call the engine counts, has in memory, or has pinned no more bytes than
   before. In these tests memory is too small or files are bad. test_undo_ends.c tests the
   other failures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <unistd.h>

#include "support/engines/io_fixture.h"
#include "support/products/sanitized.h"
#include "support/inputs/stored.h"
#include "support/products/undo.h"

static const test_kind kind = {HYBRID_F64, HYBRID_I64, 1};

/* ---- tests ---- */

static void allocations_fail(void **state)
{
    world w;

    (void)state;
    for (place where = HOST; where < PLACES; where++) {
        undo_open(&w, where);
        undo_write_text(&w);
        undo_fail_all(&w, undo_products, &undo_by_memory);
        undo_fail_all(&w, undo_others, &undo_by_memory);
        undo_close(&w);
    }
}

static void host_memory_is_short(void **state)
{
    world w;

    (void)state;
    for (place where = HOST; where < PLACES; where++) {
        undo_open(&w, where);
        undo_write_text(&w);
        undo_fail_all(&w, undo_products, &undo_by_host_cap);
        undo_fail_all(&w, undo_others, &undo_by_host_cap);
        undo_close(&w);
    }
}

/* Device memory is capped at less than before. Runs of plans that were cut for the
   larger cap must be refused, and leave the engine unchanged. */
static void device_memory_is_short(void **state)
{
    world w;

    (void)state;
    for (place where = DEVICE; where < PLACES; where++) {
        undo_open(&w, where);
        undo_fail_all(&w, undo_allocating, &undo_by_device_cap);
        undo_close(&w);
    }
}

/* Calls that read files which are too short or invalid fail, and leave the engine
   unchanged. */
static void files_are_bad(void **state)
{
    static const char text[] = "%%MatrixMarket matrix coordinate real general\n"
                               "3 3 3\n1 1 1\n2 2 2\n3 4 3\n";
    world w;

    (void)state;
    for (place where = HOST; where < PLACES; where++) {
        undo_open(&w, where);
        io_store(io_temp("a.mtx"), text, sizeof text - 1);
        for (int cold = 0; cold < 2; cold++) {
            if (cold)
                hybrid_engine_trim(w.engine);
            const held before = undo_held(w.engine);
            assert_int_equal(undo_read_text.make(&w), HYBRID_BAD_FILE);
            undo_expect_no_more(&w, &before, "read_text");
            assert_int_equal(truncate(io_temp("a.bin"), 900), 0);
            assert_int_equal(undo_files.make(&w), HYBRID_IO_FAILED);
            undo_expect_no_more(&w, &before, "multiply_files");
            assert_int_equal(undo_dense_file.make(&w), HYBRID_IO_FAILED);
            undo_expect_no_more(&w, &before, "multiply_dense_file");
            stored_write_csr("a", &w.A);
            assert_int_equal(undo_files.make(&w), HYBRID_OK);
        }
        undo_close(&w);
    }
}

/* ---- bytes in memory ---- */

enum { LARGE = 5500, LARGE_EACH = 36, SLACK = 24 << 20 };

/* Returns the bytes of the process that are in physical memory; 0 under a sanitizer,
   which keeps freed pages. */
static int64_t resident_bytes(void)
{
    long long all = 0, resident = 0;

    if (SANITIZED)
        return 0;
    FILE *file = fopen("/proc/self/statm", "r");

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lld %lld", &all, &resident), 2);
    fclose(file);
    return resident * sysconf(_SC_PAGESIZE);
}

static int stop_late(void *user, int64_t done, int64_t rows)
{
    (void)user;
    return done > rows / 2;
}

/* Computes a large product, which fails with the status `wanted` when much of C has been
   stored. The pages of C must have left physical memory, both at once and after a small
   product that succeeds. */
static void expect_small(hybrid_engine *engine, const hybrid_csr *A, hybrid_status wanted)
{
    const int64_t before = resident_bytes();
    hybrid_csr small, C;

    hybrid_engine_progress(engine, wanted == HYBRID_CANCELLED ? stop_late : NULL, NULL);
    assert_int_equal(hybrid_spgemm(engine, A, A, &C), wanted);
    hybrid_engine_progress(engine, NULL, NULL);
    assert_true(resident_bytes() < before + SLACK);
    matrix_random(3, 3, 2, 1, kind, &small);
    assert_int_equal(hybrid_spgemm(engine, &small, &small, &C), HYBRID_OK);
    assert_true(resident_bytes() < before + SLACK);
    hybrid_csr_free(engine, &C);
    matrix_free(&small);
}

/* Pages of a large C (6.3 million entries of 12 bytes) must leave physical memory if the
   call fails. */
static void pages_of_large_results_go(void **state)
{
    hybrid_engine *engine;
    hybrid_csr A;

    (void)state;
    matrix_random(LARGE, LARGE, LARGE_EACH, 5, kind, &A);
    for (place where = HOST; where < DEVICES; where++) {
        undo_open_engine(where, &engine);
        engine->ctx.progress.every_ns = 0;
        expect_small(engine, &A, where == CAPPED ? HYBRID_NO_MEMORY : HYBRID_CANCELLED);
        if (where != CAPPED) {
            engine->ctx.memory.limit = NULL; /* the cap stays as the test sets it */
            engine->ctx.memory.meter.cap =
                hy_meter_used(&engine->ctx.memory.meter) + (64 << 20);
            expect_small(engine, &A, HYBRID_NO_MEMORY);
        }
        hybrid_engine_destroy(engine);
    }
    matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_fail),
        cmocka_unit_test(host_memory_is_short),
        cmocka_unit_test(device_memory_is_short),
        cmocka_unit_test(files_are_bad),
        cmocka_unit_test(pages_of_large_results_go),
    };
    return cmocka_run_group_tests_name("undo", tests, NULL, io_group_remove);
}
