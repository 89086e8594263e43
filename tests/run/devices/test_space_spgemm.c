/* tests/run/devices/test_space_spgemm.c - SpGEMM with operands and results in the memory
   of a fake device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "engine/api/engine.h"
#include "support/inputs/cases.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fake_memory.h"
#include "support/fake/fake_spmm.h"
#include "support/device/on_device.h"
#include "support/check/oracle.h"

enum { A_THERE = 1, B_THERE = 2, C_THERE = 4, PLACES = 8, RUNS = 3 };

static const hy_variant *const table[] = {&hy_spgemm_fake_esc, &hy_spgemm_fake_dup, NULL};

typedef struct trial {
    hybrid_engine *engine;
    test_kind kind;
    int places;  /* bits A_THERE, B_THERE, ...: the operand is on the device */
    int squared; /* 1: B is A, passed as one operand */
    int64_t rows, inner, cols;
    double per_row;
    size_t skew;
    unsigned seed;
    hybrid_plan_options options;
    int runs; /* number of runs of a plan; 0: a one-shot call */
} trial;

typedef struct operands {
    hybrid_csr A, B, a_there, b_there;
    const hybrid_csr *b; /* B as it is passed to the call: on the device or on the host */
} operands;

static hybrid_csr there(const trial *t, const hybrid_csr *A)
{
    return t->seed % 4 == 0 ? on_device_wide(0, A, t->skew)
                            : on_device_csr(0, A, t->skew);
}

static void make(const trial *t, operands *o)
{
    const int b_there = t->squared ? t->places & A_THERE : t->places & B_THERE;

    matrix_random(t->rows, t->inner, t->per_row, t->seed, t->kind, &o->A);
    matrix_random(t->inner, t->cols, t->per_row, t->seed + 1, t->kind, &o->B);
    o->a_there = t->places & A_THERE ? there(t, &o->A) : o->A;
    o->b_there = b_there && !t->squared ? there(t, &o->B) : o->B;
    o->b       = t->squared ? &o->a_there : &o->b_there;
}

static void free_all(const trial *t, operands *o)
{
    if (t->places & A_THERE)
        on_device_csr_free(&o->a_there);
    if (t->places & B_THERE && !t->squared)
        on_device_csr_free(&o->b_there);
    matrix_free(&o->A);
    matrix_free(&o->B);
    assert_int_equal(fake_memory_alive(), 0);
}

static void check_result(const trial *t, const oracle *reference, hybrid_csr *C)
{
    hybrid_csr here = *C;

    assert_int_equal(C->space,
                     t->places & C_THERE ? HYBRID_SPACE_DEVICE : HYBRID_SPACE_HOST);
    if (t->places & C_THERE)
        here = on_device_fetch(C);
    const char *difference = oracle_check(reference, &here, t->kind.integers);
    if (difference)
        fail_msg("places %d, seed %u: %s", t->places, t->seed, difference);
    if (t->places & C_THERE)
        matrix_free(&here);
    hybrid_csr_free(t->engine, C);
    assert_null(C->row_ptr);
}

static hybrid_status run_planned(const trial *t, const operands *o,
                                 const oracle *reference)
{
    hybrid_status status = HYBRID_OK;
    hybrid_plan *plan;
    hybrid_csr C;

    HY_TRY(hybrid_spgemm_plan(t->engine, &o->a_there, o->b, &t->options, &plan));
    const int64_t fetched = fake_fetched();
    for (int run = 0; run < t->runs && status == HYBRID_OK; run++) {
        status = hybrid_spgemm_run(plan, &o->a_there, o->b, &C);
        if (status == HYBRID_OK)
            check_result(t, reference, &C);
    }
    assert_int_equal(fake_fetched(), fetched); /* runs have read no pattern from the
                                                  device; planning has */
    hybrid_plan_destroy(plan);
    return status;
}

static hybrid_status run(const trial *t, const operands *o, const oracle *reference)
{
    hybrid_csr C;

    if (t->runs > 0)
        return run_planned(t, o, reference);
    HY_TRY(hybrid_spgemm_with(t->engine, &t->options, &o->a_there, o->b, &C));
    check_result(t, reference, &C);
    return HYBRID_OK;
}

