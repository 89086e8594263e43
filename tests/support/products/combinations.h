/* tests/support/products/combinations.h - random combinations of the options of SpMM.

   A combination has one value of each option, drawn from the combination's number.
   combination_refused() says which combinations must be refused. All others must be
   computed with the schedule that they name. */
#ifndef COMBINATIONS_H
#define COMBINATIONS_H

#include "engine/schedules/schedule.h"
#include "support/inputs/cases.h"

/* COMBINATION_SCHEDULES: number of values of the field `schedule`, including NULL. */
enum { COMBINATION_ROWS = 720, COMBINATION_COLS = 600, COMBINATION_SCHEDULES = 9 };

typedef struct combination {
    const hy_schedule *schedule; /* schedule that the plan must have; NULL: the engine
                                    chooses */
    const char *variant;         /* name of the variant; NULL: the engine chooses */
    int tight;                   /* 1: device memory is too small for all of X; 0: no
                                    cap */
    int banded;                  /* 1: the columns of each row of A lie near the
                                    diagonal */
    int sparse;                  /* 1: most rows and columns of A are empty; 0: nearly
                                    none */
    unsigned flags;
    hybrid_split split;
    int64_t width, chunk_rows;
    hybrid_order x_order, y_order;
    int64_t x_gap, y_gap;
    int x_pinned, y_pinned;
    int planned; /* 1: a plan and its run; 0: a one-shot call */
    double alpha, beta;
    test_kind kind;
} combination;

combination combination_draw(uint64_t number);

/* Returns the matrix A for this combination, COMBINATION_ROWS x COMBINATION_COLS.
   `number` is the number of the combination. matrix_free() frees A. */
hybrid_csr combination_matrix(const combination *c, uint64_t number);

/* Returns the cap on device memory for this combination, in bytes; 0: no cap. */
size_t combination_budget(const combination *c);

/* Returns the message with which the combination must be refused, or NULL if it must not
   be refused. */
const char *combination_refused(const combination *c);

/* Returns 1 if a plan with that schedule must leave out the empty rows and columns of A,
   else 0. */
int combination_leaves_out(const combination *c, const hy_schedule *schedule);

int64_t combination_value_bytes(const combination *c);
int combination_is_tiled(const combination *c); /* returns 1 if the variant stores X and
                                                   Y by columns on the device */

#endif /* COMBINATIONS_H */
