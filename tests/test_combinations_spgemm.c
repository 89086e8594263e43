/* tests/test_combinations_spgemm.c - all that can be asked of a SpGEMM, with everything
   else: as test_combinations.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/csr.h"
#include "engine/plan.h"
#include "support/builder.h"
#include "support/fake_backend.h"
#include "support/fake_spmm.h"
#include "support/oracle.h"

extern const hy_variant hy_spgemm_host_rows;

enum { COMBINATIONS = 1000, ROWS = 240, ENTRIES = 5, LEAST_NAMED = 24, SPARE = 2048 };

/* How B lies where it is computed. */
typedef enum schedule {
    IN_PLACE, /* the host reads it where it is */
    WHOLE,    /* all of it on the device */
    GATHERED, /* chunks bring the rows that they touch */
    CARRIED,  /* chunks bring a row of B for each entry of A */
    SCHEDULES
} schedule;

static const char *const schedule_names[] = {"in place", "whole", "gathered", "carried"};

typedef struct combination {
    schedule asked;
    unsigned flags;
    hybrid_split split;
    int64_t chunk_rows;
    int squared; /* B is A */
    int pinned;  /* A and B */
    int planned; /* else one call */
    test_kind kind;
} combination;

typedef struct trial {
    uint64_t number;
    combination c;
    hybrid_engine *engine;
    hybrid_csr A, other;
    const hybrid_csr *B;
    oracle product;
    int64_t loaded; /* bytes of B in the last run, by its trace */
    int64_t shared; /* runs in which the host took part */
} trial;

/* ---- drawing ----------------------------------------------------------------------- */

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
                                          HYBRID_SPLIT_GPU, HYBRID_SPLIT_SHARE};
    uint64_t axis                      = 0;
    combination c                      = {0};

    c.asked         = (schedule)pick(number, &axis, SCHEDULES);
    c.flags         = flags[pick(number, &axis, 6)];
    c.split         = splits[pick(number, &axis, 4)];
    c.chunk_rows    = pick(number, &axis, 2) ? ROWS / 7 : 0;
    c.squared       = c.asked != GATHERED && pick(number, &axis, 3) == 0;
    c.pinned        = (int)pick(number, &axis, 2);
    c.planned       = (int)pick(number, &axis, 4) > 0;
    c.kind.type     = pick(number, &axis, 2) ? HYBRID_F32 : HYBRID_F64;
    c.kind.offsets  = pick(number, &axis, 2) ? HYBRID_I32 : HYBRID_I64;
    c.kind.integers = 1;
    if (!c.planned) { /* one call takes no options */
        c.flags      = 0;
        c.split      = HYBRID_SPLIT_DEFAULT;
        c.chunk_rows = 0;
    }
    return c;
}

/* ---- what is to happen ---------------------------------------------------------------
 */

/* The beginning of the sentence with which it must be refused; NULL: it must not be. */
static const char *refused(const combination *c)
{
    if (c->asked == IN_PLACE &&
        (c->split == HYBRID_SPLIT_GPU || c->split == HYBRID_SPLIT_SHARE))
        return "a split with the GPU is asked for, and there is none";
    if (c->split == HYBRID_SPLIT_SHARE && !(c->flags & HYBRID_REUSE))
        return "the product cannot be shared with the host: where the host's rows belong";
    return NULL;
}

static schedule schedule_of(const hybrid_plan *plan)
{
    if (!plan->product.backend->ops->copy)
        return IN_PLACE;
    return plan->product.variant->carries_b ? CARRIED
           : plan->layout.gathered          ? GATHERED
                                            : WHOLE;
}

/* ---- one combination ------------------------------------------------------------------
 */

static int failures;

static void expect_that(const trial *t, int truth, const char *what)
{
    const combination *c = &t->c;

    if (truth)
        return;
    failures++;
    print_error(
        "combination %llu: %s, flags %u, split %d, %lld rows a chunk, squared %d, "
        "pinned %d, planned %d, f%d: %s\n",
        (unsigned long long)t->number, schedule_names[c->asked], c->flags, (int)c->split,
        (long long)c->chunk_rows, c->squared, c->pinned, c->planned,
        c->kind.type == HYBRID_F64 ? 64 : 32, what);
}

