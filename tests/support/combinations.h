/* tests/support/combinations.h - combinations of all that can be asked of an SpMM.

   A combination is one value of each axis, drawn by its number. Its matrix and the
   device memory that it has leave its plan the schedule that it asks for, unless another
   value forbids that: combination_schedule() and combination_refused() are the lists of
   these pairs. */
#ifndef COMBINATIONS_H
#define COMBINATIONS_H

#include "support/cases.h"

enum { COMBINATION_ROWS = 720, COMBINATION_COLS = 600 };

/* How X lies where it is computed. */
typedef enum schedule {
    IN_PLACE,      /* the host reads it where it is */
    WHOLE,         /* all of it on the device */
    COLUMN_BLOCKS, /* on the device, a block of columns after the other */
    ROW_RING,      /* rows pass through the device */
    GATHERED,      /* chunks bring the rows that they touch */
    ROW_SUBSET,    /* whole, without rows and columns that A leaves empty */
    SCHEDULES
} schedule;

typedef struct combination {
    schedule asked;
    const char *variant;
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

extern const char *const schedule_names[];

combination combination_draw(uint64_t number);

/* A is COMBINATION_ROWS x COMBINATION_COLS. Free with matrix_free(). */
hybrid_csr combination_matrix(const combination *c, uint64_t number);

/* Bytes of device memory; 0: no cap. */
size_t combination_budget(const combination *c);

/* The beginning of the sentence with which it must be refused; NULL: it must not be. */
const char *combination_refused(const combination *c);

/* The schedule of its plan, and whether that may be another one. */
schedule combination_schedule(const combination *c);
int combination_may_take(const combination *c, schedule s);

int64_t combination_value_bytes(const combination *c);
int combination_is_tiled(const combination *c); /* X and Y lie in columns on the device */

#endif /* COMBINATIONS_H */
