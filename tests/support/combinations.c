/* tests/support/combinations.c - combinations of all that can be asked of an SpMM. */
#include "support/combinations.h"

#include <string.h>

#include "support/builder.h"

enum {
    ENTRIES    = 4, /* a row */
    NEAR       = 6, /* half of the band */
    LINE_BYTES = 64 /* rows of X and Y of less are not left out */
};

const char *const schedule_names[] = {"in place", "whole",    "column blocks",
                                      "row ring", "gathered", "row subset"};

/* ---- drawing ----------------------------------------------------------------------- */

static int64_t pick(uint64_t number, uint64_t *axis, int64_t count)
{
    return test_below(number, ++*axis, count);
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
    static const hybrid_split of[] = {HYBRID_SPLIT_DEFAULT, HYBRID_SPLIT_AUTO,
                                      HYBRID_SPLIT_GPU, HYBRID_SPLIT_SHARE};
    combination c                  = {0};
    uint64_t axis                  = 0;

    c.asked   = (schedule)pick(number, &axis, SCHEDULES);
    c.variant = c.asked == IN_PLACE           ? "spmm.host.rows"
                : pick(number, &axis, 3) == 0 ? "spmm.fake.tiled"
                                              : "spmm.fake.rows";
    c.flags   = flags[pick(number, &axis, 6)];
    c.split   = of[pick(number, &axis, 4)];
    c.width   = widths[pick(number, &axis, 5)];
    if (c.asked == ROW_RING || c.asked == GATHERED) /* else X fits any budget */
        c.width = c.width < widths[2] ? widths[2] : c.width;
    c.chunk_rows    = pick(number, &axis, 2) ? COMBINATION_ROWS / 7 : 0;
    c.x_order       = pick(number, &axis, 3) == 0 ? HYBRID_COL_MAJOR : HYBRID_ROW_MAJOR;
    c.y_order       = pick(number, &axis, 3) == 0 ? HYBRID_COL_MAJOR : HYBRID_ROW_MAJOR;
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
    if (!c.planned) { /* one call takes neither options nor a variant's name */
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

/* ---- what is to happen ---------------------------------------------------------------
 */

/* NULL, or the sentence's beginning where the two values named cannot be combined. */
const char *combination_refused(const combination *c)
{
    if (c->asked == IN_PLACE &&
        (c->split == HYBRID_SPLIT_GPU || c->split == HYBRID_SPLIT_SHARE))
        return "a split with the GPU is asked for, and there is none";
    if (c->asked != IN_PLACE && c->split == HYBRID_SPLIT_SHARE &&
        c->flags & HYBRID_DETERMINISTIC)
        return "the product cannot be shared with the host: bits";
    return NULL;
}

/* The schedule of the plan, where that is not the one asked for. Each line is a pair of
   values that the engine does not combine: it computes in another way. */
schedule combination_schedule(const combination *c)
{
    const int shares = c->split == HYBRID_SPLIT_SHARE;

    switch (c->asked) {
    case COLUMN_BLOCKS:
        if (shares || combination_is_tiled(c) ||
            c->width * combination_value_bytes(c) <= 16)
            return WHOLE;
        break;
    case ROW_RING:
        if (shares || combination_is_tiled(c))
            return GATHERED;
        break;
    case ROW_SUBSET:
        if (shares || c->split == HYBRID_SPLIT_AUTO || c->chunk_rows > 0 ||
            c->width * combination_value_bytes(c) < LINE_BYTES)
            return WHOLE;
        break;
    case IN_PLACE:
    case WHOLE:
    case GATHERED:
    case SCHEDULES:
        break;
    }
    return c->asked;
}

/* By bytes: column blocks may leave more room to an A that stays. */
int combination_may_take(const combination *c, schedule s)
{
    return s == combination_schedule(c) ||
           (s == COLUMN_BLOCKS && c->asked == ROW_RING && c->flags & HYBRID_RESIDENT &&
            !combination_is_tiled(c) && c->split != HYBRID_SPLIT_SHARE);
}

/* Banded where rows are to pass through; columns that are not named where chunks are to
   bring fewer rows than there are, or where these are to be left out. */
hybrid_csr combination_matrix(const combination *c, uint64_t number)
{
    builder b = build_start(COMBINATION_ROWS, COMBINATION_COLS);

    for (int64_t i = 0; i < COMBINATION_ROWS; i++) {
        const int empty = c->asked == ROW_SUBSET && i % 3 > 0;
        for (uint64_t k = 0; k < ENTRIES && !empty; k++) {
            const uint64_t at  = (uint64_t)i * ENTRIES + k;
            const int64_t far  = test_below(number + 100, at, COMBINATION_COLS);
            const int64_t near = i * COMBINATION_COLS / COMBINATION_ROWS +
                                 test_below(number + 100, at, 2 * NEAR) - NEAR;
            const int64_t col = c->asked == ROW_RING     ? near
                                : c->asked == GATHERED   ? far / 100 * 100
                                : c->asked == ROW_SUBSET ? far / 3 * 3
                                                         : far;
            if (col >= 0 && col < COMBINATION_COLS)
                build_add(&b, col);
        }
        build_end_row(&b);
    }
    return build_finish(&b, number, c->kind);
}

/* Device memory that leaves the schedule no other: X does not fit where its rows are to
   pass through, beside an A that stays if it shall, or to be gathered. */
size_t combination_budget(const combination *c)
{
    const size_t x = (size_t)(COMBINATION_COLS * c->width * combination_value_bytes(c));

    if (c->asked == GATHERED)
        return x / 2 + 8192;
    if (c->asked == ROW_RING)
        return x / 4 * 3 + 12288;
    return 0;
}
