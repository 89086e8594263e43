/* tests/sentences/test_said_plans.c - plans of products that the device computes alone or
   that a schedule or a variant refuses.

   sentences.py compares what the library says, and the lines that this program prints,
   with sentences.txt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "engine/schedules/schedule.h"
#include "support/device/on_device.h"
#include "support/engines/either.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fake_memory.h"
#include "support/fake/fake_spmm.h"
#include "support/fake/settings.h"
#include "support/inputs/hypersparse.h"
#include "support/runs/pinned_runs.h"

/* Prints the line of the plan's details that begins with `begin`. */
static void tell_line(hybrid_plan *plan, const char *begin)
{
    char text[8192];
    char *rest = text;

    assert_non_null(plan);
    hybrid_plan_details(plan, text, sizeof text);
    for (const char *line; (line = strtok_r(rest, "\n", &rest));)
        if (strncmp(line, begin, strlen(begin)) == 0)
            puts(line);
    hybrid_plan_destroy(plan);
}

/* Prints why variants were refused for this plan, and destroys it. */
static void tell_candidates(hybrid_plan *plan)
{
    hybrid_candidate c;

    assert_non_null(plan);
    for (int i = 0; hybrid_plan_candidate(plan, i, &c) == HYBRID_OK; i++)
        if (c.refused)
            puts(c.refused);
    hybrid_plan_destroy(plan);
}

/* ---- why the host takes no part ---- */

static void tell_split(world *w, unsigned flags, hybrid_split split)
{
    tell_line(runs_plan(w, flags, split, 0), "split");
}

static void the_device_alone(void **state)
{
    world w;

    (void)state;
    fake_delays(1, 0);
    runs_open(&w, &hy_spmm_fake_rows, 0);
    tell_split(&w, 0, HYBRID_SPLIT_DEFAULT);
    runs_slow_down(&w);
    tell_split(&w, 0, HYBRID_SPLIT_GPU);
    tell_split(&w, HYBRID_DETERMINISTIC, HYBRID_SPLIT_DEFAULT);
    settings_of(w.engine)->column_blocks = 2;
    settings_of(w.engine)->schedule      = &hy_schedule_column_ring;
    tell_split(&w, 0, HYBRID_SPLIT_DEFAULT);
    settings_of(w.engine)->column_blocks = 0;
    settings_of(w.engine)->schedule      = &hy_schedule_row_ring;
    tell_split(&w, 0, HYBRID_SPLIT_DEFAULT);
    settings_of(w.engine)->schedule = NULL;
    w.engine->ctx.memory.strict     = 1;
    tell_split(&w, 0, HYBRID_SPLIT_DEFAULT);
    world_close(&w);
    runs_open(&w, &hy_spmm_fake_tiled, 0);
    runs_slow_down(&w);
    tell_split(&w, 0, HYBRID_SPLIT_DEFAULT);
    world_close(&w);
}

static hybrid_plan *plan_spmm(hybrid_engine *engine, const hybrid_csr *A, int64_t cols,
                              unsigned flags)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan           = NULL;

    options.flags = flags;
    hybrid_spmm_plan(engine, A, cols, &options, &plan);
    return plan;
}

static void chunks_bring_column_blocks(void **state)
{
    world w;

    (void)state;
    fake_delays(1, 0);
    runs_open(&w, &hy_spmm_fake_rows, 8192);
    settings_of(w.engine)->schedule      = &hy_schedule_gather;
    settings_of(w.engine)->column_blocks = 4;
    tell_line(plan_spmm(w.engine, &w.A, WIDTH, 0), "split");
    world_close(&w);
}

/* Makes a plan repeatedly, while its first, second, third ... allocation fails. In the
   end the plan succeeds without the host's help. */
static void the_host_has_no_memory(void **state)
{
    world w;

    (void)state;
    fake_delays(1, 0);
    runs_open(&w, &hy_spmm_fake_rows, 0);
    runs_slow_down(&w);
    for (int64_t n = 1; w.engine->ctx.memory.failures == 0; n++) {
        hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
        hybrid_plan *plan;

        hybrid_engine_trim(w.engine);
        w.engine->ctx.memory.failures = n;
        if (hybrid_spmm_plan(w.engine, &w.A, WIDTH, &options, &plan) == HYBRID_OK)
            tell_line(plan, "split");
    }
    world_close(&w);
}

