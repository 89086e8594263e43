/* tests/unit/partition/test_intensity.c - the model of Tiled SpMM: its equations, its
   decision chart, and its parameters from the pattern of A. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/data/csr.h"
#include "partition/tiled/strips.h"
#include "partition/pattern/inspect.h"
#include "partition/tiled/intensity.h"
#include "tests/support/engines/group.h"
#include "tests/support/fake/fake_backend.h"
#include "tests/support/inputs/builder.h"

extern const hy_backend_ops hy_host_backend_ops;

static const test_kind kind = {HYBRID_F32, HYBRID_I64, 1};

/* A model with all ratios 1, for f32 and the paper's R = 16 (columns of X that a thread
   computes at once). */
static const hy_intensity unit = {.value    = 4,
                                  .index    = 4,
                                  .in_tile  = 2,
                                  .metadata = HY_METADATA,
                                  .R        = 16,
                                  .mu       = 1,
                                  .mu_cut   = 1,
                                  .rho      = 1,
                                  .C        = 1,
                                  .L        = 1,
                                  .Z        = 1};

static void assert_near(double value, double expected)
{
    assert_true(fabs(value - expected) <= 1e-9 * fabs(expected));
}

/* ---- equations ------------------------------------------------------------------- */

/* The arithmetic intensity of the plain product (Eq. 2): the paper says that 0.08 <= I
   <= 0.17 for f32. */
static void naive_intensity_is_that_of_the_paper(void **state)
{
    hy_intensity m = unit;

    (void)state;
    assert_near(hy_intensity_naive(&m), 2.0 / 24);
    m.mu = 10;
    assert_near(hy_intensity_naive(&m), 20.0 / (80 + 40 + 4 + 8));
    m.mu = 1e12;
    assert_near(hy_intensity_naive(&m), 1.0 / 6);
}

static void tiled_intensity_is_that_of_eq_3(void **state)
{
    hy_intensity m = unit;

    (void)state;
    assert_near(hy_intensity_tiled(&m, 1), 2 / (6.0 / 16 + 4 + 4 + 8.0 / 16));
    m.rho = 8;
    m.mu  = 32;
    m.Z   = 1.5;
    assert_near(hy_intensity_tiled(&m, 3),
                2 / (9.0 / 16 + 12.0 / 8 + 4.0 / (8 * 32) + 8.0 / (16 * 32)));
    m.value = 8;
    m.R     = 4;
    assert_near(hy_intensity_tiled(&m, 1),
                2 / (15.0 / 4 + 8.0 / 8 + 4.0 / (8 * 32) + 8.0 / (4 * 32)));
}

static void segmented_intensity_is_that_of_eq_6(void **state)
{
    hy_intensity m = unit;

    (void)state;
    m.rho    = 8;
    m.mu     = 640;
    m.mu_cut = 32;
    assert_near(hy_intensity_segmented(&m, 2),
                2 / (6.0 / 16 + 8.0 / 8 + 4.0 / (8 * 32) + 12.0 / (16 * 32) + 4.0 / 640));
}

/* Gamma = C / L (Eq. 4). C: bytes of cache lines that are read for a value of X, divided
   by the value's bytes. L: mean number of row panels that load a row of X. */
static void gamma_is_penalty_over_reward(void **state)
{
    hy_intensity m = unit;

    (void)state;
    m.C = 16;
    m.L = 4;
    assert_near(hy_intensity_gamma(&m), 4);
    assert_near(hy_intensity_lines(2, 32, 4), 1); /* 32 neighbouring values of 4 bytes
                                                     fill 2 cache lines of 64 bytes */
    assert_near(hy_intensity_lines(3, 32, 4), 1.5);
    assert_near(hy_intensity_lines(32, 32, 4), 16); /* 32 values in 32 cache lines */
    assert_near(hy_intensity_lines(32, 32, 8), 8);
    assert_near(hy_intensity_lines(1, 32, 4), 1);
    assert_near(hy_intensity_repeats(5000, 1000), 5);
    assert_near(hy_intensity_repeats(0, 0), 1);
    assert_near(hy_utilization(10, 8, 160), 0.5);
}

