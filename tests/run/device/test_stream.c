/* tests/run/device/test_stream.c - SpGEMM whose chunks are cut while earlier ones run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/data/csr.h"
#include "engine/plan/plan.h"
#include "engine/run/multiply.h"
#include "engine/schedules/schedule.h"
#include "partition/stream/sampled.h"
#include "support/check/oracle.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fake_spmm.h"
#include "support/fake/settings.h"
#include "support/inputs/builder.h"

static const test_kind f64                = {HYBRID_F64, HYBRID_I64, 1};
static const test_kind narrow             = {HYBRID_F64, HYBRID_I32, 1};
static const hy_variant *const variants[] = {&hy_spgemm_fake_esc, NULL};

enum { ROWS = 7000, GROUP = HY_SAMPLED_BLOCKS * HY_ENDS_ROWS };

/* ---- matrices ---- */

/* Where the entries of A lie. */
typedef enum pattern {
    BAND,  /* near the diagonal */
    LYING, /* near the diagonal; the rows that a sample reads have few entries, others
              many */
    FAR,   /* near the diagonal, and a few rows that a sample does not read touch rows
              far from it */
    JUMP,  /* as FAR, but these rows have no entries near the diagonal */
    BACK,  /* near the other diagonal, so that later rows touch earlier rows of B */
    ANY,   /* anywhere */
    KINDS
} pattern;

/* Returns 1 if a sample reads the row. */
static int is_sampled(int64_t row)
{
    const int64_t group = row / GROUP * GROUP;
    const int64_t end   = group + GROUP < ROWS ? group + GROUP : ROWS;
    const int64_t at    = group + (end - group) / HY_ENDS_ROWS / 2 * HY_ENDS_ROWS;

    return row >= at && row < at + HY_ENDS_ROWS;
}

static int64_t entries_of(pattern kind, int64_t row)
{
    if (kind == LYING)
        return is_sampled(row) ? 1 : 8;
    return test_below(3, (uint64_t)row, 8);
}

static int is_far(pattern kind, int64_t row)
{
    return (kind == FAR || kind == JUMP) && row % 611 == 5 && !is_sampled(row);
}

static int64_t column_of(pattern kind, int64_t row, int64_t k)
{
    const int64_t near = test_below(4, (uint64_t)(row * 8 + k), 9) - 4;

    if (kind == ANY || (is_far(kind, row) && (k == 0 || kind == JUMP)))
        return test_below(5, (uint64_t)(row * 8 + k), ROWS);
    return kind == BACK ? ROWS - 1 - row + near : row + near;
}

static hybrid_csr make(pattern kind, test_kind numbers)
{
    builder b = build_start(ROWS, ROWS);

    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t k = 0; k < entries_of(kind, i); k++) {
            const int64_t j = column_of(kind, i, k);
            if (j >= 0 && j < ROWS)
                build_add(&b, j);
        }
        build_end_row(&b);
    }
    return build_finish(&b, 1, numbers);
}

/* ---- products ---- */

typedef struct product {
    hybrid_csr A, B;
    oracle C;
} product;

/* If B is not A, A has 32-bit offsets, which planning copies. */
static void open_product(pattern kind, int squared, product *p)
{
    p->A = make(kind, squared ? f64 : narrow);
    p->B = squared ? p->A : make(BAND, f64);
    oracle_spgemm(&p->A, &p->B, &p->C);
}

static void close_product(product *p)
{
    oracle_free(&p->C);
    if (p->B.row_ptr != p->A.row_ptr)
        matrix_free(&p->B);
    matrix_free(&p->A);
}

/* Opens an engine that streams every SpGEMM for which the schedule allows it. */
static hybrid_engine *open_engine(const hy_schedule *schedule, size_t device_bytes)
{
    hybrid_engine *engine;

    assert_int_equal(fake_open(variants, device_bytes, &engine), HYBRID_OK);
    settings_of(engine)->schedule       = schedule;
    settings_of(engine)->prefetch_bytes = SIZE_MAX;
    settings_of(engine)->stream_entries = 0;
    settings_of(engine)->stream_chunks  = 2;
    return engine;
}

