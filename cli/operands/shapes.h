/* cli/operands/shapes.h - applies --transpose-a and --transpose-b, and checks shapes. */
#ifndef CLI_SHAPES_H
#define CLI_SHAPES_H

#include "cli/commands/job.h"

/* Replaces A and B by their transposes, as the options ask for. Both must be in memory.
   job->right is &job->A for a product of A with itself. Returns 0 or an exit code. */
int cli_shapes_transpose(cli_job *job);

/* Checks that A has as many columns as B or X has rows. Otherwise prints an error that
   names the option that makes the shapes fit, and returns CLI_INPUT. */
int cli_shapes_check(const cli_job *job);

#endif /* CLI_SHAPES_H */
