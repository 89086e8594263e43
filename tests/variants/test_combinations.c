/* tests/variants/test_combinations.c - random combinations of all options of SpMM.

   Each combination (support/products/combinations.h) is planned and run twice, or
   computed in a one-shot call, on a fake device and the host. The result must have the
   bits of the oracle. The plan must have the schedule that the combination names, and the
   moved bytes must be those of that schedule. Refused combinations must be in the list of
   combination_refused() and in docs/design.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/data/csr.h"
#include "engine/plan/plan.h"
#include "engine/schedules/schedule.h"
#include "support/products/combinations.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fake_spmm.h"
#include "support/engines/listed.h"
#include "support/check/oracle.h"
#include "support/check/refusals.h"
#include "support/fake/settings.h"

extern const hy_variant hy_spmm_host_rows;

enum {
    COMBINATIONS = 3000,
    PANELS       = 3,
    LINE_BYTES   = 64, /* bytes; padding of a row of X on the device is at most twice as
                          many */
    PACK_SPARE = 2048  /* maximum of bytes that alignment adds to the pack of a chunk */
};

static const hy_schedule *schedule_of(const hybrid_plan *plan, int portion)
{
    const hy_layout *l = &plan->portions[portion].layout;

    if (!plan->portions->backend->ops->copy)
        return &hy_schedule_in_place;
    return hy_image_is_gathered(&l->image) ? &hy_schedule_gather
           : l->image.axis == HY_AXIS_ROWS ? &hy_schedule_row_ring
           : l->image.axis == HY_AXIS_COLS ? &hy_schedule_column_ring
                                           : &hy_schedule_whole;
}

typedef struct trial {
    uint64_t number;
    combination c;
    hybrid_engine *engine;
    hybrid_csr A;
    hybrid_dense X, Y, before;
    int64_t loaded; /* bytes of X that the loader sent in the last run, from its trace */
    int64_t times;  /* how often each row of A is sent in a run: once for each column
                       block of X */
    int devices;    /* number of devices that hold X (in a one-shot call: that may hold
                       it) */
} trial;

static int failures;
static int several; /* number of plans so far that use several devices */

static void complain(const trial *t, const char *what)
{
    const combination *c = &t->c;

    failures++;
    print_error(
        "combination %llu: %s, %s, tight %d, banded %d, sparse %d, flags %u, split %d, "
        "%lld columns, %lld rows a chunk, X in order %d, gap %lld, pinned %d, Y in order "
        "%d, gap "
        "%lld, pinned %d, planned %d, alpha %g, beta %g, f%lld: %s\n",
        (unsigned long long)t->number, c->schedule ? c->schedule->name : "any schedule",
        c->variant, c->tight, c->banded, c->sparse, c->flags, (int)c->split,
        (long long)c->width, (long long)c->chunk_rows, (int)c->x_order,
        (long long)c->x_gap, c->x_pinned, (int)c->y_order, (long long)c->y_gap,
        c->y_pinned, c->planned, c->alpha, c->beta,
        8 * (long long)combination_value_bytes(c), what);
}

static void expect_that(const trial *t, int truth, const char *what)
{
    if (!truth)
        complain(t, what);
}

/* Opens the engine of a combination. It has only the wanted variant, because a one-shot
   call cannot name one. */
static void open_engine_for(trial *t)
{
    static const hy_variant *const rows[]  = {&hy_spmm_fake_rows, &hy_spmm_host_rows,
                                              NULL};
    static const hy_variant *const tiled[] = {&hy_spmm_fake_tiled, &hy_spmm_host_rows,
                                              NULL};

    assert_int_equal(fake_open(combination_is_tiled(&t->c) ? tiled : rows,
                               combination_budget(&t->c), &t->engine),
                     HYBRID_OK);
    settings_of(t->engine)->schedule = t->c.schedule;
    settings_of(t->engine)->column_blocks =
        t->c.schedule == &hy_schedule_column_ring ? PANELS : 0;
    settings_of(t->engine)->hypersparse_bytes = 1;
}

static size_t dense_bytes(const hybrid_dense *m)
{
    const int64_t lines = m->order == HYBRID_ROW_MAJOR ? m->rows : m->cols;
    return (size_t)(lines * m->ld) * (m->type == HYBRID_F64 ? 8 : 4);
}

