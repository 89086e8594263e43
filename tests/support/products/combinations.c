/* tests/support/products/combinations.c - random combinations of the options of SpMM. */
#include "support/products/combinations.h"

#include <string.h>

#include "support/inputs/builder.h"

enum {
    ENTRIES = 4,     /* entries of each row of A */
    NEAR    = 6,     /* if A is banded, entries lie at most this many columns from the
                        diagonal */
    LINE_BYTES = 64, /* a plan may leave out empty rows and columns of A only if rows of
                        X and Y have at least this many bytes */
    LEAST_WIDE = 16  /* the least number of columns of X for which alignment adds little
                        to the size of X */
};

/* ---- drawing ---- */

static int64_t pick(uint64_t number, uint64_t *axis, int64_t count)
{
    return test_below(number, ++*axis, count);
}

static hybrid_order pick_order(uint64_t number, uint64_t *axis)
{
    return pick(number, axis, 3) == 0 ? HYBRID_COL_MAJOR : HYBRID_ROW_MAJOR;
}

combination combination_draw(uint64_t number)
{
    static const int64_t widths[] = {1, 5, 16, 20, 33};
    static const unsigned flags[] = {0,
                                     HYBRID_RESIDENT,
                                     HYBRID_DETERMINISTIC,
                                     HYBRID_RESIDENT | HYBRID_DETERMINISTIC,
                                     HYBRID_CHECK,
                                     HYBRID_EXPLAIN};
    static const double alphas[] = {1, 1, 2}, betas[] = {0, 0, 3};
    static const hybrid_split of[]   = {HYBRID_SPLIT_DEFAULT, HYBRID_SPLIT_DEFAULT,
                                        HYBRID_SPLIT_AUTO,    HYBRID_SPLIT_GPU,
                                        HYBRID_SPLIT_HOST,    HYBRID_SPLIT_SHARE};
    static const char *const names[] = {"spmm.fake.rows", "spmm.fake.rows",
                                        "spmm.fake.tiled"};
    combination c                    = {0};
    uint64_t axis                    = 0;

    c.schedule = hy_schedules[pick(number, &axis, COMBINATION_SCHEDULES)];
    c.variant  = names[pick(number, &axis, 3)];
    c.flags    = flags[pick(number, &axis, 6)];
    c.split    = of[pick(number, &axis, 6)];
    c.width    = widths[pick(number, &axis, 5)];
    if (c.schedule == &hy_schedule_column_ring && c.width == 1)
        c.width = LEAST_WIDE; /* the schedule column_ring needs at least two columns of
                                 X */
    c.tight = pick(number, &axis, 2) && c.width >= LEAST_WIDE &&
              c.schedule != &hy_schedule_whole;
    c.banded        = pick(number, &axis, 2) || c.schedule == &hy_schedule_row_ring;
    c.sparse        = pick(number, &axis, 3) == 0;
    c.chunk_rows    = pick(number, &axis, 3) == 0 ? COMBINATION_ROWS / 7 : 0;
    c.x_order       = pick_order(number, &axis);
    c.y_order       = pick_order(number, &axis);
    c.x_gap         = pick(number, &axis, 2) * 3;
    c.y_gap         = pick(number, &axis, 2) * 5;
    c.x_pinned      = (int)pick(number, &axis, 2);
    c.y_pinned      = (int)pick(number, &axis, 2);
    c.planned       = (int)pick(number, &axis, 4) > 0;
    c.alpha         = alphas[pick(number, &axis, 3)];
    c.beta          = betas[pick(number, &axis, 3)];
    c.kind.type     = pick(number, &axis, 2) ? HYBRID_F32 : HYBRID_F64;
    c.kind.offsets  = pick(number, &axis, 2) ? HYBRID_I32 : HYBRID_I64;
    c.kind.integers = 1;
    if (!c.planned) { /* these are fields of plan options, which a one-shot call does not
                         take */
        c.flags      = 0;
        c.split      = HYBRID_SPLIT_DEFAULT;
        c.chunk_rows = 0;
    }
    return c;
}

int64_t combination_value_bytes(const combination *c)
{
    return c->kind.type == HYBRID_F64 ? 8 : 4;
}

int combination_is_tiled(const combination *c)
{
    return strcmp(c->variant, "spmm.fake.tiled") == 0;
}

/* ---- expected outcome ---- */

static int is_ring(const hy_schedule *schedule)
{
    return schedule == &hy_schedule_row_ring || schedule == &hy_schedule_column_ring;
}

/* docs/design.md lists the messages. Each depends on two of the options. */
const char *combination_refused(const combination *c)
{
    const int in_place = c->schedule == &hy_schedule_in_place;
    const int by_host  = c->split == HYBRID_SPLIT_HOST;
    const int shares   = c->split == HYBRID_SPLIT_SHARE;

    if (in_place ? shares || c->split == HYBRID_SPLIT_GPU : by_host && c->schedule)
        return "only the CPU computes in place";
    if (c->schedule == &hy_schedule_entry_ring)
        return "X is dense";
    if (c->schedule == &hy_schedule_collect)
        return "the device collects rows of a sparse B alone";
    if (c->schedule == &hy_schedule_passes)
        return "passes are for a sparse B";
    if (is_ring(c->schedule) && combination_is_tiled(c))
        return "this variant uses the original row numbers of X";
    if (shares && c->schedule == &hy_schedule_row_ring)
        return "rows of X are sent in the order in which the GPU needs them";
    if (shares && c->schedule == &hy_schedule_column_ring)
        return "X is sent in blocks of columns, for which A stays on the GPU";
    if (shares && c->flags & HYBRID_DETERMINISTIC)
        return "the CPU rounds differently, and HYBRID_DETERMINISTIC (--deterministic) "
               "is set";
    return NULL;
}

int combination_leaves_out(const combination *c, const hy_schedule *schedule)
{
    return c->sparse && schedule != &hy_schedule_in_place &&
           c->split != HYBRID_SPLIT_SHARE && c->split != HYBRID_SPLIT_AUTO &&
           c->chunk_rows == 0 && c->width * combination_value_bytes(c) >= LINE_BYTES;
}

/* ---- operands ---- */

hybrid_csr combination_matrix(const combination *c, uint64_t number)
{
    builder b = build_start(COMBINATION_ROWS, COMBINATION_COLS);

    for (int64_t i = 0; i < COMBINATION_ROWS; i++) {
        const int empty = c->sparse && i % 3 > 0;
        for (uint64_t k = 0; k < ENTRIES && !empty; k++) {
            const uint64_t at  = (uint64_t)i * ENTRIES + k;
            const int64_t far  = test_below(number + 100, at, COMBINATION_COLS);
            const int64_t near = i * COMBINATION_COLS / COMBINATION_ROWS +
                                 test_below(number + 100, at, 2 * NEAR) - NEAR;
            const int64_t col = c->banded ? near : far;
            if (col >= 0 && col < COMBINATION_COLS)
                build_add(&b, c->sparse ? col / 3 * 3 : col);
        }
        build_end_row(&b);
    }
    return build_finish(&b, number, c->kind);
}

/* If `tight`, returns 5/4 of the bytes of X. X and the slots do not fit into that, nor
   does X with HYBRID_RESIDENT, where it may take only three quarters of the memory. */
size_t combination_budget(const combination *c)
{
    const size_t x = (size_t)(COMBINATION_COLS * c->width * combination_value_bytes(c));

    return c->tight ? x / 4 * 5 : 0;
}
