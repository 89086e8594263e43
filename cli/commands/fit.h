/* cli/commands/fit.h - whether the result of a planned product fits host memory. */
#ifndef CLI_FIT_H
#define CLI_FIT_H

#include "cli/commands/job.h"

typedef struct cli_fit {
    int64_t needed; /* bytes of the result, and of a random X that is not made yet */
    int64_t free;   /* bytes of the budget that are not in use; INT64_MAX without a budget */
    int64_t budget; /* 0 = none */
} cli_fit;

/* The job has a plan or a prediction, and has not run yet. */
cli_fit cli_fit_of(const cli_job *job);

/* Returns 0, or CLI_MEMORY after saying that the result exceeds what is free more than `times`
   times, and what to do. */
int cli_fit_check(const cli_job *job, double times);

#endif /* CLI_FIT_H */
