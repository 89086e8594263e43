/* tests/support/runs/column_block_runs.c - SpMM with X on the device in column blocks. */
#include "support/runs/column_block_runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/plan/plan.h"
#include "engine/schedules/schedule.h"
#include "support/check/oracle.h"
#include "support/runs/plans.h"
#include "support/fake/settings.h"

enum { LINE = 64, WIDTHS = 3, PANELS = 3, WAYS = 2 * WIDTHS };
enum { PADDING = 4096 }; /* upper bound of the bytes that alignment adds to one pack */

static const int64_t widths[] = {33, 16, 70};
static const int64_t panels[] = {2, 3, 5};

/* One plan and the operands of its runs. */
typedef struct trial {
    hybrid_engine *engine;
    hybrid_plan *plan;
    const char *name;
    int64_t width, rows; /* columns of X; rows of a chunk */
    size_t place;        /* number of elements between the beginning of a cache line and
                            Y */
    unsigned flags;
    test_kind kind;
} trial;

static int complain(const trial *t, const char *what)
{
    fprintf(stderr, "panels %s, %lld columns in %lld, %lld rows a chunk, flags %u: %s\n",
            t->name, (long long)t->width,
            (long long)settings_of(t->engine)->column_blocks, (long long)t->rows,
            t->flags, what);
    return 1;
}

int64_t column_blocks_most_up(const hybrid_engine *engine, const hybrid_report *r)
{
    const int64_t taken = r->resident_bytes + r->chunks * PADDING;

    return r->predicted_h2d_bytes + (engine->device_count > 1 ? taken : 0);
}

/* Returns 1 if a later run of a plan with resident A sent A again. `x_bytes` bounds the
   bytes of X. With several devices, a device may send rows again that it takes from
   another. */
static int sends_a(const hybrid_engine *engine, const hybrid_report *r, int64_t x_bytes)
{
    return engine->device_count > 1 ? r->h2d_bytes > column_blocks_most_up(engine, r)
                                    : r->h2d_bytes > x_bytes || r->prepare_s > 0;
}

/* Checks the bytes that run number `run` of a plan sent: no more than predicted, and A
   only in the first run if it is resident. Returns the number of errors. */
static int sends_once(const trial *t, const hybrid_csr *A, int run)
{
    const int resident = (t->flags & HYBRID_RESIDENT) && run > 0;
    const size_t size  = A->type == HYBRID_F64 ? 8 : 4;
    const int64_t x    = A->cols * (t->width + 8) * (int64_t)size;
    hybrid_report r    = HYBRID_REPORT_INIT;
    int failed         = 0;

    if (hybrid_plan_report(t->plan, &r) != HYBRID_OK ||
        r.h2d_bytes > column_blocks_most_up(t->engine, &r))
        failed += complain(t, "more was sent than predicted");
    if (resident && sends_a(t->engine, &r, x))
        failed += complain(t, "a later run sends A");
    if (!resident && r.chunks > 0 && r.prepare_s <= 0)
        failed += complain(t, "nothing was packed");
    return failed;
}

static int may_have(const char *name, const hybrid_csr *A)
{
    return !strstr(name, ".tiled") && A->rows > 0 && A->cols > 0;
}

static int has_panels(const trial *t)
{
    return settings_of(t->engine)->schedule && t->plan->portions->layout.count > 0;
}

const char *column_blocks_misplaced(const hybrid_plan *plan, const hybrid_dense *Y)
{
    const hy_chunk_list *list = &plan->portions->site->list;
    const int64_t size = Y->type == HYBRID_F64 ? 8 : 4, last = list->count - 1;
    const hy_image *p  = &list->image;
    const int in_lines = !(plan->product.options.flags & HYBRID_DETERMINISTIC) &&
                         Y->order == HYBRID_ROW_MAJOR && Y->ld * size % LINE == 0 &&
                         p->block * size % LINE == 0;

    for (int64_t i = 0; i <= last; i++) {
        const hy_chunk c      = hy_chunk_at(list, i),
                       before = hy_chunk_at(list, i > 0 ? i - 1 : 0);
        const int first       = i == 0 || c.col_begin == before.col_begin;
        if (c.col_end <= c.col_begin || c.col_end - c.col_begin > p->last)
            return "a panel has no columns, or more than it may";
        if (i > 0 && c.col_begin != before.col_end && !first)
            return "panels do not follow each other";
        if (!in_lines
                ? c.col_begin % p->block != 0
                : c.col_begin > 0 &&
                      ((uintptr_t)Y->data + (uintptr_t)(c.col_begin * size)) % LINE != 0)
            return "a panel does not begin where it should";
    }
    if (last >= 0 && hy_chunk_at(list, last).col_end != plan->product.b_cols)
        return "panels do not end where X does";
    return NULL;
}

