/* tests/variants/test_combinations_spgemm.c - random combinations of all options of
   SpGEMM, as in test_combinations.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/data/csr.h"
#include "engine/plan/plan.h"
#include "engine/schedules/schedule.h"
#include "support/inputs/builder.h"
#include "support/runs/each.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fake_spmm.h"
#include "support/engines/listed.h"
#include "support/check/oracle.h"
#include "support/check/refusals.h"
#include "support/fake/settings.h"

extern const hy_variant hy_spgemm_host_rows;

enum {
    COMBINATIONS = 1500,
    SCHEDULES    = 9,
    ROWS         = 240,
    ENTRIES      = 5,
    LEAST_NAMED  = 24,
    SPARE        = 2048
};

typedef struct combination {
    const hy_schedule *schedule; /* schedule that the plan must have; NULL: the engine
                                    chooses */
    int carried;                 /* 1: packs contain a row of B for each entry of A */
    int tight;                   /* 1: device memory does not hold B */
    unsigned flags;
    hybrid_split split;
    int64_t chunk_rows;
    int squared; /* 1: B is A */
    int pinned;  /* 1: A and B are pinned */
    int planned; /* 1: a plan and its runs; 0: a one-shot call */
    test_kind kind;
} combination;

typedef struct trial {
    uint64_t number;
    combination c;
    hybrid_engine *engine;
    hybrid_csr A, other;
    const hybrid_csr *B;
    oracle product;
    int64_t loaded; /* bytes of B in the last run, from its trace */
    int several;    /* 1: several devices compute the plan */
} trial;

/* ---- drawing ---- */

static int64_t pick(uint64_t number, uint64_t *axis, int64_t count)
{
    return test_below(number + 9000, ++*axis, count);
}

static combination draw(uint64_t number)
{
    static const unsigned flags[]      = {0,
                                          HYBRID_REUSE,
                                          HYBRID_DETERMINISTIC,
                                          HYBRID_REUSE | HYBRID_DETERMINISTIC,
                                          HYBRID_CHECK,
                                          HYBRID_EXPLAIN};
    static const hybrid_split splits[] = {HYBRID_SPLIT_DEFAULT, HYBRID_SPLIT_AUTO,
                                          HYBRID_SPLIT_GPU, HYBRID_SPLIT_HOST,
                                          HYBRID_SPLIT_SHARE};
    uint64_t axis                      = 0;
    combination c                      = {0};

    c.schedule   = hy_schedules[pick(number, &axis, SCHEDULES)];
    c.carried    = pick(number, &axis, 4) == 0;
    c.tight      = pick(number, &axis, 2) && c.schedule != &hy_schedule_whole;
    c.flags      = flags[pick(number, &axis, 6)];
    c.split      = splits[pick(number, &axis, 5)];
    c.chunk_rows = pick(number, &axis, 2) ? ROWS / 7 : 0;
    if (c.tight && c.schedule == &hy_schedule_entry_ring)
        c.chunk_rows = 0; /* with chunks of ROWS / 7 rows, the ring might not hold the
                             rows of B for one chunk */
    c.squared       = !c.tight && pick(number, &axis, 3) == 0;
    c.pinned        = (int)pick(number, &axis, 2);
    c.planned       = (int)pick(number, &axis, 4) > 0;
    c.kind.type     = pick(number, &axis, 2) ? HYBRID_F32 : HYBRID_F64;
    c.kind.offsets  = pick(number, &axis, 2) ? HYBRID_I32 : HYBRID_I64;
    c.kind.integers = 1;
    if (!c.planned) { /* a one-shot call takes no options */
        c.flags      = 0;
        c.split      = HYBRID_SPLIT_DEFAULT;
        c.chunk_rows = 0;
    }
    return c;
}

/* ---- expected outcome ---- */

static int several; /* 1: engines have several devices */

/* Returns why no plan can have combination c, or NULL if one can. Each refusal depends on
   the values of two axes. docs/design.md lists them. */
