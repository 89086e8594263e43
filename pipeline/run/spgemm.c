/* pipeline/run/spgemm.c - the stages of C = A*B.

   `reserve` needs the number of entries that `finish` has counted. Chunks reserve in the
   order of rows, so each knows where its entries begin in C, and C is stored once. When a
   plan with HYBRID_REUSE runs again, these numbers are known: `reserve` waits for
   nothing, and lanes follow each other without the host, unless columns are delta-coded,
   whose size is counted in every run. */
#include "pipeline/run/stage.h"

const hy_stage hy_spgemm_stages[] = {
    {"prepare", HY_ON_CPU, HY_STEP_PREPARE},    {"h2d", HY_ON_IN, HY_STEP_H2D},
    {"multiply", HY_ON_RUN, HY_STEP_MULTIPLY},  {"compress", HY_ON_RUN, HY_STEP_FINISH},
    {"reserve", HY_ON_DRIVER, HY_STEP_RESERVE}, {"d2h", HY_ON_OUT, HY_STEP_D2H},
    {"place", HY_ON_CPU, HY_STEP_PLACE},        {NULL, HY_ON_CPU, HY_STEPS},
};
