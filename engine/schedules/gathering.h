/* engine/schedules/gathering.h - what schedules share whose chunks bring the rows of B or X
   that they touch. `axis` of the image tells how the rows reach the device. */
#ifndef HY_GATHERING_H
#define HY_GATHERING_H

#include "engine/schedules/schedule.h"

/* promise(), cost() and cut() of such a schedule. */
hy_estimate hy_gathering_promise(const hy_planning *p, hy_axis axis);
hybrid_status hy_gathering_cost(const hy_planning *p, hy_axis axis, hy_estimate *out);
hybrid_status hy_gathering_cut(const hy_planning *p, hy_axis axis, hy_layout *out);

#endif /* HY_GATHERING_H */