static const char *refused(const combination *c)
{
    const int in_place = c->schedule == &hy_schedule_in_place;
    const int by_host  = c->split == HYBRID_SPLIT_HOST;
    const int shares   = c->split == HYBRID_SPLIT_SHARE;

    if (in_place ? shares || c->split == HYBRID_SPLIT_GPU : by_host && c->schedule)
        return "only the CPU computes in place";
    if (c->schedule == &hy_schedule_row_ring || c->schedule == &hy_schedule_column_ring)
        return "B is sparse, so that its rows have different sizes";
    if (c->schedule == &hy_schedule_entry_ring && c->carried)
        return "packs of this variant contain rows of B";
    if ((c->schedule == &hy_schedule_collect || c->schedule == &hy_schedule_passes) &&
        c->carried)
        return "packs of this variant contain entries of B in another order";
    return NULL;
}

static const hy_schedule *schedule_of(const hybrid_plan *plan)
{
    if (!plan->portions->backend->ops->copy)
        return &hy_schedule_in_place;
    const hy_axis axis = plan->portions->layout.image.axis;
    return axis == HY_AXIS_GATHERED    ? &hy_schedule_gather
           : axis == HY_AXIS_COLLECTED ? &hy_schedule_collect
           : axis == HY_AXIS_PASSES    ? &hy_schedule_passes
           : axis == HY_AXIS_ENTRIES   ? &hy_schedule_entry_ring
                                       : &hy_schedule_whole;
}

/* Returns 1 if a plan may have schedule s. If packs contain B (`carried`), a plan for
   which "gather" is requested has the schedule "whole". */
static int may_be(const combination *c, const hy_schedule *s)
{
    return !c->schedule || s == c->schedule ||
           (c->carried && c->schedule == &hy_schedule_gather && s == &hy_schedule_whole);
}

/* ---- one combination ---- */

static int failures;

static void expect_that(const trial *t, int truth, const char *what)
{
    const combination *c = &t->c;

    if (truth)
        return;
    failures++;
    print_error("combination %llu: %s, carried %d, tight %d, flags %u, split %d, %lld "
                "rows a chunk, squared %d, "
                "pinned %d, planned %d, f%d: %s\n",
                (unsigned long long)t->number,
                c->schedule ? c->schedule->name : "any schedule", c->carried, c->tight,
                c->flags, (int)c->split, (long long)c->chunk_rows, c->squared, c->pinned,
                c->planned, c->kind.type == HYBRID_F64 ? 64 : 32, what);
}

/* Makes A of a case of bands: row i has entries in columns i - 3 to i + 3. */
static hybrid_csr band_for(const trial *t)
{
    builder b = build_start(ROWS, ROWS);

    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t j = i - 3; j <= i + 3 && i % 11 != 3; j++)
            if (j >= 0 && j < ROWS && test_below(t->number, (uint64_t)(i * 7 + j), 7) < 5)
                build_add(&b, j);
        build_end_row(&b);
    }
    return build_finish(&b, t->number, t->c.kind);
}

/* Makes A: if B does not fit the device, A needs few of its rows, or rows near its own
   row if B passes through a ring. */
static hybrid_csr matrix_for(const trial *t)
{
    const int64_t step = t->c.tight ? ROWS / LEAST_NAMED : 1;
    builder b;

    if (t->c.schedule == &hy_schedule_entry_ring)
        return band_for(t);
    b = build_start(ROWS, ROWS);

    for (int64_t i = 0; i < ROWS; i++) {
        for (uint64_t k = 0; k < ENTRIES && i % 11 != 3; k++)
            build_add(&b, test_below(t->number, (uint64_t)i * ENTRIES + k, ROWS / step) *
                              step);
        build_end_row(&b);
    }
    return build_finish(&b, t->number, t->c.kind);
}

static int64_t b_bytes(const trial *t)
{
    const int64_t size = t->c.kind.type == HYBRID_F64 ? 8 : 4;
    return t->B->nnz * (4 + size) + (ROWS + 1) * 8;
}

/* Returns the cap on device memory; 0: no cap. B takes more than seven eighths of the
   cap. */
static size_t budget_of(const trial *t)
{
    return t->c.tight ? (size_t)b_bytes(t) / 9 * 10 : 0;
}

