/* bench/program/bench_figures.c - medians and other figures of many calls. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/program/bench_calls.h"

int bench_packs(const char *variant)
{
    static const char *const as_they_are[] = {"spgemm.cuda.hash", "spgemm.cuda.esc",
                                              "spmm.cuda.rows", "spmm.cuda.merge"};

    for (size_t i = 0; i < sizeof as_they_are / sizeof *as_they_are; i++)
        if (strcmp(variant, as_they_are[i]) == 0)
            return 0;
    return 1;
}

double bench_wall_s(const bench_call *c)
{
    return c->seconds;
}

double bench_kernels_s(const bench_call *c)
{
    return c->report.multiply_s + c->report.finish_s;
}

double bench_new_matrix_s(const bench_call *c)
{
    return c->plan_s + (c->packs ? c->report.prepare_s : 0) + bench_kernels_s(c);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

bench_span bench_span_of(double *seconds, int count)
{
    if (count == 0)
        return (bench_span){NAN, NAN, NAN};
    qsort(seconds, (size_t)count, sizeof *seconds, ascending);
    return (bench_span){seconds[(count - 1) / 2], seconds[0], seconds[count - 1]};
}

bench_span bench_span_of_calls(const bench_call *calls, int count, bench_figure of)
{
    double *seconds   = malloc(((size_t)count + 1) * sizeof *seconds);
    bench_span result = {NAN, NAN, NAN};

    if (seconds && calls) {
        for (int i = 0; i < count; i++)
            seconds[i] = of(&calls[i]);
        result = bench_span_of(seconds, count);
    }
    free(seconds);
    return result;
}

const bench_call *bench_median_call(const bench_calls *all, int reps, bench_figure of)
{
    const double median    = bench_span_of_calls(all->timed, reps, of).median;
    const bench_call *call = all->timed;

    while (call < all->timed + reps - 1 && of(call) != median)
        call++;
    return call;
}