/* Facts about a one-shot product. */
typedef struct outcome {
    int streams;
    int64_t planned; /* number of chunks of the plan */
    hybrid_report report;
} outcome;

/* Does what hybrid_spgemm() does, but returns what the plan was. */
static hybrid_status multiply(hybrid_engine *engine, const product *p, hybrid_csr *C,
                              outcome *out)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    const hy_one_shot once      = {.prefetcher = NULL};
    hybrid_plan *plan;

    options.split   = HYBRID_SPLIT_GPU;
    options.offsets = HYBRID_I64;
    options.columns = HYBRID_I32;
    HY_TRY(hy_engine_begin(engine));
    const hy_beginning start = hy_usage_begin(engine);
    hybrid_status status = hy_plan_make(engine, &p->A, &p->B, 0, &options, &once, &plan);
    if (status == HYBRID_OK) {
        out->streams = plan->product.streams;
        out->planned = plan->portions->layout.count;
        status       = hy_multiply_sparse(plan, &p->A, &p->B, &start, &plan->history, C);
        out->report  = plan->history.report;
        hybrid_plan_destroy(plan);
    }
    return hy_engine_end(engine, status);
}

static int64_t products_of(const product *p)
{
    int64_t sum = 0;

    for (int64_t e = 0; e < p->C.nnz; e++)
        sum += p->C.terms[e];
    return sum;
}

static void check(const product *p, const outcome *o, hybrid_csr *C)
{
    assert_null(oracle_check(&p->C, C, 1));
    assert_int_equal(o->report.flops, 2 * products_of(p));
    assert_int_equal(o->report.nnz_out, C->nnz);
}

static const hy_schedule *const schedules[] = {&hy_schedule_entry_ring,
                                               &hy_schedule_gather, &hy_schedule_whole};

/* Returns this many hundredths of the bytes of B. A device with less than 133 counts as
   too small for B. */
static size_t part_of_b(const product *p, size_t percent)
{
    const hy_image image = hy_image_of_csr(p->B.rows, p->B.cols, p->B.nnz, p->B.type);

    return hy_image_room(&image) * percent / 100;
}

/* Multiplies with the schedule and the budget. Returns 1 if the product was streamed. A
   plan that a sample does not suit is complete, and its product is the same. */
static int one_product(const product *p, const hy_schedule *schedule, size_t bytes)
{
    hybrid_engine *engine      = open_engine(schedule, bytes);
    outcome o                  = {0};
    hybrid_csr C               = {0};
    const hybrid_status status = multiply(engine, p, &C, &o);

    if (status == HYBRID_OK)
        check(p, &o, &C);
    else
        assert_true(status == HYBRID_UNSUPPORTED || status == HYBRID_NO_DEVICE_MEMORY);
    hybrid_csr_free(engine, &C);
    hybrid_engine_destroy(engine);
    return status == HYBRID_OK && o.streams;
}

static void schedules_and_budgets(void **state)
{
    static const size_t percent[3][3] = {{70, 90, 130}, {70, 90, 130}, {120, 125, 130}};
    int64_t streamed[3]               = {0};

    (void)state;
    for (int i = 0; i < 2 * KINDS; i++) {
        product p;
        open_product((pattern)(i / 2), i % 2, &p);
        for (int k = 0; k < 9; k++) {
            fake_delays((unsigned)(i + k), k % 3 ? 0 : 20);
            streamed[k / 3] +=
                one_product(&p, schedules[k / 3], part_of_b(&p, percent[k / 3][k % 3]));
        }
        close_product(&p);
    }
    fake_delays(1, 0);
    for (int s = 0; s < 3; s++)
        assert_true(streamed[s] >= 8);
    assert_int_equal(fake_alive(), 0);
}

/* A sample has the exact number of entries of each row, and an estimate of the number of
   scalar products. Wrong estimates make chunks that are cut again. */
