/* cli/output/outputs.h - output files that appear under their names when they are
   complete.

   A file is written as "<path>.<process>.partial", which is also the name that the
   library writes to, and is then renamed. Names are claimed before anything is computed,
   so that a folder that is not writable is found at once. An interrupted or failed
   program removes its partial files. The next program that writes `path` removes those
   that a killed program has left: a running program locks its partial files (flock). */
#ifndef CLI_OUTPUTS_H
#define CLI_OUTPUTS_H

#include <stdio.h>

#include "cli/output/utf8.h"

typedef struct cli_output {
    char *path;    /* path of the finished file, with links resolved */
    char *partial; /* path of the partial file; NULL for a device or a pipe, which is
                      written directly */
    FILE *file;    /* stream to the file; NULL while it is not open */
    int lock;      /* descriptor that holds the lock of the partial file; -1: none */
    int slot;      /* index of `partial` in the list of files that a signal handler
                      removes */
    int shared;    /* 1: `file` is standard output, which stays open */
} cli_output;

#define CLI_OUTPUT_NONE                                                                  \
    {                                                                                    \
        NULL, NULL, NULL, -1, -1, 0                                                      \
    }

/* Returns 1 if the name is "-" or /dev/stdout. */
int cli_is_standard_output(const char *path);

/* Returns the output's name for messages, in printable form. */
cli_title cli_output_title(const char *name);

/* Claims the name `path` before anything is computed: creates a partial file, unless it
   is a device or a pipe. Returns 0, or an exit code after printing an error. */
int cli_output_claim(const char *path, cli_output *out);

/* Returns 1 if both paths lead to the same file, which need not exist. A NULL path leads
   to no file. */
int cli_outputs_same(const char *a, const char *b);

/* Opens a claimed output for writing and returns its stream. Returns NULL after printing
   an error. */
FILE *cli_output_stream(cli_output *output);

/* Closes the stream of an output and gives the partial file its final name. Returns 0,
   or an exit code after printing an error. */
int cli_output_publish(cli_output *output);

/* Removes the partial files of all outputs that are not published yet. Safe in a signal
   handler. */
void cli_outputs_remove_now(void);

/* Closes the output and removes its partial file if it was not published. An output that
   was not claimed is allowed. */
void cli_output_close(cli_output *output);

#endif /* CLI_OUTPUTS_H */