/* ---- the chart ------------------------------------------------------------------- */

static const hy_rates rates = {.width = 100, .mem_Bps = 1e12, .block_memory = 227 << 10};

static hy_features features(int64_t rows, double mean, double cv)
{
    return (hy_features){.rows     = rows,
                         .cols     = 1000,
                         .nnz      = (int64_t)((double)rows * mean),
                         .out_cols = 64,
                         .row_mean = mean,
                         .row_cv   = cv,
                         .type     = HYBRID_F32};
}

enum { R, SEGMENT, REORDER, PAPER }; /* indices of hy_features.parameter */

/* Lengths of segments by the paper's chart, in the paper's form. U, the used share of
   the device, is rows / 256 * 64 / 16 / 100 here, 1 at most. */
static void rows_are_cut_as_the_chart_says(void **state)
{
    hy_features f = features(3200, 1000, 0.5);

    (void)state;
    f.parameter[PAPER] = 1;
    assert_near(hy_tiled_utilization(&f, &rates, 16), 0.5);
    /* expected: U times the mean length of a row */
    assert_int_equal(hy_tiled_rules_for(&f, &rates).segment, 500);
    f                  = features(6400, 1000, 0.5);
    f.parameter[PAPER] = 1;
    /* expected: no row is cut, because U is 1 */
    assert_int_equal(hy_tiled_rules_for(&f, &rates).segment, INT64_MAX);
    f.row_cv = 1.5;
    /* expected: the mean length of a row, rounded up, because lengths vary much */
    assert_int_equal(hy_tiled_rules_for(&f, &rates).segment, 1001);
    f.parameter[SEGMENT] = 1;
    assert_int_equal(hy_tiled_rules_for(&f, &rates).segment, INT64_MAX);
    assert_int_equal(hy_tiled_rules_for(&f, &rates).partials, 0);
    f.row_cv             = 0;
    f.parameter[SEGMENT] = 2;
    assert_int_equal(hy_tiled_rules_for(&f, &rates).segment, 1001);
}

static void parameters_are_obeyed(void **state)
{
    hy_features f = features(6400, 10, 0.5);

    (void)state;
    assert_int_equal(hy_tiled_rules_for(&f, &rates).R, 8);
    assert_int_equal(hy_tiled_rules_for(&f, &rates).tiles, 2);
    f.parameter[PAPER] = 1;
    assert_int_equal(hy_tiled_rules_for(&f, &rates).R, 16);
    assert_int_equal(hy_tiled_rules_for(&f, &rates).tiles, 1);
    f.parameter[R] = 4;
    assert_int_equal(hy_tiled_rules_for(&f, &rates).R, 4);
    assert_int_equal(hy_tiled_rules_for(&f, &rates).order, HY_TILED_SORT_IF_BETTER);
    f.parameter[REORDER] = 1;
    assert_int_equal(hy_tiled_rules_for(&f, &rates).order, HY_TILED_SORT_NEVER);
    f.parameter[REORDER] = 2;
    assert_int_equal(hy_tiled_rules_for(&f, &rates).order, HY_TILED_SORT_ALWAYS);
}

/* Two tiles for 16 columns take 96 KB of shared memory in f32 and 192 KB in f64. A
   device with less must refuse them. */
static void devices_with_little_shared_memory_refuse_tiles(void **state)
{
    hy_features f = features(6400, 10, 0.5);
    hy_rates r    = rates;

    (void)state;
    f.parameter[R] = 16;
    r.block_memory = 96 << 10;
    assert_null(hy_tiled_refuse(&f, &r));
    f.type = HYBRID_F64;
    assert_non_null(hy_tiled_refuse(&f, &r));
    f.parameter[PAPER] = 1; /* the paper's form has one tile instead of two */
    assert_null(hy_tiled_refuse(&f, &r));
    r.block_memory -= 1;
    assert_non_null(hy_tiled_refuse(&f, &r));
    r.block_memory     = 192 << 10;
    f.parameter[PAPER] = 0;
    assert_null(hy_tiled_refuse(&f, &r));
}

