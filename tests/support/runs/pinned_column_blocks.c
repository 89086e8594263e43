/* tests/support/runs/pinned_column_blocks.c - plans that use column blocks if X and Y are
   pinned. */
#include "support/runs/pinned_column_blocks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/plan/plan.h"
#include "support/check/oracle.h"
#include "support/runs/column_block_runs.h"
#include "support/runs/plans.h"
#include "support/fake/settings.h"

enum { LINE = 64, WIDTHS = 3, IN_ROWS = 5, RUNS = 7 };

static const int64_t widths[] = {128, 33, 70};
static const int64_t panels[] = {2, 3, 5};

/* One plan and the state of its current run, number `turn`. */
typedef struct trial {
    hybrid_engine *engine;
    hybrid_plan *plan;
    const char *name;
    int64_t width;
    unsigned flags;
    test_kind kind;
    int first_pinned, turn;
    int64_t in_blocks; /* number of runs so far in which X was sent in column blocks */
} trial;

/* Returns 1 if X and Y are pinned in this run: in every other run, beginning with the
   first if first_pinned is 1, else with the second. */
static int is_pinned(const trial *t)
{
    return t->turn % 2 != t->first_pinned;
}

/* Returns 1 if beta is not 0 in this run, which is one of the pinned runs. */
static int has_beta(const trial *t)
{
    return t->turn == 2 + !t->first_pinned;
}

/* Returns the order of X and Y in this run. The last two runs are column-major; one of
   these is pinned. */
static hybrid_order order_of(const trial *t)
{
    return t->turn < IN_ROWS ? HYBRID_ROW_MAJOR : HYBRID_COL_MAJOR;
}

static int complain(const trial *t, const char *what)
{
    fprintf(stderr, "pinned panels %s, %lld columns in %lld, flags %u, run %d%s%s: %s\n",
            t->name, (long long)t->width,
            (long long)settings_of(t->engine)->column_blocks, t->flags, t->turn,
            is_pinned(t) ? ", pinned" : "", has_beta(t) ? ", beta" : "", what);
    return 1;
}

static int pin(const trial *t, const hybrid_dense *m, int on)
{
    const int64_t size = m->type == HYBRID_F64 ? 8 : 4;
    const int in_rows  = m->order == HYBRID_ROW_MAJOR;
    const int64_t last =
        in_rows ? (m->rows - 1) * m->ld + m->cols : (m->cols - 1) * m->ld + m->rows;
    const size_t bytes = (size_t)(last * size);

    if (!is_pinned(t) || m->rows == 0)
        return 0;
    const hybrid_status status =
        on ? hybrid_pin(t->engine, m->data, bytes) : hybrid_unpin(t->engine, m->data);
    return status == HYBRID_OK ? 0 : complain(t, hybrid_engine_message(t->engine));
}

/* Checks the report of a run: whether it used column blocks, what it copied, and what
   was predicted. Returns the number of errors. */
static int check_way(trial *t, const hybrid_csr *A, const hybrid_dense *Y)
{
    const int64_t size    = A->type == HYBRID_F64 ? 8 : 4;
    const int offered     = t->plan->portions->layout.pinned_blocks > 0;
    const int in_blocks   = offered && is_pinned(t) && !has_beta(t);
    const int64_t y_bytes = Y->rows * Y->cols * size;
    hybrid_report r       = HYBRID_REPORT_INIT;
    int failed            = 0;

    if (hybrid_plan_report(t->plan, &r) != HYBRID_OK)
        return complain(t, "there is no report");
    if ((t->plan->portions->site->list.image.axis == HY_AXIS_COLS) != in_blocks)
        failed += complain(t, "panels, or none, against what was to be");
    const char *misplaced = in_blocks ? column_blocks_misplaced(t->plan, Y) : NULL;
    failed += misplaced ? complain(t, misplaced) : 0;
    if (in_blocks && r.place_s > 0)
        failed += complain(t, "workers stored a pinned Y");
    if (r.h2d_bytes > column_blocks_most_up(t->engine, &r) || r.d2h_bytes > y_bytes ||
        (r.d2h_bytes < y_bytes) != (r.host_chunks > 0))
        failed += complain(t, "other bytes were copied than predicted");
    if (t->flags & HYBRID_RESIDENT && t->turn > 0 && offered && r.prepare_s > 0 &&
        t->engine->device_count == 1)
        failed += complain(t, "a later run packs A");
    t->in_blocks += in_blocks;
    return failed;
}