/* Where chunks are to bring rows of B, few rows are named. */
static hybrid_csr matrix_for(const trial *t)
{
    const int64_t step = t->c.asked == GATHERED ? ROWS / LEAST_NAMED : 1;
    builder b          = build_start(ROWS, ROWS);

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

/* Of device memory; 0: no cap. B takes more than seven eighths where it is to be
   gathered. */
static size_t budget_of(const trial *t)
{
    return t->c.asked == GATHERED ? (size_t)b_bytes(t) / 9 * 10 : 0;
}

/* One call takes the device only if there is nothing else. */
static void open_engine_for(trial *t)
{
    static const hy_variant *const esc[]        = {&hy_spgemm_fake_esc, NULL};
    static const hy_variant *const dup[]        = {&hy_spgemm_fake_dup, NULL};
    static const hy_variant *const esc_shared[] = {&hy_spgemm_fake_esc,
                                                   &hy_spgemm_host_rows, NULL};
    static const hy_variant *const dup_shared[] = {&hy_spgemm_fake_dup,
                                                   &hy_spgemm_host_rows, NULL};
    const hy_variant *const *whole              = t->c.planned ? esc_shared : esc;
    const hy_variant *const *carried            = t->c.planned ? dup_shared : dup;
    hybrid_engine_options options               = HYBRID_ENGINE_OPTIONS_INIT;

    options.backend = HYBRID_HOST;
    options.threads = 3;
    assert_int_equal(t->c.asked == IN_PLACE
                         ? hybrid_engine_create(&options, &t->engine)
                         : fake_open(t->c.asked == CARRIED ? carried : whole,
                                     budget_of(t), &t->engine),
                     HYBRID_OK);
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
    matrix_random(ROWS, ROWS, t->c.asked == GATHERED ? 9 : 4, (unsigned)number, t->c.kind,
                  &t->other);
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

/* ---- bytes
 * ------------------------------------------------------------------------------ */

/* B goes up once where the device holds it, and with chunks where not; C comes down once,
   its columns as they are or packed. */
static void check_bytes(const trial *t, schedule s, const hybrid_report *r)
{
    const int64_t size    = t->c.kind.type == HYBRID_F64 ? 8 : 4;
    const int64_t b       = b_bytes(t);
    const int64_t offsets = r->reused_pattern ? 0 : (ROWS + r->chunks) * 8;
    const int64_t entries = t->product.nnz;

    if (s == IN_PLACE) {
        expect_that(t, r->h2d_bytes == 0 && r->d2h_bytes == 0, "the host copied");
        return;
    }
    if (r->host_chunks > 0) /* who computes a row depends on time */
        return;
    if (s == WHOLE)
        expect_that(t, t->loaded >= b - SPARE && t->loaded <= b + SPARE,
                    "B did not go up once");
    else
        expect_that(t, t->loaded == 0 && r->h2d_bytes > 0,
                    "B was loaded where nothing holds it");
    expect_that(t,
                r->d2h_bytes >= entries * size + offsets &&
                    r->d2h_bytes <= entries * (4 + size) + offsets,
                "C did not come down once");
}

/* ---- runs
 * ------------------------------------------------------------------------------- */

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

static void run_plan(trial *t, hybrid_plan *plan)
{
    hybrid_report report = HYBRID_REPORT_INIT;
    const schedule s     = schedule_of(plan);
    hybrid_csr C;

    expect_that(t, s == t->c.asked, schedule_names[s]);
    for (int run = 0; run < 2; run++) {
        t->loaded = 0;
        if (!check_result(t, hybrid_spgemm_run(plan, &t->A, t->B, &C), &C))
            return;
        assert_int_equal(hybrid_plan_report(plan, &report), HYBRID_OK);
        expect_that(t, report.reused_pattern == (run > 0 && t->c.flags & HYBRID_REUSE),
                    "sizes of C were counted again, or not at all");
        check_bytes(t, s, &report);
        expect_that(t, run > 0 || report.host_chunks == 0,
                    "the host took rows whose place was not known");
        t->shared += report.host_chunks > 0;
    }
}

/* Returns whether it was refused. */
static int plan_and_run(trial *t)
{
    const char *refusal   = refused(&t->c);
    hybrid_plan_options o = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan;

    o.flags      = t->c.flags;
    o.split      = t->c.split;
    o.host_share = 0.4;
    o.chunk_rows = t->c.chunk_rows;
    if (hybrid_spgemm_plan(t->engine, &t->A, t->B, &o, &plan) != HYBRID_OK) {
        const char *said = hybrid_engine_message(t->engine);
        expect_that(t, refusal && strncmp(said, refusal, strlen(refusal)) == 0, said);
        return 1;
    }
    expect_that(t, !refusal, "is on the list of what is refused, and was planned");
    run_plan(t, plan);
    hybrid_plan_destroy(plan);
    return 0;
}

static void compute_once(trial *t)
{
    hybrid_report report = HYBRID_REPORT_INIT;
    hybrid_csr C;

    if (!check_result(t, hybrid_spgemm(t->engine, &t->A, t->B, &C), &C))
        return;
    assert_int_equal(hybrid_engine_report(t->engine, &report), HYBRID_OK);
    check_bytes(t, t->c.asked, &report);
}

static void every_combination(void **state)
{
    int64_t ran[SCHEDULES] = {0}, refusals = 0, shared = 0;
    trial t;

    (void)state;
    fake_delays(1, 0);
    for (uint64_t number = 0; number < COMBINATIONS; number++) {
        open_trial(number, &t);
        hybrid_engine_trace(t.engine, note_load, &t);
        if (!t.c.planned)
            compute_once(&t);
        else
            refusals += plan_and_run(&t);
        ran[t.c.asked]++;
        shared += t.shared;
        close_trial(&t);
        assert_int_equal(fake_alive(), 0);
    }
    for (int s = 0; s < SCHEDULES; s++)
        assert_true(ran[s] > COMBINATIONS / 8);
    assert_int_equal(failures, 0);
    assert_true(refusals > 0);
    assert_true(shared > COMBINATIONS / 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_combination),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
