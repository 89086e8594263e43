/* cli/output/signals.c - ends the program on a signal without leaving partial files. */
#include "cli/output/signals.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli/output/outputs.h"
#include "cli/output/progress.h"
#include "cli/output/say.h"

static volatile sig_atomic_t deferred, came;

static void interrupted(int number)
{
    static const char text[] = "hybrid_spmm: interrupted\n";

    (void)number;
    if (deferred && !came) {
        came = 1;
        return;
    }
    cli_outputs_remove_now();
    cli_progress_clear_now();
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
        _exit(CLI_INTERRUPTED);
    _exit(CLI_INTERRUPTED);
}

/* Handles SIGPIPE: the reader of a pipe has ended. The program dies of SIGPIPE without a
   message, as other programs do. The raised signal is blocked until the handler
   returns. */
static void pipe_closed(int number)
{
    const struct sigaction die = {.sa_handler = SIG_DFL};

    cli_outputs_remove_now();
    if (sigaction(number, &die, NULL) != 0 || raise(number) != 0)
        _exit(CLI_FILE);
}

int cli_signals_open(void)
{
    static const struct {
        int number;
        void (*handler)(int);
    } signals[] = {{SIGINT, interrupted},
                   {SIGTERM, interrupted},
                   {SIGHUP, interrupted},
                   {SIGQUIT, interrupted},
                   {SIGPIPE, pipe_closed},
                   {SIGXFSZ, SIG_IGN}}; /* ignored, so that a write beyond the file size
                                           limit fails with EFBIG */
    struct sigaction before;

    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        /* SA_RESTART: after the first signal the program goes on until the engine has
           ended its call */
        struct sigaction action = {.sa_handler = signals[i].handler,
                                   .sa_flags   = SA_RESTART};
        sigfillset(&action.sa_mask);
        if (sigaction(signals[i].number, NULL, &before) == 0 &&
            before.sa_handler == SIG_IGN)
            continue; /* a signal that the parent process ignores stays ignored, as nohup
                         intends */
        if (sigaction(signals[i].number, &action, NULL) != 0)
            return cli_fail(CLI_FAILED, "cannot handle signal %d: %s", signals[i].number,
                            strerror(errno));
    }
    return CLI_DONE;
}

void cli_signals_defer(void)
{
    deferred = 1;
}

/* Ends the call that began with cli_signals_defer(). Returns CLI_INTERRUPTED if a signal
   has come, even if it came too late to end the call, else the exit code for `status`. */
int cli_signals_returned(const hybrid_engine *engine, hybrid_status status)
{
    deferred = 0;
    if (came)
        return cli_fail(CLI_INTERRUPTED, "interrupted");
    return status == HYBRID_OK ? CLI_DONE : cli_fail_engine(engine, status);
}

int cli_signals_came(void)
{
    return came;
}
