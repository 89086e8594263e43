/* tests/support/products/bits_spmm.c - repeated runs of one SpMM plan under
   HYBRID_DETERMINISTIC. */
#include "support/products/bits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/schedules/schedule.h"
#include "support/inputs/cases.h"
#include "support/check/oracle.h"
#include "support/check/plain_rows.h"
#include "support/runs/plans.h"
#include "support/fake/settings.h"

enum { PANELS = 3 };

static const char *const cases[] = {"power_law", "long_row", "blocks"};
static const int64_t widths[]    = {1, 33, 129};

/* How one run is made: which operands are pinned, the orders of X and Y, and `place`,
   the number of elements between the beginning of a cache line and Y. */
typedef struct way {
    int pin_x, pin_y;
    size_t place;
    hybrid_order x, y;
} way;

static const way ways[] = {
    {0, 0, 0, HYBRID_ROW_MAJOR, HYBRID_ROW_MAJOR}, /* first run, with whose bits all
                                                      other runs are compared */
    {0, 0, 0, HYBRID_ROW_MAJOR, HYBRID_ROW_MAJOR},
    {1, 1, 0, HYBRID_ROW_MAJOR, HYBRID_ROW_MAJOR},
    {1, 0, 0, HYBRID_ROW_MAJOR, HYBRID_ROW_MAJOR},
    {0, 1, 0, HYBRID_ROW_MAJOR, HYBRID_ROW_MAJOR},
    {0, 0, 5, HYBRID_ROW_MAJOR, HYBRID_ROW_MAJOR},
    {1, 1, 3, HYBRID_ROW_MAJOR, HYBRID_ROW_MAJOR},
    {0, 0, 0, HYBRID_COL_MAJOR, HYBRID_ROW_MAJOR},
    {1, 1, 0, HYBRID_COL_MAJOR, HYBRID_COL_MAJOR},
};

/* How the plan is made. in_blocks = 1: with the setting that X is sent in PANELS column
   blocks. */
typedef struct setup {
    int prime_rows;
    unsigned flags;
    int in_blocks;
} setup;

static const setup setups[] = {
    {0, 0, 0}, {1, 0, 1}, {0, HYBRID_RESIDENT, 0}, {1, HYBRID_RESIDENT, 1}};

enum {
    CASES  = sizeof cases / sizeof *cases,
    WIDTHS = sizeof widths / sizeof *widths,
    WAYS   = sizeof ways / sizeof *ways,
    SETUPS = sizeof setups / sizeof *setups
};

typedef struct trial {
    hybrid_engine *engine;
    hybrid_plan *plan;
    const char *name;
    const test_case *c;
    test_kind kind;
    const setup *how;
    hybrid_dense X, first; /* X, and Y of the plan's first run */
} trial;

static int complain(const trial *t, int w, const char *what)
{
    fprintf(stderr,
            "deterministic %s, case %s, f%d, %lld columns, setup %d, way %d: %s\n",
            t->name, t->c->name, t->kind.type == HYBRID_F64 ? 64 : 32,
            (long long)t->X.cols, (int)(t->how - setups), w, what);
    return 1;
}

static int pin(const trial *t, int wanted, const hybrid_dense *m, int w, int on)
{
    const size_t bytes = (size_t)(m->rows * m->cols) * (m->type == HYBRID_F64 ? 8 : 4);

    if (!wanted || bytes == 0)
        return 0;
    const hybrid_status status =
        on ? hybrid_pin(t->engine, m->data, bytes) : hybrid_unpin(t->engine, m->data);
    return status == HYBRID_OK ? 0 : complain(t, w, hybrid_engine_message(t->engine));
}

static int differs(const hybrid_dense *right, const hybrid_dense *Y)
{
    for (int64_t i = 0; i < Y->rows; i++)
        for (int64_t j = 0; j < Y->cols; j++) {
            const int64_t at =
                Y->order == HYBRID_COL_MAJOR ? j * Y->ld + i : i * Y->ld + j;
            if (!plain_same_bits(Y->type, Y->data, at, dense_at(right, i, j)))
                return 1;
        }
    return 0;
}