static void open_trial(uint64_t number, trial *t)
{
    memset(t, 0, sizeof *t);
    t->number = number;
    t->c      = combination_draw(number);
    t->A      = combination_matrix(&t->c, number);
    open_engine_for(t);
    dense_make(COMBINATION_COLS, t->c.width, t->c.x_gap, t->c.x_order, 1, t->c.kind,
               &t->X);
    dense_make(COMBINATION_ROWS, t->c.width, t->c.y_gap, t->c.y_order, 2, t->c.kind,
               &t->Y);
    dense_copy(&t->Y, &t->before);
    if (t->c.x_pinned)
        assert_int_equal(hybrid_pin(t->engine, t->X.data, dense_bytes(&t->X)), HYBRID_OK);
    if (t->c.y_pinned)
        assert_int_equal(hybrid_pin(t->engine, t->Y.data, dense_bytes(&t->Y)), HYBRID_OK);
}

static void close_trial(trial *t)
{
    hybrid_engine_destroy(t->engine);
    matrix_free(&t->A);
    dense_free(&t->X);
    dense_free(&t->Y);
    dense_free(&t->before);
}

/* ---- bytes ---- */

static int64_t rows_not_empty(const hybrid_csr *A)
{
    int64_t count = 0;

    for (int64_t i = 0; i < A->rows; i++)
        count += hy_offset(A, i + 1) > hy_offset(A, i);
    return count;
}

static int64_t columns_named(const hybrid_csr *A, int64_t *last)
{
    char named[COMBINATION_COLS] = {0};
    int64_t count                = 0;

    *last = -1;
    for (int64_t k = 0; k < A->nnz; k++)
        named[hy_cols(A)[k]] = 1;
    for (int64_t j = 0; j < COMBINATION_COLS; j++)
        if (named[j]) {
            count++;
            *last = j;
        }
    return count;
}

/* Checks the bytes of X that the loader sent: all rows up to the last that A touches at
   least once, and none twice. Nothing is loaded if chunks gather rows or the host
   computes in place. */
static void check_loaded(const trial *t, const hy_schedule *s)
{
    const int64_t row  = t->c.width * combination_value_bytes(&t->c);
    const int64_t line = 2 * LINE_BYTES; /* bytes: upper bound of what is added to a row
                                            of X to make it whole vectors */
    int64_t last;
    const int64_t named = columns_named(&t->A, &last);
    const int some      = combination_leaves_out(&t->c, s);

    if (s == &hy_schedule_in_place || s == &hy_schedule_gather) {
        expect_that(t, t->loaded == 0, "X was loaded where nothing holds it");
        return;
    }
    expect_that(t, t->devices > 1 || t->loaded >= (some ? named : last + 1) * row,
                "less of X was sent than A names");
    expect_that(
        t, t->loaded <= t->devices * (some ? named : COMBINATION_COLS) * (row + line),
        "X was sent more than once");
}

/* Returns 1 if the plan must cache all of A: there is room, and the host takes no
   rows. */
static int keeps_all(const trial *t, const hy_schedule *s)
{
    return t->c.flags & HYBRID_RESIDENT && !t->c.tight &&
           (t->c.split == HYBRID_SPLIT_DEFAULT || t->c.split == HYBRID_SPLIT_GPU) &&
           (s == &hy_schedule_whole || s == &hy_schedule_column_ring);
}

static void check_bytes(const trial *t, const hy_schedule *s, const hybrid_report *r,
                        int run)
{
    const int64_t row  = t->c.width * combination_value_bytes(&t->c);
    const int64_t size = combination_value_bytes(&t->c);
    const int64_t rows =
        combination_leaves_out(&t->c, s) ? rows_not_empty(&t->A) : COMBINATION_ROWS;
    const int64_t a    = t->A.nnz * 4;
    const int64_t pack = t->A.nnz * (4 + size) + COMBINATION_ROWS * 8;
    /* bytes of A, and of rows of X in gathered chunks */
    const int64_t up     = r->h2d_bytes - t->loaded;
    const int some_stays = run > 0 && r->resident_chunks > 0;

    if (r->host_chunks > 0) /* not checked, because the bytes depend on which site claims
                               a row first */
        return;
    check_loaded(t, s);
    if (s == &hy_schedule_in_place) {
        expect_that(t, r->h2d_bytes == 0 && r->d2h_bytes == 0, "the host copied");
        return;
    }
    expect_that(t, r->d2h_bytes == rows * row, "Y did not come down once");
    expect_that(t, !keeps_all(t, s) || r->resident_chunks == r->chunks,
                "A does not stay on the device");
    if (run > 0 && r->resident_chunks == r->chunks && s != &hy_schedule_gather)
        expect_that(t, up == 0, "a later run sends A");
    else if (s == &hy_schedule_gather)
        expect_that(t,
                    up >= a && (!t->c.planned || r->h2d_bytes <= r->predicted_h2d_bytes),
                    "chunks brought more than was predicted");
    else if (!combination_is_tiled(&t->c))
        expect_that(
            t, up <= t->times * pack + r->chunks * PACK_SPARE && (some_stays || up >= a),
            "A did not go up once");
}

