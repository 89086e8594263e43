/* cli/output/progress.h - shows the progress of a multiplication in one line on stderr.

   The progress line is global, because there is only one stderr. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "hybrid_spmm.h"

typedef enum cli_progress_mode {
    CLI_PROGRESS_AUTO, /* progress is shown if stderr is a terminal */
    CLI_PROGRESS_ALWAYS,
    CLI_PROGRESS_NEVER
} cli_progress_mode;

/* Decides whether progress is shown: as `mode` says, and in mode AUTO not if `quiet`. */
void cli_progress_open(cli_progress_mode mode, int quiet);

/* On a terminal, shows "verb name" until something else is shown. The name may be
   empty. */
void cli_progress_phase(const char *verb, const char *name);

/* Begins to read or write a file: shows "verb name", then the bytes that
   cli_progress_tell() reports. */
void cli_progress_file(const char *verb, const char *name);

/* Shows the progress of the run or file that was begun last: `done` of `total` rows, or
   bytes (`total` -1: unknown), and the bytes of the result that are written. Shows
   nothing new after cli_progress_phase(), or within 0.1 s of the last time. */
void cli_progress_tell(int64_t done, int64_t total, int64_t written);

/* Begins to show the rows of a run, whose predicted report is `plan`. */
void cli_progress_begin(const hybrid_report *plan);

/* Removes the progress line from the screen. The caller does this before it prints other
   text on stderr, and at the end. */
void cli_progress_clear(void);

/* Does the work of cli_progress_clear() without flushing stderr, so that a signal handler
   may call it. */
void cli_progress_clear_now(void);

#endif /* CLI_PROGRESS_H */
