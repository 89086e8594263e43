/* tests/run/calls/test_indices_device.c - index types of a C that stays on a fake device.

   The engine is told a smaller limit than 2^31 - 1 entries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "engine/api/engine.h"
#include "support/fake/fake_memory.h"
#include "support/device/on_device.h"
#include "support/check/oracle.h"
#include "support/fake/settings.h"
#include "support/device/space_world.h"

enum { ASKED = 6, RUNS = 3, CHUNKS = 3 };

typedef struct types {
    hybrid_index offsets, columns;
} types;

static const types asked[ASKED] = {{HYBRID_INDEX_DEFAULT, HYBRID_INDEX_DEFAULT},
                                   {HYBRID_I32, HYBRID_INDEX_DEFAULT},
                                   {HYBRID_I32, HYBRID_I64},
                                   {HYBRID_I64, HYBRID_I32},
                                   {HYBRID_INDEX_DEFAULT, HYBRID_I64},
                                   {HYBRID_INDEX_AUTO, HYBRID_INDEX_AUTO}};

typedef struct world {
    space_world own;
    oracle square;
} world;

static void open_world(world *w)
{
    const hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;

    space_world_open(&options, &w->own);
    oracle_spgemm(&w->own.A, &w->own.A, &w->square);
}

static void close_world(world *w)
{
    oracle_free(&w->square);
    space_world_close(&w->own);
}

static int fits(const world *w)
{
    return w->square.nnz <= settings_of(w->own.engine)->index_max;
}

/* Returns the types that C must have if `ask` is requested. */
static types expected(const world *w, types ask)
{
    const hybrid_index both = fits(w) ? HYBRID_I32 : HYBRID_I64;

    if (ask.offsets == HYBRID_INDEX_AUTO)
        return (types){both, both};
    return (types){ask.offsets ? ask.offsets : HYBRID_I64,
                   ask.columns ? ask.columns : HYBRID_I32};
}

static void check_result(const world *w, types ask, hybrid_csr *C)
{
    const types wanted = expected(w, ask);

    assert_int_equal(C->space, HYBRID_SPACE_DEVICE);
    assert_int_equal(C->offset_type, wanted.offsets);
    assert_int_equal(C->col_type, wanted.columns);
    hybrid_csr here = on_device_fetch(C);
    assert_null(oracle_check(&w->square, &here, 1));
    matrix_free(&here);
    hybrid_csr_free(w->own.engine, C);
}

/* Checks a call that returned `status`. If the request can be met, it must have
   succeeded with C of the expected types; otherwise it must be refused, with C
   unchanged. */
static void check(const world *w, types ask, hybrid_status status, hybrid_csr *C)
{
    hybrid_csr untouched;

    if (ask.offsets != HYBRID_I32 || fits(w)) {
        assert_int_equal(status, HYBRID_OK);
        check_result(w, ask, C);
        return;
    }
    memset(&untouched, 0x5a, sizeof untouched);
    assert_memory_equal(C, &untouched, sizeof untouched);
    space_world_expect(&w->own, status, HYBRID_UNSUPPORTED,
                       "32-bit offsets, which were asked for");
}

static void multiply_once(const world *w, const hybrid_csr *A,
                          const hybrid_plan_options *options)
{
    const types ask = {options->offsets, options->columns};
    hybrid_csr C;

    memset(&C, 0x5a, sizeof C);
    check(w, ask, hybrid_spgemm_with(w->own.engine, options, A, A, &C), &C);
}

/* Runs a plan several times; later runs know the number of entries of C. */
static void multiply_again(const world *w, const hybrid_csr *A,
                           const hybrid_plan_options *options)
{
    const types ask = {options->offsets, options->columns};
    hybrid_plan *plan;
    hybrid_csr C;

    assert_int_equal(hybrid_spgemm_plan(w->own.engine, A, A, options, &plan), HYBRID_OK);
    for (int run = 0; run < RUNS; run++) {
        memset(&C, 0x5a, sizeof C);
        check(w, ask, hybrid_spgemm_run(plan, A, A, &C), &C);
    }
    hybrid_plan_destroy(plan);
}

/* Computes products in one chunk, where arrays of the device may become those of C, and
   in several chunks. Checks the types of C. */
static void check_products(const world *w, const hybrid_csr *A, types ask)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    const int64_t before        = fake_memory_alive();

    options.result_space = HYBRID_SPACE_DEVICE;
    options.offsets      = ask.offsets;
    options.columns      = ask.columns;
    for (int parts = 1; parts <= CHUNKS; parts += CHUNKS - 1) {
        options.chunk_rows = (SPACE_ROWS + parts - 1) / parts;
        options.flags      = 0;
        multiply_once(w, A, &options);
        multiply_again(w, A, &options);
        options.flags = HYBRID_REUSE;
        multiply_again(w, A, &options);
    }
    assert_int_equal(fake_memory_alive(), before); /* all device memory of the products
                                                      was freed */
}

/* C stays on the device. Limits of 32-bit offsets are below, at and above the number of
   entries of C; A is on the host or on the device. */
static void results_there_are_as_asked_for(void **state)
{
    world w;

    (void)state;
    open_world(&w);
    const int64_t nnz      = w.square.nnz;
    const int64_t limits[] = {1, nnz / 2, nnz - 1, nnz, INT32_MAX};
    for (size_t l = 0; l < sizeof limits / sizeof *limits; l++)
        for (int i = 0; i < ASKED; i++) {
            settings_of(w.own.engine)->index_max = limits[l];
            check_products(&w, &w.own.A, asked[i]);
            check_products(&w, &w.own.a, asked[i]);
        }
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_there_are_as_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