/* Opens an engine that has only the wanted variant, because a one-shot call cannot name
   one. */
static void open_engine_for(trial *t)
{
    static const hy_variant *const esc[] = {&hy_spgemm_fake_esc, &hy_spgemm_host_rows,
                                            NULL};
    static const hy_variant *const dup[] = {&hy_spgemm_fake_dup, &hy_spgemm_host_rows,
                                            NULL};

    assert_int_equal(fake_open(t->c.carried ? dup : esc, budget_of(t), &t->engine),
                     HYBRID_OK);
    settings_of(t->engine)->schedule = t->c.schedule;
}

static void pin(const trial *t, const hybrid_csr *A)
{
    const size_t nnz = (size_t)A->nnz;

    assert_int_equal(hybrid_pin(t->engine, A->col, nnz * 4), HYBRID_OK);
    assert_int_equal(hybrid_pin(t->engine, A->val, nnz * hy_value_size(A->type)),
                     HYBRID_OK);
}

static void open_trial(uint64_t number, trial *t)
{
    memset(t, 0, sizeof *t);
    t->number = number;
    t->c      = draw(number);
    t->A      = matrix_for(t);
    matrix_random(ROWS, ROWS, t->c.tight ? 9 : 4, (unsigned)number, t->c.kind, &t->other);
    t->B = t->c.squared ? &t->A : &t->other;
    oracle_spgemm(&t->A, t->B, &t->product);
    open_engine_for(t);
    if (t->c.pinned)
        pin(t, &t->A);
    if (t->c.pinned && !t->c.squared)
        pin(t, &t->other);
}

static void close_trial(trial *t)
{
    hybrid_engine_destroy(t->engine);
    oracle_free(&t->product);
    matrix_free(&t->A);
    matrix_free(&t->other);
}

/* ---- bytes ---- */

/* B is sent once if the device holds it, else with the chunks. C arrives once, with or
   without delta-coded columns. */
static void check_bytes(const trial *t, const hy_schedule *s, const hybrid_report *r)
{
    const int64_t size    = t->c.kind.type == HYBRID_F64 ? 8 : 4;
    const int64_t b       = b_bytes(t);
    const int64_t offsets = r->reused_pattern ? 0 : (ROWS + r->chunks) * 8;
    const int64_t entries = t->product.nnz;

    if (s == &hy_schedule_in_place) {
        expect_that(t, r->h2d_bytes == 0 && r->d2h_bytes == 0, "the host copied");
        return;
    }
    if (s == &hy_schedule_whole && !t->c.carried)
        expect_that(t,
                    t->loaded >= b - SPARE &&
                        t->loaded <= t->engine->device_count * (b + SPARE),
                    "B did not go up once");
    else if (s == &hy_schedule_entry_ring)
        expect_that(t,
                    t->loaded >= b - SPARE &&
                        t->loaded <= t->engine->device_count * (b + b / 2),
                    "B did not pass through each device once");
    else
        expect_that(t, t->loaded == 0 && r->h2d_bytes > 0,
                    "B was loaded where nothing holds it");
    expect_that(t,
                r->d2h_bytes >= entries * size + offsets &&
                    r->d2h_bytes <= entries * (4 + size) + offsets,
                "C did not come down once");
}

/* ---- runs ---- */

static void note_load(void *user, const hybrid_event *event)
{
    trial *t = user;

    if (strcmp(event->stage, "load") == 0)
        t->loaded += event->bytes;
}

static int check_result(const trial *t, hybrid_status status, hybrid_csr *C)
{
    const char *wrong = status == HYBRID_OK ? oracle_check(&t->product, C, 1)
                                            : hybrid_engine_message(t->engine);

    expect_that(t, wrong == NULL, wrong ? wrong : "");
    if (status == HYBRID_OK)
        hybrid_csr_free(t->engine, C);
    return wrong == NULL;
}

/* Runs the plan so that the rows of C are handed to a function, and checks them. The host
   computes none of them. */