static void wrong_estimates_cost_chunks(void **state)
{
    for (int lies = 0; lies < 2; lies++) {
        outcome o = {0};
        hybrid_csr C;
        product p;
        (void)state;
        open_product(lies ? LYING : BAND, 0, &p);
        hybrid_engine *engine = open_engine(&hy_schedule_gather, part_of_b(&p, 130));
        assert_int_equal(multiply(engine, &p, &C, &o), HYBRID_OK);
        assert_true(o.streams);
        assert_true(o.report.chunks >= o.planned);
        assert_true(lies || 4 * o.report.chunks < 5 * o.planned);
        hybrid_csr_free(engine, &C);
        hybrid_engine_destroy(engine);
        close_product(&p);
    }
}

/* A plan is complete if there are few chunks, or if B fits the device. */
static void other_plans_are_complete(void **state)
{
    outcome o = {0};
    hybrid_csr C;
    product p;

    (void)state;
    open_product(BAND, 0, &p);
    for (int fits = 0; fits < 2; fits++) {
        hybrid_engine *engine = open_engine(NULL, part_of_b(&p, fits ? 300 : 90));
        settings_of(engine)->stream_chunks = fits ? 2 : 10000;
        assert_int_equal(multiply(engine, &p, &C, &o), HYBRID_OK);
        assert_false(o.streams);
        check(&p, &o, &C);
        hybrid_csr_free(engine, &C);
        hybrid_engine_destroy(engine);
    }
    close_product(&p);
}

/* ---- errors ---- */

static hybrid_status multiply_small(hybrid_engine *engine, void *arg)
{
    const product *p = arg;
    hybrid_csr C     = {0};
    outcome o        = {0};

    settings_of(engine)->schedule       = &hy_schedule_entry_ring;
    settings_of(engine)->prefetch_bytes = SIZE_MAX;
    settings_of(engine)->stream_entries = 0;
    settings_of(engine)->stream_chunks  = 2;
    const hybrid_status status          = multiply(engine, p, &C, &o);
    if (status == HYBRID_OK)
        check(p, &o, &C);
    else
        assert_null(C.row_ptr);
    hybrid_csr_free(engine, &C);
    return fake_explained(engine, status);
}

static void each_call_fails(void **state)
{
    product p;

    (void)state;
    open_product(FAR, 0, &p);
    const fake_failing f = {multiply_small, &p, part_of_b(&p, 70), 20000, 2};
    assert_true(fake_fail_each(&f, &fault_allocation) > 10);
    assert_true(fake_fail_each(&f, &fault_device) > 10);
    assert_true(fake_fail_each(&f, &fault_lost) > 10);
    close_product(&p);
}

typedef struct patience {
    int calls, most; /* calls of progress so far, and the last one that goes on */
} patience;

static int lose(void *user, int64_t done, int64_t rows)
{
    patience *p = user;

    (void)done, (void)rows;
    return ++p->calls > p->most;
}

/* The caller ends the call at each of its progress reports: while tasks count rows ahead
   of the chunks, and after the last of them. */
static void the_call_is_cancelled(void **state)
{
    hybrid_status status = HYBRID_CANCELLED;
    product p;

    (void)state;
    open_product(BAND, 1, &p);
    for (int most = 0; status != HYBRID_OK; most += 1 + most / 2) {
        hybrid_engine *engine;
        patience left = {0, most};
        assert_int_equal(fake_open(variants, part_of_b(&p, 70), &engine), HYBRID_OK);
        hybrid_engine_progress(engine, lose, &left);
        status = multiply_small(engine, &p);
        assert_true(status == HYBRID_OK || status == HYBRID_CANCELLED);
        hybrid_engine_progress(engine, NULL, NULL);
        assert_int_equal(multiply_small(engine, &p), HYBRID_OK);
        hybrid_engine_destroy(engine);
        assert_int_equal(fake_alive(), 0);
    }
    close_product(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schedules_and_budgets),
        cmocka_unit_test(wrong_estimates_cost_chunks),
        cmocka_unit_test(other_plans_are_complete),
        cmocka_unit_test(each_call_fails),
        cmocka_unit_test(the_call_is_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
