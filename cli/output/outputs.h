/* cli/output/outputs.h - output files that appear under their names when they are
   complete.

   A file is written as "<path>.<process>.partial", which is also the name that the
   library writes to, and is then renamed. Names are claimed before anything is computed,
   so that a folder that is not writable is found at once. An interrupted or failed
   program removes its partial files. Partial files of a killed program are removed by the
   next program that writes `path`: a running program locks its partial files (flock). */
#ifndef CLI_OUTPUTS_H
#define CLI_OUTPUTS_H

#include <stdio.h>

#include "cli/output/utf8.h"

typedef struct cli_output {
    char *path;    /* final path, links resolved */
    char *partial; /* NULL for a device or pipe, which is written directly */
    FILE *file;    /* stream of the file; NULL while closed */
    int lock;      /* descriptor that holds the lock of `partial`, or -1 */
    int slot;      /* index in the list of files that a signal removes */
    int shared;    /* 1: standard output, which is not closed */
} cli_output;

#define CLI_OUTPUT_NONE                                                                  \
    {                                                                                    \
        NULL, NULL, NULL, -1, -1, 0                                                      \
    }

/* Returns 1 if the name is "-" or /dev/stdout. */
int cli_is_standard_output(const char *path);

/* Returns the output's name in printable form, for messages. */
cli_title cli_output_title(const char *name);

/* Claims the name `path` by creating a partial file. Returns 0 or an exit code. */
int cli_output_claim(const char *path, cli_output *out);

/* Returns 1 if both names (NULL: none) lead to the same file, which need not exist. */
int cli_outputs_same(const char *a, const char *b);

/* Opens a claimed output for writing. Returns NULL after printing an error. */
FILE *cli_output_stream(cli_output *output);

/* Closes the written stream and renames the file. Returns 0 or an exit code. */
int cli_output_publish(cli_output *output);

/* Removes all partial files. Safe in a signal handler. */
void cli_outputs_remove_now(void);

/* Closes the output and removes its partial file if it was not published. An output that
   was not claimed is allowed. */
void cli_output_close(cli_output *output);

#endif /* CLI_OUTPUTS_H */
