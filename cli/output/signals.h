/* cli/output/signals.h - SIGINT, SIGTERM, SIGHUP and SIGQUIT end the program and leave
   nothing behind.

   While the engine plans, multiplies or verifies, the first of them ends that call by way of
   its progress, and the program ends as after any failure. Otherwise, and when a second one
   comes, the handler itself removes partial files and exits. Either way the exit code is
   CLI_INTERRUPTED.

   SIGPIPE removes partial files and ends the program without a message, as it ends other
   programs. A signal that the parent process has set to be ignored stays ignored: then a
   closed pipe is an error of writing. */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include "hybrid_spmm.h"

/* Catches the signals from now on. A file that may not grow becomes an error of writing.
   Returns 0 or an exit code. */
int cli_signals_open(void);

/* A call begins that asks cli_signals_came() for its progress; it returned. The latter is 0
   or an exit code, after saying what went wrong. */
void cli_signals_defer(void);
int cli_signals_returned(const hybrid_engine *engine, hybrid_status status);

int cli_signals_came(void);

#endif /* CLI_SIGNALS_H */
