/* pipeline/run/stage.h - the stages of a product, which every chunk passes once. */
#ifndef HY_STAGE_H
#define HY_STAGE_H

#include "base/contract/variant.h"

/* Where a stage runs: on the pool, on a lane of the backend, or in the thread that drives
   the run. A stage on the pool or in the driver starts when the host has seen the end of
   the stage before it, unless hy_step_waits() returns 0. A lane waits for marks of other
   lanes without the host. */
typedef enum hy_where {
    HY_ON_IN,
    HY_ON_RUN,
    HY_ON_OUT,
    HY_LANES,
    HY_ON_CPU,
    HY_ON_DRIVER
} hy_where;

/* The work of a stage. steps.c has the function of each step. */
typedef enum hy_step {
    HY_STEP_PREPARE,  /* packs operands; fills job.pack */
    HY_STEP_H2D,      /* copies the pack to the device; fills job.in */
    HY_STEP_MULTIPLY, /* runs the variant's kernels; fills job.out */
    HY_STEP_FINISH,   /* sorts and compresses; fills *job.out_nnz */
    HY_STEP_RESERVE,  /* asks the sink where the part goes; fills job.nnz */
    HY_STEP_D2H,      /* copies the result to the host; fills job.back */
    HY_STEP_PLACE,    /* stores the part in C or Y */
    HY_STEPS
} hy_step;

typedef struct hy_stage {
    const char *name; /* name in traces and reports */
    hy_where where;
    hy_step step;
} hy_stage;

/* each array ends with a stage whose name is NULL */
extern const hy_stage hy_spgemm_stages[], hy_spmm_stages[];

#endif /* HY_STAGE_H */
