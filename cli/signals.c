/* cli/signals.c - signals end the program and leave nothing behind. */
#include "cli/signals.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli/outputs.h"
#include "cli/progress.h"
#include "cli/say.h"

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

int cli_signals_open(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    static const int ignored[] = {SIGPIPE, SIGXFSZ}; /* calls that write tell */
    /* the program goes on after the first one: no system call is to fail by it */
    struct sigaction action = {.sa_handler = interrupted, .sa_flags = SA_RESTART};
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction before;

    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        if (sigaction(ignored[i], &ignore, NULL) != 0)
            return cli_fail(CLI_FAILED, "cannot ignore signal %d: %s", ignored[i],
                            strerror(errno));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_IGN)
            continue; /* as nohup wants it */
        if (sigaction(numbers[i], &action, NULL) != 0)
            return cli_fail(CLI_FAILED, "cannot catch signal %d: %s", numbers[i],
                            strerror(errno));
    }
    return CLI_DONE;
}

void cli_signals_defer(void)
{
    deferred = 1;
}

/* One that came too late for the call ends the program all the same. */
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
