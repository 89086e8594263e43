/* engine/run/bind.h - fits a plan's chunks to X and Y of a run. */
#ifndef HY_BIND_H
#define HY_BIND_H

#include "engine/sites/split.h"
#include "pipeline/run/run.h"

/* Sets the chunks and the image of the portion's site to those of a run as planned: X and
   Y are not pinned, and Y begins at a cache line. */
void hy_bind_planned(const hy_portion *portion);

/* Sets the chunks and the image of the portion's site for a run with this X and Y.
   `direct` is 1 if X and Y are copied directly (pin.h); the run then uses the layout's
   image for pinned operands, if it has one. Column blocks are moved to begin at cache
   lines of Y, unless the plan must give the same bits in every run. */
void hy_bind(const hy_portion *portion, int direct, const hy_problem *problem);

/* Sets in the sites of the `count` portions, which are bound, what they do in a run:
   their rows, their rates, and whether they take rows of others. Returns these sites. If
   the host helps, `forecast` is its forecast and portions[count] its portion; else
   `forecast` is NULL. */
hy_sites hy_bind_sites(const hy_portion *portions, int count,
                       const hy_forecast *forecast);

#endif /* HY_BIND_H */
