/* engine/schedules/schedule.h - a schedule: in which order B or X comes to where it is
   read.

   A schedule answers three questions, as a variant does: whether it can be had, what it
   costs, and how the work is cut for it. It is a file schedule_<name>.c and a row of the
   table in schedules.c. cut.c compares what they cost, by hy_seconds() and by nothing
   else. */
#ifndef HY_SCHEDULE_H
#define HY_SCHEDULE_H

#include "engine/rates/estimate.h"

typedef struct hy_schedule {
    const char *name;

    /* (optional) NULL, or why not, as a static sentence. Pure. */
    const char *(*refuse)(const hy_product *product);

    /* A run of it, at best: chunks are even, packs that may stay do, and what only a look
       at A can tell is as good as it may be. No chunks: sizes leave it no room. Pure. */
    hy_estimate (*promise)(const hy_planning *p);

    /* (optional) The same after a look at A. */
    hybrid_status (*cost)(const hy_planning *p, hy_estimate *out);

    /* The layout, to be freed. NO_DEVICE_MEMORY, with a sentence, if none holds all rows.
     */
    hybrid_status (*cut)(const hy_planning *p, hy_layout *out);
} hy_schedule;

extern const hy_schedule hy_schedule_whole, hy_schedule_row_ring, hy_schedule_column_ring,
    hy_schedule_gather, hy_schedule_in_place;

extern const hy_schedule *const hy_schedules[]; /* simple ones first; ends with NULL */

/* ---- for schedules ------------------------------------------------------------- */

/* Slots with which work is tried; and fewer, with which it is tried if these find no
 * room. */
int hy_slots(const hy_product *product);
int hy_slots_fewer(const hy_product *product);

/* NULL, or why no ring can hold B or X. */
const char *hy_refuse_ring(const hy_product *product);

/* Rows of the largest ring of X in that part of the budget; 0: there is none. */
int64_t hy_ring_rows(const hy_product *product, hy_allowance part);

/* Between which columns rows of A lie, looked at once: p->extents->blocks is NULL if some
   row spans more than any ring of rows holds. */
hybrid_status hy_schedule_look(const hy_planning *p);

/* Of a layout as it is asked for, in as many even chunks as take the least time. */
hy_estimate hy_schedule_even(const hy_planning *p, const hy_layout *layout);

double hy_schedule_layout_s(const hy_planning *p, const hy_layout *layout);

/* The first of the layouts asked for that holds all rows; those of 0 slots are left out.
 */
hybrid_status hy_schedule_first(const hy_planning *p, const hy_layout *asked, int count,
                                hy_layout *out);

#endif /* HY_SCHEDULE_H */
