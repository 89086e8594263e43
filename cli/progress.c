/* cli/progress.c - one line on stderr that tells how far the multiply is. */
#include "cli/progress.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/now.h"
#include "cli/text.h"

enum { REDRAW_NS = 100000000, LINE_BYTES = 256 };

static struct {
    int shown, terminal, colour;
    volatile sig_atomic_t drawn; /* there is a line to take off */
    int64_t begin_ns, drawn_ns;
    const char *stage; /* the first one seen: every chunk passes it once */
    int64_t chunks, chunks_done;
    int64_t flops, flops_done;
    int64_t up_bytes, down_bytes;
} line;

void cli_progress_open(cli_progress_mode mode, int quiet)
{
    const char *term = getenv("TERM"), *no_colour = getenv("NO_COLOR");

    line.terminal = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
    line.colour   = line.terminal && !(no_colour && no_colour[0]);
    line.shown    = mode == CLI_PROGRESS_ALWAYS ||
                 (mode == CLI_PROGRESS_AUTO && line.terminal && !quiet);
}

int cli_progress_shown(void)
{
    return line.shown;
}

void cli_progress_clear_now(void)
{
    static const char erase[] = "\r\033[K";

    if (line.drawn && write(STDERR_FILENO, erase, sizeof erase - 1) < 0)
        return; /* nobody is left to tell */
    line.drawn = 0;
}

void cli_progress_clear(void)
{
    fflush(stderr);
    cli_progress_clear_now();
}

/* A line longer than the screen could not be drawn over. */
static int width(void)
{
    struct winsize size;

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 2)
        return 79;
    return size.ws_col - 1;
}

static void draw(const char *text)
{
    line.drawn_ns = cli_now_ns();
    if (!line.terminal) {
        fprintf(stderr, "%s\n", text);
        return;
    }
    line.drawn = 1;
    fprintf(stderr, "\r%s%.*s%s\033[K", line.colour ? "\033[36m" : "", width(), text,
            line.colour ? "\033[0m" : "");
    fflush(stderr);
}

void cli_progress_phase(const char *verb, const char *name)
{
    char text[LINE_BYTES];

    if (!line.shown || !line.terminal)
        return;
    snprintf(text, sizeof text, "%s%s%s", verb, name[0] ? " " : "", name);
    draw(text);
}

void cli_progress_begin(const hybrid_report *plan)
{
    line.begin_ns    = cli_now_ns();
    line.drawn_ns    = line.begin_ns;
    line.stage       = NULL;
    line.chunks      = plan->chunks;
    line.chunks_done = 0;
    line.flops       = plan->flops;
    line.flops_done = line.up_bytes = line.down_bytes = 0;
}

static double share_done(void)
{
    if (line.flops > 0)
        return (double)line.flops_done / (double)line.flops;
    return line.chunks > 0 ? (double)line.chunks_done / (double)line.chunks : 1;
}

static void draw_run(void)
{
    const double done    = share_done();
    const double elapsed = (double)(cli_now_ns() - line.begin_ns) * 1e-9;
    const double giga    = elapsed > 0 ? 1e-9 / elapsed : 0;
    char text[LINE_BYTES];

    if (line.chunks == 0) /* nobody has counted them */
        snprintf(text, sizeof text, "chunk %lld  %.1f GFLOP/s  up %.1f down %.1f GB/s",
                 (long long)line.chunks_done, (double)line.flops_done * giga,
                 (double)line.up_bytes * giga, (double)line.down_bytes * giga);
    else
        snprintf(
            text, sizeof text,
            "%3.0f %%  chunk %lld of %lld  %.1f GFLOP/s  up %.1f down %.1f GB/s  %s left",
            100 * done, (long long)line.chunks_done, (long long)line.chunks,
            (double)line.flops_done * giga, (double)line.up_bytes * giga,
            (double)line.down_bytes * giga,
            done > 0 ? cli_clock(elapsed * (1 - done) / done).s : "?");
    draw(text);
}

void cli_progress_event(const hybrid_event *event)
{
    if (!line.shown)
        return;
    if (event->chunk >= 0 && !line.stage)
        line.stage = event->stage;
    if (event->chunk >= 0 && strcmp(event->stage, line.stage) == 0)
        line.chunks_done++;
    line.flops_done += event->flops;
    if (strcmp(event->stage, "h2d") == 0 || strcmp(event->stage, "load") == 0)
        line.up_bytes += event->bytes;
    else if (strcmp(event->stage, "d2h") == 0)
        line.down_bytes += event->bytes;
    if (cli_now_ns() - line.drawn_ns >= REDRAW_NS)
        draw_run();
}
