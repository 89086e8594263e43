/* engine/schedules/gathering.h - functions of the schedules whose chunks bring the rows
   of B or X that they touch. */
#ifndef HY_GATHERING_H
#define HY_GATHERING_H

#include "engine/schedules/schedule.h"

/* Do what hy_schedule.promise, cost and cut do. `axis` of the image tells how the rows
   reach the device. */
hy_estimate hy_gathering_promise(const hy_planning *p, hy_axis axis);
hybrid_status hy_gathering_cost(const hy_planning *p, hy_axis axis, hy_estimate *out);
hybrid_status hy_gathering_cut(const hy_planning *p, hy_axis axis, hy_layout *out);

#endif /* HY_GATHERING_H */
