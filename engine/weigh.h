/* engine/weigh.h - the host instead of a device that X does not fit on. */
#ifndef HY_WEIGH_H
#define HY_WEIGH_H

#include "engine/engine.h"

struct hybrid_plan;

/* Seconds in which the host is expected to have all of an SpMM that it may take from the
   device, and INFINITY where it may not. Once candidates are ranked for all of A. */
double hy_weigh_host(const struct hybrid_plan *plan, const hybrid_plan_options *options);

/* Whether a host that takes so many seconds is done sooner than the device in the layout
   that the plan has got. If so plan->spared_s is what the device would take. */
int hy_weigh(struct hybrid_plan *plan, double host_s);

#endif /* HY_WEIGH_H */
