/* cli/options.h - what the user asked for. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "cli/command.h"
#include "cli/progress.h"
#include "hybrid_spmm.h"

enum { CLI_INPUTS = 2, CLI_DEVICES = 16 };

struct cli_options {
    const char *input[CLI_INPUTS]; /* those not given are NULL */
    const char *output, *trace, *report, *variant, *rates;
    int64_t dense_cols, chunk_rows;  /* 0 = not given */
    size_t device_bytes, host_bytes; /* 0 = not given */
    uint64_t seed;
    hybrid_type type;
    hybrid_backend backend;
    hybrid_split split;
    double host_share;
    int threads, device;
    int devices[CLI_DEVICES], device_count; /* count 0 = not given */
    cli_progress_mode progress;
    int transpose_b, deterministic, allow_tf32, verify, quiet, help;
};

/* Read the arguments after the command's name. On a usage error the sentence has been
   said and CLI_USAGE comes back. */
int cli_options_parse(const cli_command *command, int argc, char **argv,
                      cli_options *out);

/* The lines of `command --help` that tell its options. */
void cli_options_print(const cli_command *command);

/* 1 if `path` ends in `ending`. */
int cli_ends_in(const char *path, const char *ending);

#endif /* CLI_OPTIONS_H */
