/* cli/commands/command.h - the commands of hybrid_spmm. One table drives dispatch,
   --help, suggestions, manual pages and shell completions. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "cli/output/text.h"

typedef struct cli_options cli_options;

/* One bit for each command; cli_option.commands has the bits of all commands that take
   the option. */
enum {
    CLI_MULTIPLY  = 1u << 0,
    CLI_EXPLAIN   = 1u << 1,
    CLI_INFO      = 1u << 2,
    CLI_LIST      = 1u << 3,
    CLI_GENERATE  = 1u << 4,
    CLI_CALIBRATE = 1u << 5,
    CLI_DOCTOR    = 1u << 6,
    CLI_TRACE     = 1u << 7,
    CLI_CONVERT   = 1u << 8,
    CLI_PROGRAM = 1u << 9 /* the program without a command, as in hybrid_spmm --version */
};

/* A name and its text, a row of a list in --help and in a manual page. A NULL name ends
   the list. */
typedef struct cli_term {
    const char *name, *text;
} cli_term;

typedef struct cli_command {
    const char *name; /* name on the command line: "multiply"; "" for the program
                         itself */
    unsigned bit;
    int (*run)(const cli_options *options); /* runs the command and returns the exit
                                               code */
    const char *arguments;                  /* arguments in the usage line: "A [B]"; ""
                                               if there are none */
    int least, most;                        /* least and greatest valid number of
                                               arguments */
    const char *summary;                    /* what the command does, as the list of
                                               commands shows it: "compute A*B, A*A or
                                               A*X" */
    const char *description; /* text of help: paragraphs, separated by an empty line and
                                not wrapped */
    const cli_term *kinds;   /* list of the values of KIND, if an argument has the form
                                KIND:ARGS; else NULL */
    const cli_term *examples;
} cli_command;

extern const cli_command cli_program;    /* the program without a command, as in
                                            hybrid_spmm --help */
extern const cli_command cli_commands[]; /* all commands; a NULL name ends the list */
extern const cli_term cli_exit_codes[];

/* Returns the command called `name`, or NULL. */
const cli_command *cli_command_find(const char *name);

/* Returns how a command line with the command begins: "hybrid_spmm multiply", or
   "hybrid_spmm" for cli_program. */
cli_text cli_command_title(const cli_command *command);

int cli_multiply(const cli_options *options);
int cli_explain(const cli_options *options);
int cli_info(const cli_options *options);
int cli_list(const cli_options *options);
int cli_generate(const cli_options *options);
int cli_convert(const cli_options *options);
int cli_calibrate(const cli_options *options);
int cli_doctor(const cli_options *options);
int cli_show_trace(const cli_options *options);

#endif /* CLI_COMMAND_H */
