/* cli/output/outputs.h - files that appear under their names when they are complete.

   Each is written as "<path>.<process>.partial", the name that the library writes to as
   well, and renamed. The names are taken before anything is computed, so that a folder
   that cannot be written is found at once; an interrupted or failed program removes what
   it began. What a killed one left, the next program that writes `path` removes: partial
   files are locked (flock) by the programs that write them. */
#ifndef CLI_OUTPUTS_H
#define CLI_OUTPUTS_H

#include <stdio.h>

#include "cli/output/utf8.h"

typedef struct cli_output {
    char *path;    /* where the file will be, links resolved */
    char *partial; /* NULL for what is not a regular file: written directly */
    FILE *file;    /* NULL while closed */
    int lock;      /* descriptor that holds the lock of `partial`, or -1 */
    int slot;      /* in the list of what a signal removes */
    int shared;    /* standard output, which is not closed */
} cli_output;

#define CLI_OUTPUT_NONE                                                                  \
    {                                                                                    \
        NULL, NULL, NULL, -1, -1, 0                                                         \
    }

/* Whether the name is "-" or /dev/stdout. */
int cli_is_standard_output(const char *path);

/* The name as sentences have it. */
cli_title cli_output_title(const char *name);

/* Take the name `path`: from now on there is a file beside it. 0 or an exit code. */
int cli_output_claim(const char *path, cli_output *out);

/* Whether both name the same file, there or not yet. NULL is no file. */
int cli_outputs_same(const char *a, const char *b);

/* Open what was claimed, to write it. NULL after an error, which has been said. */
FILE *cli_output_stream(cli_output *output);

/* The stream is written: close and rename it. 0 or an exit code. */
int cli_output_publish(cli_output *output);

/* Remove all that is partial, from a signal handler. */
void cli_outputs_remove_now(void);

/* Forget the output; remove what is still partial. Nothing claimed is fine. */
void cli_output_close(cli_output *output);

#endif /* CLI_OUTPUTS_H */
