/* bench/program/bench_table.c - prints one line of the table per measurement. */
#include "bench/program/bench.h"

#include <math.h>
#include <string.h>

void bench_line_open(const bench *b, bench_line *line)
{
    const bench_options *o = &b->options;
    const int dense        = o->op != BENCH_SPGEMM;
    const bench_span none  = {NAN, NAN, NAN};

    memset(line, 0, sizeof *line);
    line->op    = bench_product_of(o->op)->name;
    line->mode  = o->end ? "end" : "core";
    line->order = !dense ? NULL : o->order == HYBRID_ROW_MAJOR ? "row" : "col";
    line->cols  = dense ? o->cols : 0;
    line->times = (bench_times){NAN, none, none, none};
    line->ratio = line->new_matrix_ratio = NAN;
    line->reps                           = o->reps;
    line->resident                       = -1;
    line->plan_s = line->pack_s = NAN;
    line->verified              = -1;
    line->report                = (hybrid_report)HYBRID_REPORT_INIT;
    line->report.load_s = line->report.prepare_s = line->report.h2d_s = NAN;
    line->report.multiply_s = line->report.finish_s = line->report.d2h_s = NAN;
    line->report.place_s = line->report.overlap = line->report.reference_s = NAN;
}

double bench_speedup(const bench_line *line)
{
    if (strcmp(line->mode, "end") != 0 || !(line->report.reference_s > 0))
        return NAN;
    return line->report.reference_s / line->times.calls.median;
}

double bench_use(const bench_line *line, hybrid_resource resource)
{
    const hybrid_use *use = &line->report.use[resource];
    return strcmp(line->mode, "end") == 0 && use->rate > 0 ? use->utilisation : NAN;
}

/* Returns the larger use of the two directions of the bus. */
static double bus_of(const bench_line *line)
{
    return fmax(bench_use(line, HYBRID_BUS_UP), bench_use(line, HYBRID_BUS_DOWN));
}

double bench_gflops(const bench_line *line)
{
    if (line->report.flops == 0)
        return NAN;
    return (double)line->report.flops / line->times.calls.median * 1e-9;
}

void bench_print_head(void)
{
    printf("ms: end = results freed between calls, core = kernels alone\n");
    printf("%-18s %-28s %-4s %-3s %6s %10s %10s %10s %10s %9s %6s %6s %6s %s\n",
           "problem", "variant", "mode", "X", "cols", "ms", "first", "all kept",
           "new matrix", "GFLOP/s", "bus", "ref", "ratio", "checked");
}

/* Prints a number, or "-" if it is unknown. */
static void cell(int width, int digits, double value)
{
    if (isfinite(value))
        printf(" %*.*f", width, digits, value);
    else
        printf(" %*s", width, "-");
}

void bench_print(bench *b, const bench_line *line)
{
    static const char *const checked[] = {"no", "WRONG", "yes"};
    const bench_times *t               = &line->times;

    printf("%-18s %-28s %-4s %-3s", b->problem.name, line->variant,
           line->reuse ? "again" : line->mode, line->order ? line->order : "-");
    cell(6, 0, line->cols ? (double)line->cols : NAN);
    cell(10, 3, t->calls.median * 1e3);
    cell(10, 3, t->first * 1e3);
    cell(10, 3, t->kept.median * 1e3);
    cell(10, 3, t->new_matrix.median * 1e3);
    cell(9, 2, bench_gflops(line));
    cell(6, 3, bus_of(line));
    cell(6, 3, bench_speedup(line));
    cell(6, 2, line->ratio);
    printf(" %s%s%s\n", checked[line->verified + 1], *line->error ? "  " : "",
           line->error);
    fflush(stdout);
    bench_json(b, line);
}