/* The bound on partials (sums of segments of long rows) must not decrease when rows are
   added. */
static void bounds_grow_with_rows(void **state)
{
    (void)state;
    for (int paper = 0; paper < 2; paper++)
        for (int64_t rows = 1; rows < 8000; rows++) {
            hy_features f = features(rows, 20, 1.5), more = features(rows + 1, 20, 1.5);
            f.parameter[PAPER] = more.parameter[PAPER] = paper;
            assert_true(hy_tiled_rules_for(&f, &rates).partials <=
                        hy_tiled_rules_for(&more, &rates).partials);
        }
}

/* ---- panels ---------------------------------------------------------------------- */

static hy_tiled_reuse reuse_of(const hybrid_csr *A, int64_t segment, int padded)
{
    const hy_tiled_source source = {.ctx = ctx, .A = A, .end = A->rows};
    hy_tiled_strips strips;
    hy_tiled_reuse reuse;

    assert_int_equal(hy_strips_make(&source, segment, &strips), HYBRID_OK);
    assert_int_equal(hy_tiled_reuse_find(&source, &strips, padded, &reuse), HYBRID_OK);
    hy_strips_free(ctx, &strips);
    return reuse;
}

/* Makes a matrix of which row i has `count` columns, `step` apart, beginning at column
   `shift` * (i / 256). */
static hybrid_csr panels(int64_t rows, int64_t count, int64_t step, int64_t shift)
{
    builder b = build_start(rows, 40000);

    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < count; j++)
            build_add(&b, i / 256 * shift + step * j);
        build_end_row(&b);
    }
    return build_finish(&b, 8, kind);
}

static void panels_are_counted(void **state)
{
    hybrid_csr same = panels(1000, 32, 1, 0), apart = panels(1000, 32, 20, 640);

    (void)state;
    hy_tiled_reuse r = reuse_of(&same, INT64_MAX, 0);
    assert_int_equal(r.staged, 4 * 32);
    assert_int_equal(r.distinct, 32);
    assert_int_equal(r.lines, 4 * 2);
    assert_int_equal(r.entries, 32000);
    r = reuse_of(&apart, INT64_MAX, 0);
    assert_int_equal(r.staged, 4 * 32);
    assert_int_equal(r.distinct, 4 * 32);
    assert_int_equal(r.lines, 4 * 32);
    matrix_free(&same);
    matrix_free(&apart);
}

/* Rows have 1 to 4 entries in turn; padded, all count as 4. A tile holds 768 rows of X,
   so that each row panel here has one tile and is padded once. */
static void padding_is_counted(void **state)
{
    builder b = build_start(512, 2000);

    (void)state;
    for (int64_t i = 0; i < 512; i++) {
        for (int64_t j = 0; j <= i % 4; j++)
            build_add(&b, i < 256 ? j : 4 * i + j - 1024);
        build_end_row(&b);
    }
    hybrid_csr A     = build_finish(&b, 8, kind);
    hy_tiled_reuse r = reuse_of(&A, INT64_MAX, 1);
    assert_int_equal(A.nnz, 512 * 5 / 2);
    /* the second row panel touches 640 rows of X, which one tile holds */
    assert_int_equal(r.entries, 512 * 4);
    matrix_free(&A);
}

static void padding_is_counted_for_each_tile(void **state)
{
    builder b = build_start(256, 2000);

    (void)state;
    for (int64_t i = 0; i < 256; i++) {
        /* each row has 4 columns of its own */
        for (int64_t j = 0; j < 4; j++)
            build_add(&b, 4 * i + j);
        build_end_row(&b);
    }
    hybrid_csr A     = build_finish(&b, 8, kind);
    hy_tiled_reuse r = reuse_of(&A, INT64_MAX, 1);
    assert_int_equal(r.staged, 1024); /* tiles of 768 and 256 columns; rows 0 to 191, six
                                         whole slices, use the first */
    assert_int_equal(r.entries, 1024);
    matrix_free(&A);
}

