/* engine/panels.h - into which panels of columns an X on the device is cut. */
#ifndef HY_PANELS_H
#define HY_PANELS_H

#include "engine/plan.h"

enum { HY_PANEL_CHUNKS = 8 /* of a panel, at least, of a product large enough */ };

/* Panels with which the plan's product is shortest, all of them on the device at once; 0
   columns if they are no gain. The layout has X whole: it tells what each chunk needs of
   it. X and Y are not pinned. */
hy_panels hy_panels_best(const hybrid_plan *plan, const hy_layout *whole);

/* If they are: prepare a layout that has X whole for runs in panels too, should they be a
   gain, and A and X fit so. layout->if_pinned says. */
void hy_panels_offer(const hybrid_plan *plan, hy_layout *layout);

/* Seconds that the device is expected to take alone for such a run of a plan that was
   never run. */
double hy_panels_pinned_s(const hybrid_plan *plan);

/* The layout with X in these panels, and as much of A as fits beside them. 0 slots: they
   do not fit, or some row does not. */
hybrid_status hy_panels_try(const hy_planning *p, int depth, hy_panels panels,
                            hy_layout *out);

/* The fewest panels of which two take no more than so many bytes of the device; 0 columns:
   not even a narrow one fits, or the variant takes none. */
hy_panels hy_panels_within(const hybrid_plan *plan, size_t bytes);

/* Bits of a sum depend on the lanes that share a row, those on a panel's width: where
   they shall be the same in every run, panels are the same wherever Y lies. */
int hy_panels_may_move(const hybrid_plan *plan);

/* Their number, at least 1. */
int64_t hy_panels_count(const hybrid_plan *plan);

/* panels_run.c: the chunks of a run, of whose panels the problem is told: those for pinned
   X and Y, if that is what the run has; moved so that they begin where lines of Y do,
   unless all runs are to have the same bits. */
hy_bound hy_panels_bind(const hybrid_plan *plan, hy_problem *problem);

#endif /* HY_PANELS_H */