static void hand_over(trial *t, hybrid_plan *plan, const hy_schedule *s)
{
    hybrid_report report = HYBRID_REPORT_INIT;
    collected rows;

    t->loaded                  = 0;
    const hybrid_status status = collect(plan, &t->A, t->B, -1, &rows);
    const char *wrong = status == HYBRID_OK ? oracle_check(&t->product, &rows.C, 1)
                                            : hybrid_engine_message(t->engine);
    matrix_free(&rows.C);
    expect_that(t, wrong == NULL, wrong ? wrong : "");
    assert_int_equal(hybrid_plan_report(plan, &report), HYBRID_OK);
    check_bytes(t, s, &report);
    expect_that(t, report.host_chunks == 0, "the host took rows from the end");
}

static void run_plan(trial *t, hybrid_plan *plan)
{
    hybrid_report report = HYBRID_REPORT_INIT;
    const hy_schedule *s = schedule_of(plan);
    hybrid_csr C;

    expect_that(t, may_be(&t->c, s), s->name);
    t->several = plan->count > 1;
    for (int run = 0; run < 2; run++) {
        t->loaded = 0;
        if (!check_result(t, hybrid_spgemm_run(plan, &t->A, t->B, &C), &C))
            return;
        assert_int_equal(hybrid_plan_report(plan, &report), HYBRID_OK);
        expect_that(t, report.reused_pattern == (run > 0 && t->c.flags & HYBRID_REUSE),
                    "sizes of C were counted again, or not at all");
        check_bytes(t, s, &report);
        expect_that(t, report.host_chunks == 0, "the host took rows of a sparse result");
    }
    hand_over(t, plan, s);
}

/* Returns 1 if the call was refused. Counts a failure if that is not what refused()
   expects. */
static int check_refusal(const trial *t, hybrid_status status)
{
    const char *wrong = refusal_wrong(t->engine, status, refused(&t->c));

    expect_that(t, !wrong, wrong);
    return status != HYBRID_OK;
}

static int plan_and_run(trial *t)
{
    hybrid_plan_options o = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan;

    o.flags      = t->c.flags;
    o.split      = t->c.split;
    o.host_share = 0.4;
    o.chunk_rows = t->c.chunk_rows;
    if (check_refusal(t, hybrid_spgemm_plan(t->engine, &t->A, t->B, &o, &plan)))
        return 1;
    run_plan(t, plan);
    hybrid_plan_destroy(plan);
    return 0;
}

static int compute_once(trial *t)
{
    hybrid_report report = HYBRID_REPORT_INIT;
    hybrid_csr C;

    const hybrid_status status = hybrid_spgemm(t->engine, &t->A, t->B, &C);
    if (check_refusal(t, status) || !check_result(t, status, &C))
        return status != HYBRID_OK;
    assert_int_equal(hybrid_engine_report(t->engine, &report), HYBRID_OK);
    if (t->c.schedule)
        check_bytes(t, t->c.schedule, &report);
    return 0;
}

static void every_combination(void **state)
{
    int64_t ran[SCHEDULES] = {0}, computed = 0, divided = 0;
    const int step = case_step(3);
    int devices[LISTED_MOST];
    trial t;

    (void)state;
    several = listed_devices(devices) > 1;
    fake_delays(1, 0);
    for (uint64_t number = 0; number < COMBINATIONS; number += (uint64_t)step) {
        open_trial(number, &t);
        hybrid_engine_trace(t.engine, note_load, &t);
        const int refused = t.c.planned ? plan_and_run(&t) : compute_once(&t);
        for (int k = 0; k < SCHEDULES; k++)
            ran[k] += !refused && t.c.schedule == hy_schedules[k];
        computed += !refused;
        divided += t.several;
        close_trial(&t);
        assert_int_equal(fake_alive(), 0);
    }
    for (int k = 0; k < SCHEDULES; k++)
        assert_int_equal(step * ran[k] > COMBINATIONS / 20,
                         hy_schedules[k] != &hy_schedule_row_ring &&
                             hy_schedules[k] != &hy_schedule_column_ring);
    assert_int_equal(failures, 0);
    assert_true(step * computed > COMBINATIONS / 3);
    assert_int_equal(step * divided > COMBINATIONS / 10, several);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_combination),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