static int run(trial *t, const hybrid_csr *A)
{
    const size_t size  = t->kind.type == HYBRID_F64 ? 8 : 4;
    const int64_t line = (int64_t)(LINE / size);
    const int64_t gap  = t->turn < 3 ? (line - t->width % line) % line : 3;
    const double beta  = has_beta(t) ? 3 : 0;
    hybrid_dense x, X, Y, before;

    dense_make(A->cols, t->width, t->turn % 3, order_of(t), (unsigned)t->turn, t->kind,
               &x);
    dense_make(A->rows, t->width, gap, order_of(t), 2, t->kind, &before);
    void *x_line = dense_move(&x, 16, &X);
    void *line_y = dense_move(&before, (size_t)(5 * t->turn + 4) * size % HY_X_LINE, &Y);
    int failed   = pin(t, &X, 1) + pin(t, &Y, 1);
    if (hybrid_spmm_run(t->plan, 1, A, &X, beta, &Y) != HYBRID_OK) {
        failed += complain(t, hybrid_engine_message(t->engine));
    } else {
        const char *wrong =
            oracle_check_spmm(1, A, &X, beta, &before, &Y, t->kind.integers);
        failed += wrong ? complain(t, wrong) : check_way(t, A, &Y);
        if (!dense_gaps_intact(&Y) || !dense_moved_intact(line_y, &Y))
            failed += complain(t, "gaps of Y were written");
    }
    failed += pin(t, &X, 0) + pin(t, &Y, 0);
    free(x_line);
    free(line_y);
    dense_free(&x);
    dense_free(&before);
    return failed;
}

static int check_plan(trial t, const hybrid_csr *A, int64_t *checked)
{
    hybrid_plan_options o = HYBRID_PLAN_OPTIONS_INIT;
    int failed            = 0;

    o.variant           = t.name;
    o.flags             = t.flags;
    o.chunk_rows        = t.first_pinned ? 0 : plan_prime_rows(A);
    const char *refused = plan_spmm(t.engine, A, t.width, &o, &t.plan);
    if (refused)
        return complain(&t, refused);
    if (!t.plan)
        return 0;
    if (!strstr(t.name, ".tiled") && A->rows > 0 && A->cols > 0 &&
        t.plan->portions->layout.pinned_blocks == 0)
        failed += complain(&t, "no panels where they can be");
    for (t.turn = 0; t.turn < RUNS; t.turn++)
        failed += run(&t, A);
    hybrid_plan_destroy(t.plan);
    *checked += t.in_blocks;
    return failed;
}

int pinned_column_blocks_check(hybrid_engine *engine, const char *const *names,
                               int64_t *checked)
{
    const int step = case_step(2);
    int failed     = 0;

    for (int i = 0; i < case_count() * PLAN_KINDS; i++) {
        if ((i / PLAN_KINDS + i % PLAN_KINDS) % step > 0)
            continue;
        const test_kind kind = plan_kinds[i % PLAN_KINDS];
        test_case c;
        case_make(i / PLAN_KINDS, kind, &c);
        for (const char *const *name = names; *name; name++)
            for (int k = 0; k < 2 * WIDTHS && strncmp(*name, "spgemm", 6) != 0; k++) {
                const trial t                      = {.engine       = engine,
                                                      .name         = *name,
                                                      .kind         = kind,
                                                      .flags        = k % 2 ? HYBRID_RESIDENT : 0,
                                                      .first_pinned = (i / PLAN_KINDS + k / 2) % 2,
                                                      .width        = widths[k / 2]};
                settings_of(engine)->column_blocks = panels[(i + k) % WIDTHS];
                failed += check_plan(t, &c.A, checked);
            }
        case_free(&c);
    }
    settings_of(engine)->column_blocks = 0;
    return failed;
}