/* Checks Y of run number w of a plan: of the first against the oracle, of others against
   the bits of the first. Returns 1 with a message if it is wrong, else 0. */
static int judge(trial *t, int w, const hybrid_dense *Y)
{
    if (w > 0)
        return differs(&t->first, Y) ? complain(t, w, "other bits") : 0;
    const char *wrong = oracle_check_spmm(1, &t->c->A, &t->X, 0, Y, Y, 0);
    dense_copy(Y, &t->first);
    return wrong ? complain(t, w, wrong) : 0;
}

static int run(trial *t, int w)
{
    const size_t size = t->kind.type == HYBRID_F64 ? 8 : 4;
    const way *how    = &ways[w];
    hybrid_dense X, fresh, Y;

    dense_reorder(&t->X, how->x, 0, &X);
    dense_make(t->c->A.rows, t->X.cols, 0, how->y, 2, t->kind, &fresh);
    void *line = dense_move(&fresh, how->place * size, &Y);
    int failed = pin(t, how->pin_x, &X, w, 1) + pin(t, how->pin_y, &Y, w, 1);
    if (hybrid_spmm_run(t->plan, 1, &t->c->A, &X, 0, &Y) != HYBRID_OK)
        failed += complain(t, w, hybrid_engine_message(t->engine));
    else
        failed += judge(t, w, &Y);
    failed += pin(t, how->pin_x, &X, w, 0) + pin(t, how->pin_y, &Y, w, 0);
    free(line);
    dense_free(&fresh);
    dense_free(&X);
    return failed;
}

static int check_plan(trial t, int64_t width, int64_t *checked)
{
    hybrid_plan_options o = HYBRID_PLAN_OPTIONS_INIT;
    const int in_blocks   = t.how->in_blocks && width > 1 && !strstr(t.name, ".tiled");
    int failed            = 0;

    o.variant    = t.name;
    o.flags      = HYBRID_DETERMINISTIC | t.how->flags;
    o.chunk_rows = t.how->prime_rows ? plan_prime_rows(&t.c->A) : 0;
    settings_of(t.engine)->column_blocks =
        PANELS; /* the number of column blocks in which pinned X and Y would be sent; with
                   HYBRID_DETERMINISTIC the plan must not do that */
    settings_of(t.engine)->schedule = in_blocks ? &hy_schedule_column_ring : NULL;
    dense_make(t.c->A.cols, width, 0, HYBRID_ROW_MAJOR, 1, t.kind, &t.X);
    const char *refused = plan_spmm(t.engine, &t.c->A, width, &o, &t.plan);
    failed              = refused ? complain(&t, 0, refused) : 0;
    for (int w = 0; w < WAYS && t.plan && failed == 0; w++, ++*checked)
        failed += run(&t, w);
    hybrid_plan_destroy(t.plan);
    dense_free(&t.first);
    dense_free(&t.X);
    settings_of(t.engine)->column_blocks = 0;
    settings_of(t.engine)->schedule      = NULL;
    return failed;
}

int bits_check_spmm(hybrid_engine *engine, const char *const *names, int64_t *checked)
{
    int failed = 0;

    for (int i = 0; i < CASES * 2; i++) {
        test_case c;
        trial t = {.engine = engine, .c = &c};
        t.kind  = (test_kind){i % 2 ? HYBRID_F64 : HYBRID_F32, HYBRID_I64, 0};
        case_named(cases[i / 2], t.kind, &c);
        for (const char *const *name = names; *name; name++)
            for (int k = 0; k < WIDTHS * SETUPS; k++) {
                t.name = *name;
                t.how  = &setups[k % SETUPS];
                if (strncmp(t.name, "spgemm", 6) != 0)
                    failed += check_plan(t, widths[k / SETUPS], checked);
            }
        case_free(&c);
    }
    return failed;
}
