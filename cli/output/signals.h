/* cli/output/signals.h - ends the program on SIGINT, SIGTERM, SIGHUP or SIGQUIT without
   leaving partial files.

   While the engine plans, multiplies or verifies, the first signal ends the call through
   its progress callback, and the program ends as after any failure. At other times, or on
   a second signal, the handler removes partial files and exits. The exit code is
   CLI_INTERRUPTED in both cases.

   SIGPIPE removes partial files and ends the program without a message, as it ends other
   programs. A signal that the parent process ignores stays ignored; a closed pipe is then
   a write error. */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include "hybrid_spmm.h"

/* Catches the signals from now on. Exceeding a file size limit becomes a write error.
   Returns 0 or an exit code. */
int cli_signals_open(void);

/* cli_signals_defer() begins a call that checks cli_signals_came() in its progress
   callback. cli_signals_returned() ends it and returns 0 or an exit code, after printing
   what went wrong. */
void cli_signals_defer(void);
int cli_signals_returned(const hybrid_engine *engine, hybrid_status status);

int cli_signals_came(void);

#endif /* CLI_SIGNALS_H */
