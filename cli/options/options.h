/* cli/options/options.h - the options of all commands. One table drives parsing, --help,
   suggestions, manual pages and shell completions. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "cli/commands/command.h"
#include "cli/options/kinds.h"
#include "cli/output/progress.h"
#include "hybrid_spmm.h"

enum { CLI_INPUTS = 2, CLI_OPTIONS_MOST = 64 /* maximum number of rows of the table of
                                                options */ };

/* Values of the command line; 0 or NULL for an option that was not given, except that
   `seed` and `repeat` are then 1. */
struct cli_options {
    const char *input[CLI_INPUTS]; /* arguments of the command, without options; NULL if
                                      there are fewer */
    const char *output, *trace, *report, *variant, *rates, *spill;
    int64_t dense_cols, chunk_rows, part_rows, threads, device, repeat;
    size_t device_bytes, host_bytes;
    uint64_t seed;
    hybrid_type type;
    hybrid_backend backend;
    cli_split split;
    cli_devices devices;
    int devices_optional;
    cli_progress_mode progress;
    cli_format format;
    cli_range rows;
    hybrid_index index_bits;
    hybrid_compression compression;
    int transpose, resume;
    int transpose_a, transpose_b, deterministic, allow_tf32, verify;
    int json, verbose, quiet, help, version;
};

typedef struct cli_option {
    const char *name;     /* long name of the option, without "--" */
    char letter;          /* short form, one letter; 0 if there is none */
    unsigned commands;    /* bits of the commands (command.h) that take the option */
    const cli_kind *kind; /* kind of the option's value (kinds.h) */
    size_t field;         /* byte offset of the value in cli_options */
    const char *help;     /* help text of sentences; shell completions show the first
                             one */
} cli_option;

/* All options; a NULL name ends the table. An option may have several rows, each for
   other commands. */
extern const cli_option cli_option_table[];

/* Returns the first row of the table, from `option` on, that `command` takes, or NULL. */
const cli_option *cli_option_of(const cli_command *command, const cli_option *option);

#define CLI_EACH_OPTION(option, command)                                                 \
    for (const cli_option *option = cli_option_of(command, cli_option_table); option;    \
         option                   = cli_option_of(command, option + 1))

/* Returns 1 if `path` ends in `ending`. */
int cli_ends_in(const char *path, const char *ending);

#endif /* CLI_OPTIONS_H */