/* Returns the number of unused elements after each row of a matrix: in turn 0 as many as
   complete a cache line, in turn 1 two, in turn 2 one. */
static int64_t gap_of(const trial *t, int turn)
{
    const int64_t line = t->kind.type == HYBRID_F64 ? LINE / 8 : LINE / 4;

    return turn == 0 ? (line - t->width % line) % line : 3 - turn;
}

static int run(const trial *t, const hybrid_csr *A, int turn)
{
    const hybrid_order orders[] = {HYBRID_ROW_MAJOR, HYBRID_COL_MAJOR};
    const double beta           = turn % 2 ? 3 : 0;
    const size_t size           = t->kind.type == HYBRID_F64 ? 8 : 4;
    hybrid_dense X, Y, before;
    int failed = 0;

    dense_make(A->cols, t->width, turn, orders[turn / 2 % 2], 1, t->kind, &X);
    dense_make(A->rows, t->width, gap_of(t, turn), orders[turn % 2], 2, t->kind, &before);
    void *line = dense_move(&before, (t->place + (size_t)turn) * size % LINE, &Y);
    if (hybrid_spmm_run(t->plan, turn ? 2 : 1, A, &X, beta, &Y) != HYBRID_OK) {
        failed = complain(t, hybrid_engine_message(t->engine));
    } else {
        const char *wrong =
            oracle_check_spmm(turn ? 2 : 1, A, &X, beta, &before, &Y, t->kind.integers);
        failed = wrong ? complain(t, wrong) : 0;
        failed += dense_gaps_intact(&Y) && dense_moved_intact(line, &Y)
                      ? 0
                      : complain(t, "gaps of Y were written");
        failed += sends_once(t, A, turn);
    }
    const char *misplaced = has_panels(t) ? column_blocks_misplaced(t->plan, &Y) : NULL;
    failed += misplaced ? complain(t, misplaced) : 0;
    free(line);
    dense_free(&X);
    dense_free(&before);
    return failed;
}

static int check_plan(trial t, const hybrid_csr *A, int64_t *checked)
{
    hybrid_plan_options o = HYBRID_PLAN_OPTIONS_INIT;
    int failed            = 0;

    o.variant           = t.name;
    o.flags             = t.flags;
    o.chunk_rows        = t.rows;
    const char *refused = plan_spmm(t.engine, A, t.width, &o, &t.plan);
    if (refused)
        return complain(&t, refused);
    if (!t.plan)
        return 0;
    if ((t.plan->portions->layout.image.axis == HY_AXIS_COLS) != has_panels(&t))
        failed = complain(&t, "panels where none can be, or none where they can");
    for (int turn = 0; turn < 3; turn++)
        failed += run(&t, A, turn);
    hybrid_plan_destroy(t.plan);
    ++*checked;
    return failed;
}

static int check_case(hybrid_engine *engine, int i, const char *const *names,
                      int64_t *checked)
{
    int failed = 0;
    test_case c;

    for (int kind = 0; kind < PLAN_KINDS; kind++) {
        case_make(i, plan_kinds[kind], &c);
        for (const char *const *name = names; *name; name++)
            for (int k = 0; k < WAYS && strncmp(*name, "spgemm", 6) != 0; k++) {
                const trial t                      = {.engine = engine,
                                                      .name   = *name,
                                                      .kind   = plan_kinds[kind],
                                                      .flags  = k % 2 ? HYBRID_RESIDENT : 0,
                                                      .rows   = (k / 2 + i) % 2 ? 0 : plan_prime_rows(&c.A),
                                                      .place  = (size_t)(*checked % 16),
                                                      .width  = widths[k / 2]};
                settings_of(engine)->column_blocks = panels[(i + k) % PANELS];
                settings_of(engine)->schedule =
                    may_have(*name, &c.A) ? &hy_schedule_column_ring : NULL;
                failed += check_plan(t, &c.A, checked);
            }
        case_free(&c);
    }
    settings_of(engine)->column_blocks = 0;
    settings_of(engine)->schedule      = NULL;
    return failed;
}

int column_blocks_check(hybrid_engine *engine, const char *const *names, int64_t *checked)
{
    int failed = 0;

    for (int i = 0; i < case_count(); i++)
        failed += check_case(engine, i, names, checked);
    return failed;
}
