/* tests/support/products/combinations.h - combinations of all that can be asked of an
   SpMM.

   A combination is one value of each axis, drawn by its number. Which ones are refused
   stands in one list: combination_refused(). All others are computed with the schedule
   that they name. */
#ifndef COMBINATIONS_H
#define COMBINATIONS_H

#include "engine/schedules/schedule.h"
#include "support/inputs/cases.h"

enum { COMBINATION_ROWS = 720, COMBINATION_COLS = 600, COMBINATION_SCHEDULES = 6 /* and NULL */ };

typedef struct combination {
    const hy_schedule *schedule; /* NULL: whichever the engine takes */
    const char *variant;         /* NULL: the same */
    int tight;                   /* device memory does not hold X */
    int banded;                  /* rows of A name rows of X near each other */
    int sparse;                  /* most rows and columns of A are empty */
    unsigned flags;
    hybrid_split split;
    int64_t width, chunk_rows;
    hybrid_order x_order, y_order;
    int64_t x_gap, y_gap;
    int x_pinned, y_pinned;
    int planned; /* else one call */
    double alpha, beta;
    test_kind kind;
} combination;

combination combination_draw(uint64_t number);

/* A is COMBINATION_ROWS x COMBINATION_COLS. Free with matrix_free(). */
hybrid_csr combination_matrix(const combination *c, uint64_t number);

/* Bytes of device memory; 0: no cap. */
size_t combination_budget(const combination *c);

/* The sentence with which it must be refused; NULL: it must not be. */
const char *combination_refused(const combination *c);

/* Whether its plan is to leave out empty rows and columns of A, with that schedule. */
int combination_leaves_out(const combination *c, const hy_schedule *schedule);

int64_t combination_value_bytes(const combination *c);
int combination_is_tiled(const combination *c); /* X and Y lie in columns on the device */

#endif /* COMBINATIONS_H */
