/* tests/run/calls/test_indices.c - C with offsets and column indices of 32 and 64 bits.

   Products by the host and by a fake device are computed in every way and compared with
   the oracle. The engine is told a smaller limit than 2^31 - 1 entries. Each allocation
   fails once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "support/products/indices.h"
#include "support/engines/io_fixture.h"
#include "support/fake/settings.h"
#include "support/inputs/stored.h"

static void refuse_or_do(const world *w, hybrid_status status)
{
    assert_int_equal(status, indices_refused(w) ? HYBRID_UNSUPPORTED : HYBRID_OK);
}

/* Requests all types of offsets and columns, with limits of 32-bit offsets below, at and
   above the number of entries of C. The last limit also exceeds the upper bound of
   entries. */
static void check_results(world *w)
{
    const int64_t nnz      = w->product.nnz;
    const int64_t limits[] = {nnz / 2, nnz - 1, nnz, INT32_MAX};

    for (size_t l = 0; l < sizeof limits / sizeof *limits; l++)
        for (int i = 0; i < ASKED; i++) {
            settings_of(w->engine)->index_max = limits[l];
            indices_ask(w, i);
            refuse_or_do(w, indices_once(w, &w->A, &w->B));
            if (indices_refused(w))
                assert_non_null(strstr(hybrid_engine_message(w->engine),
                                       "32-bit offsets, which were asked for"));
            refuse_or_do(w, indices_planned(w, 0, &w->A, &w->B));
            refuse_or_do(w, indices_planned(w, HYBRID_REUSE, &w->A, &w->B));
        }
}

static void results_are_as_asked_for(void **state)
{
    (void)state;
    indices_each(check_results);
}

static void refused(world *w, int offsets, int columns, const char *words)
{
    hybrid_plan *plan;

    w->offsets                  = (hybrid_index)offsets;
    w->columns                  = (hybrid_index)columns;
    const hybrid_plan_options o = indices_options(w, 0);
    assert_int_equal(indices_once(w, &w->A, &w->B), HYBRID_BAD_ARGUMENT);
    assert_non_null(strstr(hybrid_engine_message(w->engine), words));
    assert_int_equal(hybrid_spgemm_plan(w->engine, &w->A, &w->B, &o, &plan),
                     HYBRID_BAD_ARGUMENT);
    assert_int_equal(hybrid_spmm_plan(w->engine, &w->A, WIDTH, &o, &plan),
                     HYBRID_BAD_ARGUMENT);
}

static void options_that_say_nothing(void **state)
{
    hybrid_plan_options o = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_csr C;
    world w;

    (void)state;
    indices_open(&w, 1, HYBRID_F64, HYBRID_I64);
    refused(&w, HYBRID_INDEX_AUTO, HYBRID_INDEX_DEFAULT, "HYBRID_INDEX_AUTO must be");
    refused(&w, HYBRID_I64, HYBRID_INDEX_AUTO, "HYBRID_INDEX_AUTO must be");
    refused(&w, 4, HYBRID_I32, "offsets is 4");
    refused(&w, HYBRID_I64, -1, "columns is -1");
    o.flags = HYBRID_RESIDENT;
    assert_int_equal(hybrid_spgemm_with(w.engine, &o, &w.A, &w.B, &C),
                     HYBRID_BAD_ARGUMENT);
    o.flags = HYBRID_REUSE;
    assert_int_equal(hybrid_spgemm_with(w.engine, &o, &w.A, &w.B, &C),
                     HYBRID_BAD_ARGUMENT);
    assert_int_equal(hybrid_spgemm_with(w.engine, NULL, &w.A, &w.B, NULL),
                     HYBRID_BAD_ARGUMENT);
    o = indices_options(&w, HYBRID_CHECK); /* the call must check operands with every
                                              requested type */
    o.offsets = o.columns = HYBRID_INDEX_DEFAULT;
    o.variant             = "spgemm.none";
    assert_int_equal(hybrid_spgemm_with(w.engine, &o, &w.A, &w.B, &C),
                     HYBRID_UNSUPPORTED);
    indices_close(&w);
}

/* A C of each type can be given to hybrid_verify_spgemm(), which accepts it, and rejects
   it after a change. */
