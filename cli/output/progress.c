/* cli/output/progress.c - shows progress in one line on stderr. */
#include "cli/output/progress.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/output/now.h"
#include "cli/output/text.h"

enum { REDRAW_NS = 100000000, LINE_BYTES = 256 };

/* What the line shows: no numbers (PHASE), rows of a run, or bytes of a file. */
typedef enum phase_kind { PHASE, ROWS, BYTES } phase_kind;

static struct {
    int shown, terminal, colour;
    volatile sig_atomic_t drawn; /* 1 if the progress line is on the screen */
    phase_kind told;
    char file[LINE_BYTES]; /* what the program does, unless `told` is ROWS: "reading
                              A.mtx" */
    int64_t begin_ns, drawn_ns;
    int64_t flops;
    int64_t written; /* bytes of the result that are written; 0: no file is written */
} line;

void cli_progress_open(cli_progress_mode mode, int quiet)
{
    const char *term = getenv("TERM"), *no_colour = getenv("NO_COLOR");

    line.terminal = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
    line.colour   = line.terminal && !(no_colour && no_colour[0]);
    line.shown    = mode == CLI_PROGRESS_ALWAYS ||
                 (mode == CLI_PROGRESS_AUTO && line.terminal && !quiet);
}

void cli_progress_clear_now(void)
{
    static const char erase[] = "\r\033[K";

    if (line.drawn && write(STDERR_FILENO, erase, sizeof erase - 1) < 0)
        return; /* the terminal is closed, so that the line is gone anyway */
    line.drawn = 0;
}

void cli_progress_clear(void)
{
    fflush(stderr);
    cli_progress_clear_now();
}

/* Returns the number of columns to which the line is cut, because a longer one could not
   be overwritten: one less than the terminal has, or 79 if its width is unknown. */
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

static void begin(const char *verb, const char *name, phase_kind told)
{
    line.told     = told;
    line.begin_ns = cli_now_ns();
    line.drawn_ns = line.begin_ns;
    snprintf(line.file, sizeof line.file, "%s%s%s", verb, name[0] ? " " : "", name);
}

void cli_progress_phase(const char *verb, const char *name)
{
    begin(verb, name, PHASE);
    if (line.shown && line.terminal)
        draw(line.file);
}

void cli_progress_file(const char *verb, const char *name)
{
    cli_progress_phase(verb, name);
    line.told = BYTES;
}

void cli_progress_begin(const hybrid_report *plan)
{
    begin("", "", ROWS);
    line.flops = plan->flops;
}

/* Returns, as text, the time until the end if the rest takes as long per part as what is
   done; "?" at the beginning. `done` is the share that is done, 0 to 1, and took
   `seconds`. */
static cli_text time_left(double done, double seconds)
{
    const cli_text unknown = {"?"};

    return done > 0 ? cli_clock(seconds * (1 - done) / done) : unknown;
}

static void draw_rows(int64_t rows_done, int64_t rows, double s)
{
    const double done = rows > 0 ? (double)rows_done / (double)rows : 1;
    char text[LINE_BYTES];

    int used = snprintf(text, sizeof text, "%3.0f %%  row %lld of %lld", 100 * done,
                        (long long)rows_done, (long long)rows);
    if (line.flops > 0)
        used += snprintf(text + used, sizeof text - (size_t)used, "  %.1f GFLOP/s",
                         done * (double)line.flops / s * 1e-9);
    if (line.written > 0)
        used += snprintf(text + used, sizeof text - (size_t)used, "  %s written",
                         cli_bytes(line.written).s);
    snprintf(text + used, sizeof text - (size_t)used, "  %s left", time_left(done, s).s);
    draw(text);
}

/* Draws the progress of a file after `s` seconds. `total` is the size of the file in
   bytes; -1 for a pipe. */
static void draw_bytes(int64_t bytes, int64_t total, double s)
{
    const double done = total > 0 ? (double)bytes / (double)total : 1;
    char text[2 * LINE_BYTES];

    if (total < 0)
        snprintf(text, sizeof text, "%s  %s  %s/s", line.file, cli_bytes(bytes).s,
                 cli_bytes((int64_t)((double)bytes / s)).s);
    else
        snprintf(text, sizeof text, "%s  %3.0f %%  %s of %s  %s left", line.file,
                 100 * done, cli_bytes(bytes).s, cli_bytes(total).s,
                 time_left(done, s).s);
    draw(text);
}

void cli_progress_tell(int64_t done, int64_t total, int64_t written)
{
    line.written      = written;
    const int64_t now = cli_now_ns();
    const double s    = (double)(now - line.begin_ns) * 1e-9;

    if (line.shown && line.told != PHASE && now - line.drawn_ns >= REDRAW_NS)
        (line.told == ROWS ? draw_rows : draw_bytes)(done, total, s);
}
