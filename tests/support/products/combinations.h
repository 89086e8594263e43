/* tests/support/products/combinations.h - random combinations of the options of SpMM.

   Each option is an axis with a few values. A combination has one value of each axis,
   drawn from the combination's number. combination_refused() is the list of combinations
   that must be refused. All others are computed with the schedule that they name. */
#ifndef COMBINATIONS_H
#define COMBINATIONS_H

#include "engine/schedules/schedule.h"
#include "support/inputs/cases.h"

/* COMBINATION_SCHEDULES: the values of `schedule`, including NULL. */
enum { COMBINATION_ROWS = 720, COMBINATION_COLS = 600, COMBINATION_SCHEDULES = 7 };

typedef struct combination {
    const hy_schedule *schedule; /* NULL: the engine chooses */
    const char *variant;         /* NULL: the engine chooses */
    int tight;                   /* 1: device memory does not hold X */
    int banded;                  /* 1: the columns of each row of A lie near the
                                    diagonal */
    int sparse;                  /* 1: most rows and columns of A are empty */
    unsigned flags;
    hybrid_split split;
    int64_t width, chunk_rows;
    hybrid_order x_order, y_order;
    int64_t x_gap, y_gap;
    int x_pinned, y_pinned;
    int planned; /* 0: a one-shot call */
    double alpha, beta;
    test_kind kind;
} combination;

combination combination_draw(uint64_t number);

/* Returns A, COMBINATION_ROWS x COMBINATION_COLS. matrix_free() frees it. */
hybrid_csr combination_matrix(const combination *c, uint64_t number);

/* Returns the bytes of device memory; 0: no cap. */
size_t combination_budget(const combination *c);

/* Returns the message with which the combination must be refused, or NULL if it must not
   be refused. */
const char *combination_refused(const combination *c);

/* Returns 1 if a plan with that schedule must leave out the empty rows and columns of
   A. */
int combination_leaves_out(const combination *c, const hy_schedule *schedule);

int64_t combination_value_bytes(const combination *c);
int combination_is_tiled(const combination *c); /* 1: X and Y are stored by columns on the
                                                   device */

#endif /* COMBINATIONS_H */
