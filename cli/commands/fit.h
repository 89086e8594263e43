/* cli/commands/fit.h - whether the result of a planned product fits host memory. */
#ifndef CLI_FIT_H
#define CLI_FIT_H

#include "cli/commands/job.h"

typedef struct cli_fit {
    int64_t needed; /* bytes of the result, and of a random X that is not made yet */
    int64_t free;   /* free bytes of the budget; INT64_MAX without a budget */
    int64_t budget; /* bytes; 0 without a budget */
} cli_fit;

/* Returns what the result needs and what is free. The job must have a plan or a
   prediction, and must not have run. */
cli_fit cli_fit_of(const cli_job *job);

/* Returns CLI_MEMORY, with a sentence and advice, if the result exceeds the free memory
   by more than the factor `times`; else 0. */
int cli_fit_check(const cli_job *job, double times);

#endif /* CLI_FIT_H */
