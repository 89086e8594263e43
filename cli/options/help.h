/* cli/options/help.h - prints --help from the tables of commands and options. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include <stdio.h>

#include "cli/commands/command.h"

/* Prints the help of a command, or of the program with its list of commands. */
void cli_help_print(const cli_command *command, FILE *to);

#endif /* CLI_HELP_H */