static void check_verified(world *w)
{
    for (int i = 0; i < ASKED; i++) {
        int64_t row = 0;
        hybrid_csr C;
        indices_ask(w, i);
        const hybrid_plan_options o = indices_options(w, 0);
        assert_int_equal(hybrid_spgemm_with(w->engine, &o, &w->A, &w->B, &C), HYBRID_OK);
        assert_int_equal(
            hybrid_verify_spgemm(w->engine, &w->wide_a, &w->B, &C, 3, 1, &row),
            HYBRID_OK);
        assert_int_equal(row, -1);
        value_set(C.val, C.type, C.nnz - 1, 1000);
        assert_int_equal(
            hybrid_verify_spgemm(w->engine, &w->A, &w->wide_b, &C, 9, 1, &row),
            HYBRID_OK);
        assert_true(row >= 0);
        assert_int_equal(hybrid_csr_check(w->engine, &C), HYBRID_OK);
        hybrid_csr_free(w->engine, &C);
    }
}

static void results_are_verified(void **state)
{
    (void)state;
    indices_each(check_verified);
}

static hybrid_status one_shot(world *w)
{
    return indices_once(w, &w->A, &w->B);
}

static hybrid_status three_runs(world *w)
{
    return indices_planned(w, HYBRID_REUSE, &w->A, &w->B);
}

/* Each allocation of a call fails once. The limit of 32-bit offsets is the number of
   entries (wide = 0) or one less (wide = 1), so that offsets or columns are converted at
   the end. */
static void each_allocation_fails_once(void **state)
{
    world w;

    (void)state;
    for (int on_host = 0; on_host < 2; on_host++) {
        indices_open(&w, on_host, HYBRID_F64, HYBRID_I32);
        indices_ask(&w, ASKED - 1);
        for (int wide = 0; wide < 2; wide++) {
            settings_of(w.engine)->index_max = w.product.nnz - wide;
            indices_fail_each(&w, one_shot, 8);
            indices_fail_each(&w, three_runs, 9);
        }
        indices_close(&w);
    }
}

/* Repeats the product with a cap on host memory that grows by 4096 bytes until the
   product succeeds. A refused product must leave no memory behind. */
static void run_out(world *w)
{
    hy_meter *meter      = &w->engine->ctx.memory.meter;
    hybrid_status status = HYBRID_NO_MEMORY;
    int64_t fails        = 0;

    hybrid_engine_trim(w->engine);
    w->engine->ctx.memory.limit = NULL; /* the cap stays as the test sets it */
    const int64_t before = hy_meter_used(meter), cap = meter->cap;
    while (status != HYBRID_OK) {
        meter->cap = before + ++fails * 4096;
        status     = one_shot(w);
        meter->cap = cap;
        assert_true(status == HYBRID_OK || status == HYBRID_NO_MEMORY);
        hybrid_engine_trim(w->engine);
        assert_true(hy_meter_used(meter) == before);
    }
    assert_true(fails > 10);
}

static void memory_runs_out(void **state)
{
    world w;

    (void)state;
    indices_open(&w, 1, HYBRID_F32, HYBRID_I64);
    indices_ask(&w, ASKED - 1);
    for (int wide = 0; wide < 2; wide++) {
        settings_of(w.engine)->index_max = w.product.nnz - wide;
        run_out(&w);
    }
    indices_close(&w);
}

/* Products with A in a file. A is read in parts, and each part gives rows of C as a
   product of its own. */
static void check_files(world *w)
{
    const hybrid_operand A = stored_csr(w->engine, "a", &w->A, 1);
    const hybrid_operand B = {.csr = &w->wide_b};

    settings_of(w->engine)->piece_bytes = 2000;
    for (int few = 0; few < 2; few++)
        for (int i = 0; i < ASKED; i++) {
            settings_of(w->engine)->index_max = w->product.nnz - few;
            indices_ask(w, i);
            const hybrid_plan_options o = indices_options(w, 0);
            hybrid_csr C;
            memset(&C, 0x5a, sizeof C);
            refuse_or_do(
                w, indices_check(w, hybrid_spgemm_files(w->engine, &A, &B, &o, &C), &C));
        }
    hybrid_file_close((hybrid_file *)A.file);
}

static void files_too(void **state)
{
    (void)state;
    indices_each(check_files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_as_asked_for),
        cmocka_unit_test(options_that_say_nothing),
        cmocka_unit_test(results_are_verified),
        cmocka_unit_test(each_allocation_fails_once),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(files_too),
    };
    return cmocka_run_group_tests(tests, NULL, io_group_remove);
}
