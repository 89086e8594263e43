/* pipeline/run/spmm.c - the stages of Y = alpha*A*X + beta*Y.

   All sizes are known beforehand: `reserve` waits for nothing, and lanes follow each
   other without the host. */
#include "pipeline/run/stage.h"

const hy_stage hy_spmm_stages[] = {
    {"tile", HY_ON_CPU, HY_STEP_PREPARE},
    {"h2d", HY_ON_IN, HY_STEP_H2D},
    {"accumulate", HY_ON_RUN, HY_STEP_MULTIPLY},
    {"reserve", HY_ON_DRIVER, HY_STEP_RESERVE},
    {"d2h", HY_ON_OUT, HY_STEP_D2H},
    {"place", HY_ON_CPU, HY_STEP_PLACE},
    {NULL, HY_ON_CPU, HY_STEPS},
};
