/* engine/schedules/schedule.h - the interface of schedules: how B or X reaches the
   kernels.

   Like a variant, a schedule says whether it can be used, what it costs, and how the work
   is cut for it. A schedule is a file schedule_<name>.c and a row of the table in
   schedules.c. cut.c compares schedules by hy_seconds() of their estimates and by nothing
   else. */
#ifndef HY_SCHEDULE_H
#define HY_SCHEDULE_H

#include "engine/rates/estimate.h"

typedef struct hy_schedule {
    const char *name;

    /* (optional) Returns NULL, or the reason why the schedule cannot be used, as a static
       string. Pure. */
    const char *(*refuse)(const hy_product *product);

    /* Returns an optimistic estimate from sizes alone: chunks are even, all packs that
       may be cached are, and A is as favourable as it can be. An estimate without chunks
       means that sizes leave no room. Pure. */
    hy_estimate (*promise)(const hy_planning *p);

    /* (optional) Gives the same estimate after a look at A. */
    hybrid_status (*cost)(const hy_planning *p, hy_estimate *out);

    /* Makes the layout, which the caller frees. NO_DEVICE_MEMORY, with a sentence, if no
       layout holds all rows. */
    hybrid_status (*cut)(const hy_planning *p, hy_layout *out);
} hy_schedule;

extern const hy_schedule hy_schedule_whole, hy_schedule_row_ring, hy_schedule_column_ring,
    hy_schedule_gather, hy_schedule_in_place;

extern const hy_schedule *const hy_schedules[]; /* simple schedules first; ends with NULL */

/* ---- for schedules ------------------------------------------------------------- */

/* Return the number of slots to begin with, and a smaller one for layouts that do not fit
   with the first. */
int hy_slots(const hy_product *product);
int hy_slots_fewer(const hy_product *product);

/* Returns NULL, or the reason why no ring can hold B or X. */
const char *hy_refuse_ring(const hy_product *product);

/* Returns the rows of the largest ring of X in that part of the budget; 0 if there is
   none. */
int64_t hy_ring_rows(const hy_product *product, hy_allowance part);

/* Finds once between which columns the rows of A lie. p->extents->blocks is NULL if some
   row spans more than the largest ring of rows holds. */
hybrid_status hy_schedule_look(const hy_planning *p);

/* Returns the estimate of a layout with the number of even chunks that takes the least
   time. */
hy_estimate hy_schedule_even(const hy_planning *p, const hy_layout *layout);

double hy_schedule_layout_s(const hy_planning *p, const hy_layout *layout);

/* Makes the first of the `count` layouts that holds all rows; layouts with 0 slots are
   skipped. */
hybrid_status hy_schedule_first(const hy_planning *p, const hy_layout *asked, int count,
                                hy_layout *out);

#endif /* HY_SCHEDULE_H */
