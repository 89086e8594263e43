/* engine/api/scale.h - Y = alpha*A*X + beta*Y where alpha is 0. */
#ifndef HY_SCALE_H
#define HY_SCALE_H

#include "engine/report/usage.h"

/* Y = beta*Y by the workers, whatever the backend: A and X are not read, nor is Y with
   beta == 0. Arguments are checked. The report is of a run without a chunk on the host. */
hybrid_status hy_scale(hybrid_engine *engine, double beta, const hybrid_dense *Y,
                       const hy_beginning *start, hybrid_report *report);

#endif /* HY_SCALE_H */
