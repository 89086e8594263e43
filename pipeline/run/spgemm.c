/* pipeline/run/spgemm.c - C = A*B, chunk by chunk.

   reserve needs the number of entries that compress found. Chunks pass it in order of
   rows, so each knows then where in C it starts, and C is stored once. When a plan runs
   again both are known before: reserve waits for nothing, and the lanes follow each other
   without the host, unless columns come packed, whose bytes are counted anew. */
#include "pipeline/run/stage.h"

const hy_stage hy_spgemm_stages[] = {
    {"prepare", HY_ON_CPU, HY_STEP_PREPARE},    {"h2d", HY_ON_IN, HY_STEP_H2D},
    {"multiply", HY_ON_RUN, HY_STEP_MULTIPLY},  {"compress", HY_ON_RUN, HY_STEP_FINISH},
    {"reserve", HY_ON_DRIVER, HY_STEP_RESERVE}, {"d2h", HY_ON_OUT, HY_STEP_D2H},
    {"place", HY_ON_CPU, HY_STEP_PLACE},        {NULL, HY_ON_CPU, HY_STEPS},
};
