/* engine/api/scale.h - Y = alpha*A*X + beta*Y with alpha == 0. */
#ifndef HY_SCALE_H
#define HY_SCALE_H

#include "engine/report/usage.h"

/* Computes Y = beta*Y on the device that holds Y, else with all workers. Y is not read
   if beta is 0. Arguments must be checked. *report becomes the report of a run without
   chunks, which begins at `start`. */
hybrid_status hy_scale(hybrid_engine *engine, double beta, const hybrid_dense *Y,
                       const hy_beginning *start, hybrid_report *report);

#endif /* HY_SCALE_H */
