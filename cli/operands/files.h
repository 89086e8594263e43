/* cli/operands/files.h - products with operands that stay in their files. */
#ifndef CLI_FILES_H
#define CLI_FILES_H

#include "cli/commands/job.h"

/* Computes C or Y of a job whose operands stay in their files, and fills its report. */
hybrid_status cli_files_run(cli_job *job);

/* Predicts the size of the result: predicted_nnz_out, predicted_result_bytes and flops of
   the job's report. Returns 0 or an exit code. */
int cli_files_predict(cli_job *job);

#endif /* CLI_FILES_H */