static void nothing_is_inspected_of_no_entries(void **state)
{
    builder empty = build_start(100, 7);

    (void)state;
    while (empty.row < empty.rows)
        build_end_row(&empty);
    hybrid_csr A     = build_finish(&empty, 8, kind);
    hy_tiled_reuse r = reuse_of(&A, 5, 1);
    assert_int_equal(r.staged + r.distinct + r.lines + r.entries, 0);
    matrix_free(&A);
}

/* ---- explain --------------------------------------------------------------------- */

static hybrid_engine *open_fake(void)
{
    static const hy_backend_ops *const fakes[] = {&hy_fake_backend_ops,
                                                  &hy_host_backend_ops, NULL};
    static const hy_variant *const tiled[]     = {&hy_spmm_fake_tiled, NULL};
    hybrid_engine_options options              = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_engine *engine;

    options.threads = 2;
    assert_int_equal(fake_engine_open(&options, fakes, tiled, &engine), HYBRID_OK);
    return engine;
}

static void explained(const hybrid_csr *A, const char *form, unsigned flags, char *text,
                      size_t room)
{
    hybrid_engine *engine      = open_fake();
    hybrid_plan_options wanted = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan;

    wanted.variant = form;
    wanted.order   = HYBRID_COL_MAJOR;
    wanted.flags   = flags;
    assert_int_equal(hybrid_spmm_plan(engine, A, 64, &wanted, &plan), HYBRID_OK);
    hybrid_plan_explain(plan, text, room);
    assert_non_null(strstr(text, "algorithm   spmm.fake.tiled"));
    char *details = malloc(room);
    assert_non_null(details);
    hybrid_plan_details(plan, details, room);
    assert_int_equal(!strstr(text, "model  "), !strstr(details, "model  "));
    free(details);
    hybrid_plan_destroy(plan);
    hybrid_engine_destroy(engine);
}

static void explain_shows_the_model(void **state)
{
    hybrid_csr A = panels(1000, 32, 1, 0);
    char text[8192];

    (void)state;
    explained(&A, "spmm.fake.tiled:R=16,segment=off", HYBRID_EXPLAIN, text, sizeof text);
    assert_non_null(strstr(text, "model       U 0.156, sigma/mu 0, R 16: whole rows, in "
                                 "the order of A\n"
                                 "            rho 250, C 1, L 4, Z 1, mu 32, mu* 32\n"
                                 "            flops per byte: naive 0.162, tiled 4.91 "));
    explained(&A, "spmm.fake.tiled:paper=1,reorder=on", HYBRID_EXPLAIN, text,
              sizeof text);
    assert_non_null(strstr(text,
                           "1000 rows cut into segments of at most 5 entries, sorted "
                           "by their columns\n"));
    explained(&A, "spmm.fake.tiled:R=16", 0, text, sizeof text);
    assert_null(strstr(text, "model  "));
    matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(naive_intensity_is_that_of_the_paper),
        cmocka_unit_test(tiled_intensity_is_that_of_eq_3),
        cmocka_unit_test(segmented_intensity_is_that_of_eq_6),
        cmocka_unit_test(gamma_is_penalty_over_reward),
        cmocka_unit_test(rows_are_cut_as_the_chart_says),
        cmocka_unit_test(parameters_are_obeyed),
        cmocka_unit_test(devices_with_little_shared_memory_refuse_tiles),
        cmocka_unit_test(bounds_grow_with_rows),
        cmocka_unit_test(panels_are_counted),
        cmocka_unit_test(padding_is_counted),
        cmocka_unit_test(padding_is_counted_for_each_tile),
        cmocka_unit_test(nothing_is_inspected_of_no_entries),
        cmocka_unit_test(explain_shows_the_model),
    };
    return cmocka_run_group_tests_name("intensity", tests, open_context, close_context);
}
