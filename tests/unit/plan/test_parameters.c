/* tests/unit/plan/test_parameters.c - parameters of variants in the option `variant`. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "engine/api/engine.h"
#include "engine/tables/parameters.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fake_spmm.h"
#include "support/inputs/builder.h"

static int32_t seen[HY_PARAMETERS]; /* values of the parameters that the variant found in
                                       the chunk that it computed last */

static hybrid_status note_and_prepare(hy_job *job)
{
    memcpy(seen, job->chunk->features.parameter, sizeof seen);
    return hy_spmm_fake_rows.prepare(job);
}

typedef struct world {
    hy_variant rows, longer;
    const hy_variant *table[3];
    hybrid_engine *engine;
} world;

static int open_world(void **state)
{
    static world w;

    w.rows            = hy_spmm_fake_rows;
    w.rows.prepare    = note_and_prepare;
    w.rows.parameters = "R=4|8|16 sorted=off|on";
    w.longer          = hy_spmm_fake_rows;
    w.longer.name     = "spmm.fake.rows_longer";
    w.table[0]        = &w.longer;
    w.table[1]        = &w.rows;
    *state            = &w;
    return fake_open(w.table, 1 << 20, &w.engine) == HYBRID_OK ? 0 : -1;
}

static int close_world(void **state)
{
    hybrid_engine_destroy(((world *)*state)->engine);
    return 0;
}

static int64_t ptr[] = {0, 1, 2};
static int32_t col[] = {0, 1};
static double val[] = {1, 1}, x[] = {2, 3}, y[2];

static const hybrid_csr I   = {2, 2, 2, HYBRID_I64, ptr, col, val, HYBRID_F64};
static const hybrid_dense X = {2, 1, 1, HYBRID_ROW_MAJOR, x, HYBRID_F64};

static hybrid_status compute(world *w, const char *variant)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_dense Y              = {2, 1, 1, HYBRID_ROW_MAJOR, y, HYBRID_F64};

    memset(seen, -1, sizeof seen);
    options.variant = variant;
    return hybrid_spmm_with(w->engine, &options, 1, &I, &X, 0, &Y);
}

static void values_reach_the_chunk(void **state)
{
    assert_int_equal(compute(*state, "spmm.fake.rows:R=16,sorted=on"), HYBRID_OK);
    assert_int_equal(seen[0], 16);
    assert_int_equal(seen[1], 2);
    assert_int_equal(seen[2], 0);
    assert_int_equal(compute(*state, "spmm.fake.rows:sorted=off"), HYBRID_OK);
    assert_int_equal(seen[0], 0);
    assert_int_equal(seen[1], 1);
    assert_int_equal(compute(*state, "spmm.fake.rows"), HYBRID_OK);
    assert_int_equal(seen[0] | seen[1], 0);
}

static void refused(world *w, const char *variant, const char *part)
{
    assert_int_equal(compute(w, variant), HYBRID_BAD_ARGUMENT);
    assert_non_null(strstr(hybrid_engine_message(w->engine), part));
    assert_int_equal(seen[0], -1);
}

static void errors_name_parameter_and_value(void **state)
{
    refused(*state, "spmm.fake.rows:Q=4", "no parameter 'Q'; it has: R=4|8|16");
    refused(*state, "spmm.fake.rows:", "no parameter ''");
    refused(*state, "spmm.fake.rows:R=4,", "no parameter ''");
    refused(*state, "spmm.fake.rows:R=5", "'R' of spmm.fake.rows has no value '5'");
    refused(*state, "spmm.fake.rows:R", "has no value ''");
    refused(*state, "spmm.fake.rows:R=4|8", "has no value '4|8'");
    refused(*state, "spmm.fake.rows:sorted=2", "has no value '2'");
    refused(*state, "spmm.fake:R=4", "no variant has the name 'spmm.fake'");
    refused(*state, "spmm.fake.rows_longer:R=4", "it has: none");
}

static void values_have_a_text(void **state)
{
    const world *w                      = *state;
    const int32_t values[HY_PARAMETERS] = {16, 2}, one[HY_PARAMETERS] = {0, 1};
    const int32_t none[HY_PARAMETERS] = {0};
    char text[32];

    hy_parameters_text(&w->rows, values, text, sizeof text);
    assert_string_equal(text, "R=16,sorted=on");
    hy_parameters_text(&w->rows, one, text, sizeof text);
    assert_string_equal(text, "sorted=off");
    hy_parameters_text(&w->rows, none, text, sizeof text);
    assert_string_equal(text, "");
    hy_parameters_text(&w->rows, values, text, 8);
    assert_string_equal(text, "R=16,so");
}

static void names_and_beginnings(void **state)
{
    const world *w = *state;

    assert_true(hy_parameters_want(w->table, NULL, "spmm.fake.rows"));
    assert_true(hy_parameters_want(w->table, "", "spmm.fake.rows"));
    assert_true(hy_parameters_want(w->table, "spmm.fake.row", "spmm.fake.rows_longer"));
    assert_true(hy_parameters_want(w->table, "spmm.fake.rows:R=4", "spmm.fake.rows"));
    assert_false(hy_parameters_want(w->table, "spmm.fake.rows", "spmm.fake.rows_longer"));
    assert_false(hy_parameters_want(w->table, "spmm.fake.row:R=4", "spmm.fake.rows"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_reach_the_chunk),
        cmocka_unit_test(errors_name_parameter_and_value),
        cmocka_unit_test(values_have_a_text),
        cmocka_unit_test(names_and_beginnings),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