/* ---- runs ---- */

static void note_load(void *user, const hybrid_event *event)
{
    trial *t = user;

    if (strcmp(event->stage, "load") == 0)
        t->loaded += event->bytes;
}

static void begin_run(trial *t)
{
    t->loaded = 0;
    memcpy(t->Y.data, t->before.data, dense_bytes(&t->Y));
}

static void check_result(const trial *t, hybrid_status status)
{
    const char *wrong;

    if (status != HYBRID_OK) {
        complain(t, hybrid_engine_message(t->engine));
        return;
    }
    wrong = oracle_check_spmm(t->c.alpha, &t->A, &t->X, t->c.beta, &t->before, &t->Y, 1);
    if (wrong)
        complain(t, wrong);
    expect_that(t, dense_gaps_intact(&t->Y), "gaps of Y were written");
}

static void run_plan(trial *t, hybrid_plan *plan)
{
    const hy_schedule *s = schedule_of(plan, 0);
    hybrid_report report = HYBRID_REPORT_INIT;
    int alike            = 1; /* 1: all devices of the plan have the same schedule */

    for (int i = 1; i < plan->count; i++)
        alike = alike && schedule_of(plan, i) == s;
    t->devices = plan->count;
    several += plan->count > 1;

    expect_that(t, !t->c.schedule || s == t->c.schedule, s->name);
    expect_that(t,
                hy_is_hypersparse(&plan->product.hypersparse) ==
                    combination_leaves_out(&t->c, s),
                "empty rows and columns were left out, or not, against what was to be");
    t->times = hy_image_col_blocks(&plan->portions->layout.image);
    for (int run = 0; run < 2; run++) {
        begin_run(t);
        check_result(t,
                     hybrid_spmm_run(plan, t->c.alpha, &t->A, &t->X, t->c.beta, &t->Y));
        assert_int_equal(hybrid_plan_report(plan, &report), HYBRID_OK);
        if (alike)
            check_bytes(t, s, &report, run);
    }
}

/* Returns 1 if the call was refused. A refusal must be the expected one, and a call that
   must be refused must not succeed. */
static int check_refusal(const trial *t, hybrid_status status)
{
    const char *wrong = refusal_wrong(t->engine, status, combination_refused(&t->c));

    if (wrong)
        complain(t, wrong);
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
    o.order      = t->c.x_order;
    if (check_refusal(t, hybrid_spmm_plan(t->engine, &t->A, t->c.width, &o, &plan)))
        return 1;
    run_plan(t, plan);
    hybrid_plan_destroy(plan);
    return 0;
}

static int compute_once(trial *t)
{
    hybrid_report report = HYBRID_REPORT_INIT;

    begin_run(t);
    const hybrid_status status =
        hybrid_spmm(t->engine, t->c.alpha, &t->A, &t->X, t->c.beta, &t->Y);
    if (check_refusal(t, status))
        return 1;
    check_result(t, status);
    t->times = PANELS * COMBINATION_COLS; /* upper bound; the number of column blocks is
                                             unknown here */
    t->devices = t->engine->device_count;
    assert_int_equal(hybrid_engine_report(t->engine, &report), HYBRID_OK);
    if (t->c.schedule)
        check_bytes(t, t->c.schedule, &report, 0);
    return 0;
}

static void every_combination(void **state)
{
    const int step                     = case_step(3);
    int64_t ran[COMBINATION_SCHEDULES] = {0}, computed = 0;
    int devices[LISTED_MOST];
    trial t;

    (void)state;
    fake_delays(1, 0);
    for (uint64_t number = 0; number < COMBINATIONS; number += (uint64_t)step) {
        open_trial(number, &t);
        hybrid_engine_trace(t.engine, note_load, &t);
        const int refused = t.c.planned ? plan_and_run(&t) : compute_once(&t);
        for (int k = 0; k < COMBINATION_SCHEDULES; k++)
            ran[k] += !refused && t.c.schedule == hy_schedules[k];
        computed += !refused;
        close_trial(&t);
        assert_int_equal(fake_alive(), 0);
    }
    for (int k = 0; k < COMBINATION_SCHEDULES; k++)
        assert_int_equal(step * ran[k] > COMBINATIONS / 20,
                         hy_schedules[k] != &hy_schedule_entry_ring &&
                             hy_schedules[k] != &hy_schedule_collect &&
                             hy_schedules[k] != &hy_schedule_passes);
    assert_int_equal(failures, 0);
    assert_true(step * computed >= 1450 && step * computed < COMBINATIONS);
    assert_int_equal(step * several > COMBINATIONS / 4, listed_devices(devices) > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_combination),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
