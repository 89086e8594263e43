/* cli/output/progress.h - one line on stderr that tells how far the multiply is.

   There is one stderr, so there is one progress line, and no object for it. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "hybrid_spmm.h"

typedef enum cli_progress_mode {
    CLI_PROGRESS_AUTO, /* when stderr is a terminal */
    CLI_PROGRESS_ALWAYS,
    CLI_PROGRESS_NEVER
} cli_progress_mode;

/* Decide whether anything is shown at all. */
void cli_progress_open(cli_progress_mode mode, int quiet);

/* Show "verb name" until something else is shown; the name may be empty. */
void cli_progress_phase(const char *verb, const char *name);

/* A file is read or written: show "verb name", then what cli_progress_tell() tells of it. */
void cli_progress_file(const char *verb, const char *name);

/* So many rows of a run are done, or bytes of a file, of which there are -1 if that is unknown.
   Shows nothing during another phase. */
void cli_progress_tell(int64_t done, int64_t total);

/* A run begins, planned as `plan` says. */
void cli_progress_begin(const hybrid_report *plan);

/* Take the line off the screen, before other text and at the end. */
void cli_progress_clear(void);

/* The same from a signal handler. */
void cli_progress_clear_now(void);

#endif /* CLI_PROGRESS_H */
