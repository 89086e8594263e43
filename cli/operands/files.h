/* cli/operands/files.h - products with operands that stay in their files. */
#ifndef CLI_FILES_H
#define CLI_FILES_H

#include "cli/commands/job.h"

/* Computes C or Y of a job whose operands stay in their files, and fills its report. */
hybrid_status cli_files_run(cli_job *job);

/* Computes C or Y of a job and meanwhile writes it to job->output. Fills the report, and
   the sizes of the result, whose arrays are NULL. */
hybrid_status cli_files_to_file(cli_job *job);

/* Checks options for the result, which is written to `path` (NULL: to no file). Returns 0
   or an exit code. */
int cli_files_check(const cli_options *options, const char *path);

/* Returns the options of the result's file, as the user's options ask for them. */
hybrid_file_options cli_files_options(const cli_options *options);

/* Predicts the size of the result, if an operand stays in its file: sets
   predicted_nnz_out, predicted_result_bytes and flops in the job's report. Returns 0 or
   an exit code. */
int cli_files_predict(cli_job *job);

/* Predicts a run that writes C to --output, or Y to any file, while it is computed:
   memory, bytes on the disk and seconds. Returns 0 or an exit code. */
int cli_files_predict_file(const cli_job *job, hybrid_report *out);

#endif /* CLI_FILES_H */
