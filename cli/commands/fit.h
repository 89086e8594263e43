/* cli/commands/fit.h - whether the result of a planned product fits host memory. */
#ifndef CLI_FIT_H
#define CLI_FIT_H

#include "cli/commands/job.h"

typedef struct cli_fit {
    int64_t needed; /* predicted bytes of the result and, if it is not yet allocated, of a
                       random X */
    int64_t free;   /* bytes of the memory budget that are unused; INT64_MAX without a
                       budget */
    int64_t budget; /* bytes of host memory that the library may use; 0: no budget */
} cli_fit;

/* Returns what the result of the job needs, and what is free. The job must have a plan or
   a prediction (cli_files_predict()), and must not have run. */
cli_fit cli_fit_of(const cli_job *job);

/* Returns 0 if the result needs at most `times` times the free memory. Otherwise prints
   a sentence with advice and returns CLI_MEMORY. */
int cli_fit_check(const cli_job *job, double times);

/* Returns 1 if cli_fit.needed is at most `times` the free memory. */
int cli_fit_is_sure(const cli_job *job, double times);

#endif /* CLI_FIT_H */
