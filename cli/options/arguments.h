/* cli/options/arguments.h - reads arguments with the table of options. */
#ifndef CLI_ARGUMENTS_H
#define CLI_ARGUMENTS_H

#include "cli/options/options.h"

/* Reads the arguments after the command's name, argv[0]. Returns CLI_DONE, or CLI_USAGE
   after printing which argument is wrong. */
int cli_arguments_read(const cli_command *command, int argc, char **argv,
                       cli_options *out);

#endif /* CLI_ARGUMENTS_H */
