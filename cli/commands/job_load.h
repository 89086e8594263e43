/* cli/commands/job_load.h - the operands of a job. */
#ifndef CLI_JOB_LOAD_H
#define CLI_JOB_LOAD_H

#include "cli/commands/job.h"

/* Brings the operands as the options want them, and checks that their shapes fit. Returns 0 or
   an exit code. */
int cli_job_load(cli_job *job);

#endif /* CLI_JOB_LOAD_H */
