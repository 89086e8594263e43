/* engine/weigh.h - the host instead of a device. */
#ifndef HY_WEIGH_H
#define HY_WEIGH_H

#include "engine/engine.h"
#include "partition/extents.h"

struct hybrid_plan;

enum { HY_WEIGHED_BYTES = 1 << 20 };

/* Seconds in which the host is expected to have all of an SpMM that it may take from the
   device, and INFINITY where it may not. Once candidates are ranked for all of A. */
double hy_weigh_host(const struct hybrid_plan *plan, const hybrid_plan_options *options);

/* What the device would take, in seconds, if it is to be spared: if so many rows and columns
   of A are not empty, X does not fit nor pass through in a window, and the host is done in
   plan->host_s, much sooner. Else 0. */
double hy_weigh(const struct hybrid_plan *plan, int64_t rows, int64_t cols);

/* The same of all of A where X fits, for X and Y in rows. */
double hy_weigh_fitting(const struct hybrid_plan *plan);

/* And where X does not fit and passes through in a window, its rows lying
   between these columns; for X and Y in rows, as with columns the host takes twice as
   long. */
double hy_weigh_window(const struct hybrid_plan *plan, const hy_extents *extents);

#endif /* HY_WEIGH_H */
