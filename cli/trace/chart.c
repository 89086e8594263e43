/* cli/trace/chart.c - prints the run of a trace as a compact Gantt chart of letters. */
#include "cli/trace/chart.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "cli/output/text.h"
#include "cli/output/utf8.h"

enum {
    NAME_BYTES = 24, /* maximum bytes of the name of a lane, a stage or a memory, with its
                        final 0 */
    MARGIN     = 10, /* characters to the right of a line's cells: "100.0 %" and blanks */
    MOST_CELLS = 400,
    LEAST      = 20 /* minimum number of cells (characters) of a line */
};

/* Stages and their letters. The last row stands for all other stages. */
static const struct {
    const char *stage;
    char letter;
} stages[] = {{"load", 'L'},     {"prepare", 'P'},    {"tile", 'T'},     {"h2d", 'H'},
              {"multiply", 'M'}, {"accumulate", 'A'}, {"compress", 'C'}, {"d2h", 'D'},
              {"place", 'S'},    {"others", '+'}};
enum { STAGES = (int)(sizeof stages / sizeof *stages) };

typedef struct chart {
    const cli_trace *trace;
    FILE *to;
    int name_width, cells;
    double cell_us;   /* microseconds of the run that a cell stands for */
    int used[STAGES]; /* for each stage: 1 if the run has it */
} chart;

/* The name of a lane, a stage or a memory, in printable form. */
typedef struct name {
    char s[4 * NAME_BYTES];
} name;

static name name_of(cli_slice slice)
{
    char text[NAME_BYTES];
    name out;

    cli_slice_copy(slice, text, sizeof text);
    cli_printable(out.s, sizeof out.s, text);
    return out;
}

static int stage_of(cli_slice slice)
{
    int i = 0;

    while (i < STAGES - 1 && !cli_slice_is(slice, stages[i].stage))
        i++;
    return i;
}

/* Returns the number of the cell, 0 to cells - 1, for the moment `us` of the trace. A
   moment outside the run gives the first or the last cell. */
static int cell_of(const chart *c, double us)
{
    const double cell = (us - c->trace->begin_us) / c->cell_us;
    return (int)fmax(0, fmin(cell, c->cells - 1));
}

/* ---- lanes ----------------------------------------------------------------------- */

static int is_in_run(const cli_trace *trace, const cli_bar *bar)
{
    return bar->begin_us >= trace->begin_us && bar->end_us <= trace->end_us;
}

/* Adds the time of a bar to covered[i][stage] of each cell i that the bar covers. */
static void cover(const chart *c, const cli_bar *bar, int stage, double covered[][STAGES])
{
    const int last = cell_of(c, bar->end_us);

    for (int i = cell_of(c, bar->begin_us); i <= last; i++) {
        const double begin = c->trace->begin_us + i * c->cell_us;
        const double us =
            fmin(bar->end_us, begin + c->cell_us) - fmax(bar->begin_us, begin);
        covered[i][stage] += fmax(us, 0);
    }
}

/* Returns the letter of the stage that took most of a cell's time: capital if all stages
   together took half of it, '.' if none took any. */
static char letter_of(const chart *c, const double covered[STAGES])
{
    double sum = 0;
    int most   = 0;

    for (int i = 0; i < STAGES; i++) {
        sum += covered[i];
        if (covered[i] > covered[most])
            most = i;
    }
    if (sum <= 0)
        return '.';
    const char letter = stages[most].letter;
    return (char)(2 * sum < c->cell_us ? tolower(letter) : letter);
}

static void put_lane(chart *c, const cli_lane *lane)
{
    const cli_trace *t = c->trace;
    double covered[MOST_CELLS][STAGES];
    int64_t bars = 0;

    memset(covered, 0, sizeof covered);
    for (int64_t i = 0; i < t->bar_count; i++) {
        const cli_bar *bar = &t->bars[i];
        const int stage    = stage_of(bar->stage);
        if (bar->tid != lane->tid || !is_in_run(t, bar))
            continue;
        cover(c, bar, stage, covered);
        c->used[stage] = 1;
        bars++;
    }
    if (bars == 0)
        return;
    fprintf(c->to, "%-*s %5.1f %%  ", c->name_width, name_of(lane->name).s,
            100 * lane->busy_us / (t->end_us - t->begin_us));
    for (int i = 0; i < c->cells; i++)
        fputc(letter_of(c, covered[i]), c->to);
    fputc('\n', c->to);
}

static void put_axis(const chart *c)
{
    const cli_text begin = cli_seconds(c->trace->begin_us * 1e-6),
                   end   = cli_seconds(c->trace->end_us * 1e-6);

    fprintf(c->to, "\n%*s  %s%*s\n", c->name_width + MARGIN - 2, "busy  ", begin.s,
            c->cells - (int)strlen(begin.s), end.s);
}

/* ---- memory ---------------------------------------------------------------------- */

/* Sets most[i] to the largest number of bytes of a memory in use during cell i; a sample
   counts until the next one. Returns the number of samples above 0. */
static int fill_cells(const chart *c, const cli_memory *memory, double *most)
{
    const cli_trace *t = c->trace;
    double last        = 0;
    int from = 0, count = 0;

    memset(most, 0, (size_t)c->cells * sizeof *most);
    for (int64_t i = 0; i < t->sample_count; i++) {
        const cli_sample *s = &t->samples[i];
        if (s->memory.length != memory->name.length ||
            memcmp(s->memory.text, memory->name.text, s->memory.length) != 0)
            continue;
        const int at = s->at_us < t->begin_us ? 0 : cell_of(c, s->at_us);
        for (; from < at; from++)
            most[from + 1] = fmax(most[from + 1], last);
        most[at] = fmax(most[at], s->bytes);
        last     = s->bytes;
        count += s->bytes > 0;
    }
    for (; from < c->cells - 1; from++)
        most[from + 1] = fmax(most[from + 1], last);
    return count;
}