static void variants_of_the_device_alone(void **state)
{
    const test_kind kind            = {HYBRID_F64, HYBRID_I64, 1};
    hy_variant unordered            = hy_spmm_fake_rows;
    const hy_variant *const table[] = {&unordered, &hy_spmm_fake_tiled,
                                       &hy_spgemm_fake_esc, NULL};
    hybrid_engine *engine;
    hybrid_csr A, empty;
    hybrid_plan *plan;

    (void)state;
    fake_delays(1, 0);
    unordered.name      = "spmm.fake.unordered";
    unordered.unordered = 1;
    assert_int_equal(fake_open(table, 0, &engine), HYBRID_OK);
    matrix_random(300, 300, 4, 3, kind, &A);
    tell_candidates(plan_spmm(engine, &A, 8, HYBRID_DETERMINISTIC));
    tell_line(plan_spmm(engine, &A, 8, 0), "split");
    assert_int_equal(hybrid_spgemm_plan(engine, &A, &A, NULL, &plan), HYBRID_OK);
    tell_line(plan, "split");
    hybrid_engine_destroy(engine);
    unordered.by_name = 1;
    assert_int_equal(fake_open(table, 0, &engine), HYBRID_OK);
    tell_candidates(plan_spmm(engine, &A, 8, 0));
    hybrid_engine_destroy(engine);
    assert_int_equal(fake_open(either_variants, 0, &engine), HYBRID_OK);
    settings_of(engine)->hypersparse_bytes = 1;
    hypersparse_make(0, kind, &empty);
    tell_line(plan_spmm(engine, &empty, 8, 0), "split");
    matrix_free(&empty);
    hybrid_engine_destroy(engine);
    assert_int_equal(fake_open(either_variants, 1 << 10, &engine), HYBRID_OK);
    tell_candidates(plan_spmm(engine, &A, 8, 0));
    hybrid_engine_destroy(engine);
    matrix_free(&A);
}

/* ---- operands in device memory ---- */

static void refused_on_the_host(hybrid_engine *engine, const hybrid_csr *A)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan;

    settings_of(engine)->schedule = &hy_schedule_row_ring;
    assert_int_equal(hybrid_spgemm_plan(engine, A, A, NULL, &plan), HYBRID_UNSUPPORTED);
    options.variant = "spmm.fake.tiled";
    assert_int_equal(hybrid_spmm_plan(engine, A, 8, &options, &plan), HYBRID_UNSUPPORTED);
    settings_of(engine)->schedule = &hy_schedule_column_ring;
    options.variant               = "spmm.fake.rows";
    options.flags                 = HYBRID_RESIDENT;
    assert_int_equal(hybrid_spmm_plan(engine, A, 8, &options, &plan), HYBRID_UNSUPPORTED);
    settings_of(engine)->schedule = &hy_schedule_in_place;
    assert_int_equal(hybrid_spmm_plan(engine, A, 8, &options, &plan), HYBRID_UNSUPPORTED);
}

static void operands_of_the_device(void **state)
{
    static const hy_schedule *const named[] = {&hy_schedule_gather, &hy_schedule_row_ring,
                                               &hy_schedule_column_ring,
                                               &hy_schedule_entry_ring};
    static const hy_variant *const table[]  = {&hy_spgemm_fake_esc, &hy_spgemm_fake_dup,
                                               &hy_spmm_fake_rows, &hy_spmm_fake_tiled,
                                               NULL};
    const test_kind kind                    = {HYBRID_F64, HYBRID_I64, 1};
    hybrid_plan_options options             = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_engine *engine;
    hybrid_plan *plan;
    hybrid_csr A;

    (void)state;
    fake_delays(1, 0);
    assert_int_equal(fake_open(table, 0, &engine), HYBRID_OK);
    matrix_random(40, 40, 4, 1, kind, &A);
    hybrid_csr a = on_device_csr(0, &A, 0);
    assert_int_equal(hybrid_spgemm_plan(engine, &A, &a, NULL, &plan), HYBRID_OK);
    tell_candidates(plan);
    for (int i = 0; i < 4; i++) {
        settings_of(engine)->schedule = named[i];
        assert_int_equal(hybrid_spgemm_plan(engine, &a, &a, NULL, &plan),
                         HYBRID_UNSUPPORTED);
        options.x_space = HYBRID_SPACE_DEVICE;
        assert_int_equal(hybrid_spmm_plan(engine, &a, 8, &options, &plan),
                         HYBRID_UNSUPPORTED);
        assert_int_equal(hybrid_spmm_plan(engine, &A, 8, &options, &plan),
                         HYBRID_UNSUPPORTED);
    }
    on_device_csr_free(&a);
    refused_on_the_host(engine, &A);
    settings_of(engine)->schedule = &hy_schedule_row_ring;
    options                       = (hybrid_plan_options)HYBRID_PLAN_OPTIONS_INIT;
    options.split                 = HYBRID_SPLIT_SHARE;
    options.host_share            = 0.5;
    assert_int_equal(hybrid_spmm_plan(engine, &A, 8, &options, &plan),
                     HYBRID_UNSUPPORTED);
    matrix_free(&A);
    hybrid_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_device_alone),
        cmocka_unit_test(chunks_bring_column_blocks),
        cmocka_unit_test(the_host_has_no_memory),
        cmocka_unit_test(variants_of_the_device_alone),
        cmocka_unit_test(operands_of_the_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
