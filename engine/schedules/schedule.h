/* engine/schedules/schedule.h - the interface of schedules: how B or X reaches the
   kernels.

   Like a variant, a schedule says whether it can be used, what it costs, and how the work
   is cut for it. A schedule is a file schedule_<name>.c and a row of the table in
   schedules.def. choose.c compares schedules by hy_seconds() of their estimates and by
   nothing else. */
#ifndef HY_SCHEDULE_H
#define HY_SCHEDULE_H

#include "engine/rates/estimate.h"
#include "engine/tables/refusals.h"

typedef struct hy_schedule {
    const char *name;

    unsigned values; /* what the schedule brings with it, as bits HY_WITH_...; refusals.h
                        lists those that exclude each other */

    /* Returns an optimistic estimate from sizes alone. It assumes that chunks are equally
       large, that all packs that may be cached are cached, and that A is as favourable as
       possible. An estimate with 0 chunks means that the schedule cannot be used, for
       instance because B or X does not fit the device. Pure. */
    hy_estimate (*promise)(const hy_planning *p);

    /* (optional) Does what promise() does, but inspects the patterns of A first, and sets
       *out. */
    hybrid_status (*cost)(const hy_planning *p, hy_estimate *out);
    int cost_counts; /* 1: cost() counts the bytes that a run sends, so that reports name
                        them even if the schedule is not cut; else 0 */

    /* Makes the layout, which the caller frees. If every layout lacks memory for some
       row, returns NO_DEVICE_MEMORY with a sentence, or a layout with 0 slots. */
    hybrid_status (*cut)(const hy_planning *p, hy_layout *out);

    /* (optional) Makes a layout that needs little memory, as cut() does. Called if no
       schedule could be cut; the last row of the table is asked first. Keeps the sentence
       of an earlier failure if nothing could fit. */
    hybrid_status (*cut_least)(const hy_planning *p, hy_layout *out);
} hy_schedule;

#define HY_SCHEDULE(name) extern const hy_schedule name;
#include "engine/schedules/schedules.def"
#undef HY_SCHEDULE

extern const hy_schedule
    *const hy_schedules[]; /* the table of schedules, simple ones first; ends with NULL */

/* ---- for schedules ------------------------------------------------------------- */

/* hy_slots() returns the preferred number of slots. hy_slots_fewer() returns a number, at
   most as large, for layouts that do not fit with the preferred one. */
int hy_slots(const hy_planning *p);
int hy_slots_fewer(const hy_planning *p);

/* Returns the number of rows of the largest ring of X that fits `part` of the budget; 0
   if even the smallest ring that is allowed does not fit. */
int64_t hy_ring_rows(const hy_portion *portion, hy_allowance part);

/* Sets p->extents, the first and last columns of blocks of rows of A, unless they are set
   already. For SpMM p->extents->blocks is NULL if no ring of rows fits, or if some row
   spans more columns than the largest ring holds for one chunk. */
hybrid_status hy_schedule_scan(const hy_planning *p);

/* hy_schedule_even() returns the estimate of a layout that has no chunks yet. It assumes
   equally large chunks, in the number that takes the least predicted time.
   hy_schedule_layout_s() returns the predicted seconds of a run with a layout that has
   its chunks. */
hy_estimate hy_schedule_even(const hy_planning *p, const hy_layout *layout);

double hy_schedule_layout_s(const hy_planning *p, const hy_layout *layout);

/* Cuts the `count` layouts in turn, skipping those with 0 slots, and returns the first in
   which all rows fit. NO_DEVICE_MEMORY if they fit in none. */
hybrid_status hy_schedule_first(const hy_planning *p, const hy_layout *asked, int count,
                                hy_layout *out);

#endif /* HY_SCHEDULE_H */