static void put_memory(const chart *c, const cli_memory *memory)
{
    const double limit = memory->limit_bytes, peak = memory->peak_bytes;
    const int by_limit = limit > 0 && 10 * peak >= limit;
    const double scale = by_limit ? limit : fmax(peak, 1);
    double most[MOST_CELLS];

    if (fill_cells(c, memory, most) == 0)
        return;
    fprintf(c->to, "%-*s %7s  ", c->name_width, name_of(memory->name).s, "");
    for (int i = 0; i < c->cells; i++)
        fputc((char)('0' + (int)fmin(9, 10 * most[i] / scale)), c->to);
    fprintf(c->to, "\n%*s  tenths of %s", c->name_width + MARGIN - 2, "",
            by_limit ? "the limit" : "the peak");
    fprintf(c->to, "; peak %s", cli_bytes((int64_t)fmin(peak, 9e18)).s);
    if (limit > 0)
        fprintf(c->to, ", limit %s\n", cli_bytes((int64_t)fmin(limit, 9e18)).s);
    else
        fprintf(c->to, ", no limit\n");
}

/* ---- words ----------------------------------------------------------------------- */

static void put_legend(const chart *c)
{
    const char *gap = "";

    for (int i = 0; i < STAGES; i++)
        if (c->used[i]) {
            fprintf(c->to, "%s%c %s", gap, stages[i].letter,
                    strcmp(stages[i].stage, "place") == 0 ? "place (store)"
                                                          : stages[i].stage);
            gap = "  ";
        }
    fprintf(c->to, "; small letters: less than half of the time\n");
}

static void put_times(const chart *c)
{
    const cli_trace *t = c->trace;

    fprintf(c->to, "measured %s", cli_seconds(t->total_s).s);
    if (t->predicted_s > 0)
        fprintf(c->to, ", predicted %s, measured / predicted %.2f",
                cli_seconds(t->predicted_s).s, t->total_s / t->predicted_s);
    fprintf(c->to, "\nbound by %s; used", name_of(t->bound).s);
    for (int64_t i = 0; i < t->use_count; i++)
        fprintf(c->to, "%s %s %.0f %%", i > 0 ? "," : "", name_of(t->uses[i].resource).s,
                100 * t->uses[i].utilisation);
    fputc('\n', c->to);
}

/* Returns a count as text. The file may contain any number where a count belongs: it is
   limited to 0 to 9e18, and NAN counts as 0. */
static cli_text number(double count)
{
    return cli_count((int64_t)fmax(0, fmin(count, 9e18)));
}

static const char *plural(double count)
{
    return count == 1 ? "" : "s";
}

static void put_head(const chart *c)
{
    const cli_trace *t = c->trace;
    char device[512], printable[1024];

    cli_slice_copy(t->device, device, sizeof device);
    cli_printable(printable, sizeof printable, device);
    if (t->bound.text)
        fprintf(c->to, "%s chunk%s, %s row%s; ", number(t->chunks).s, plural(t->chunks),
                number(t->rows).s, plural(t->rows));
    fprintf(c->to, "%s, %s worker%s\n", printable, number(t->workers).s,
            plural(t->workers));
    if (t->bound.text)
        put_times(c);
}

static void put_stalls(const chart *c)
{
    char text[512], printable[1024];

    if (c->trace->stall_count > 0)
        fprintf(c->to, "\nlongest stalls:\n");
    for (int64_t i = 0; i < c->trace->stall_count; i++) {
        cli_slice_copy(c->trace->stalls[i], text, sizeof text);
        cli_printable(printable, sizeof printable, text);
        fprintf(c->to, "  %s\n", printable);
    }
}

/* Returns `width`, or the number of bytes of the name if that is larger. */
static int widen(int width, cli_slice slice)
{
    const int length = (int)strlen(name_of(slice).s);
    return length > width ? length : width;
}

static int widest_name(const cli_trace *trace)
{
    int width = 0;

    for (int64_t i = 0; i < trace->lane_count; i++)
        width = widen(width, trace->lanes[i].name);
    for (int64_t i = 0; i < trace->memory_count; i++)
        width = widen(width, trace->memories[i].name);
    return width;
}

void cli_chart_print(const cli_trace *trace, int columns, FILE *to)
{
    const int width = widest_name(trace), cells = columns - width - MARGIN;
    chart c = {.trace = trace, .to = to, .name_width = width};

    c.cells   = cells < LEAST ? LEAST : cells > MOST_CELLS ? MOST_CELLS : cells;
    c.cell_us = (trace->end_us - trace->begin_us) / c.cells;
    put_head(&c);
    if (!(c.cell_us > 0)) {
        fprintf(to, "the trace contains no chunk\n");
        return;
    }
    put_axis(&c);
    for (int64_t i = 0; i < trace->lane_count; i++)
        put_lane(&c, &trace->lanes[i]);
    for (int64_t i = 0; i < trace->memory_count; i++)
        put_memory(&c, &trace->memories[i]);
    put_legend(&c);
    put_stalls(&c);
}