static void check(const trial *t)
{
    const int all        = t->squared ? A_THERE | C_THERE : PLACES - 1;
    hybrid_report report = HYBRID_REPORT_INIT;
    oracle reference;
    operands o;

    make(t, &o);
    oracle_spgemm(&o.A, t->squared ? &o.A : &o.B, &reference);
    const int64_t up = fake_copied(HY_DEVICE), down = fake_copied(HY_PINNED);
    if (run(t, &o, &reference) != HYBRID_OK)
        fail_msg("places %d, seed %u: %s", t->places, t->seed,
                 hybrid_engine_message(t->engine));
    assert_int_equal(hybrid_engine_report(t->engine, &report), HYBRID_OK);
    if ((t->places & all) == all) {
        assert_int_equal(report.h2d_bytes, 0);
        assert_int_equal(report.d2h_bytes, 0);
        assert_int_equal(report.predicted_h2d_bytes, 0);
        assert_int_equal(report.predicted_d2h_bytes, 0);
        assert_int_equal(fake_copied(HY_DEVICE), up);
        assert_int_equal(fake_copied(HY_PINNED), down);
    }
    if (t->places & C_THERE)
        assert_int_equal(report.d2h_bytes, 0);
    oracle_free(&reference);
    free_all(t, &o);
}

static trial trial_of(hybrid_engine *engine, unsigned seed)
{
    static const hybrid_index types[][2] = {{HYBRID_INDEX_DEFAULT, HYBRID_INDEX_DEFAULT},
                                            {HYBRID_I32, HYBRID_I32},
                                            {HYBRID_I64, HYBRID_I64},
                                            {HYBRID_INDEX_AUTO, HYBRID_INDEX_AUTO}};
    const uint64_t dice                  = test_hash(9, seed);
    trial t                              = {.engine = engine,
                                            .kind   = {dice & 1 ? HYBRID_F32 : HYBRID_F64,
                        dice & 2 ? HYBRID_I32 : HYBRID_I64, 1},
                                            .places  = (int)(dice >> 2) % PLACES,
                                            .squared = (dice >> 5) % 4 == 0,
                                            .rows    = 1 + (int64_t)(dice >> 8) % 150,
                                            .inner   = 1 + (int64_t)(dice >> 17) % 150,
                                            .cols    = 1 + (int64_t)(dice >> 26) % 150,
                                            .per_row = (double)((dice >> 35) % 7),
                                            .skew    = (dice >> 38) % 3,
                                            .seed    = seed,
                                            .options = HYBRID_PLAN_OPTIONS_INIT,
                                            .runs    = (int)(dice >> 40) % RUNS};

    if ((dice >> 50) % 16 == 0)
        t.rows = 0;
    if ((dice >> 50) % 16 == 1)
        t.inner = 0;
    if ((dice >> 50) % 16 == 2)
        t.cols = 0;
    if (t.squared)
        t.inner = t.cols = t.rows;
    t.options.chunk_rows = (dice >> 43) % 2 ? 11 : 0;
    t.options.flags      = t.runs > 0 && (dice >> 44) % 2 ? HYBRID_REUSE : 0;
    t.options.offsets    = types[(dice >> 46) % 4][0];
    t.options.columns    = types[(dice >> 46) % 4][1];
    if (t.places & C_THERE)
        t.options.result_space = HYBRID_SPACE_DEVICE;
    return t;
}

static void operands_and_results_are_anywhere(void **state)
{
    hybrid_engine *engine;

    (void)state;
    assert_int_equal(fake_open(table, 0, &engine), HYBRID_OK);
    fake_delays(3, 10);
    for (unsigned seed = 0; seed < 500; seed++) {
        const trial t = trial_of(engine, seed);
        check(&t);
    }
    hybrid_engine_destroy(engine);
    assert_int_equal(fake_alive(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operands_and_results_are_anywhere),
    };
    return cmocka_run_group_tests_name("space_spgemm", tests, NULL, NULL);
}
