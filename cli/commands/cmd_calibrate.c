/* cli/commands/cmd_calibrate.c - hybrid_spmm calibrate: measures this machine. */
#include <stdio.h>

#include "cli/commands/job.h"
#include "cli/output/now.h"
#include "cli/output/outputs.h"
#include "cli/output/say.h"
#include "cli/output/signals.h"
#include "cli/output/text.h"

static FILE *to; /* stream of the tables: stdout, or stderr if the rates are written to
                    stdout */

static void put_rate(const char *what, double Bps)
{
    if (Bps > 0)
        fprintf(to, "  %-22s %8.1f GB/s\n", what, Bps * 1e-9);
}

static void put_speeds(const hybrid_speeds *s)
{
    fprintf(to, "%s\n", s->name);
    put_rate("copies to it", s->h2d_Bps);
    put_rate("copies from it", s->d2h_Bps);
    put_rate("both at once, summed", s->both_Bps);
    put_rate("memory, read and write", s->mem_Bps);
    if (s->flops > 0)
        fprintf(to, "  %-22s %8.1f Gflop/s\n", "16 a cycle and core", s->flops * 1e-9);
    if (s->launch_s > 0)
        fprintf(to, "  %-22s %8.2f us\n", s->h2d_Bps > 0 ? "a kernel" : "a parallel loop",
                s->launch_s * 1e6);
}

static void put_rule(const char *what, const hybrid_rule *rule)
{
    fprintf(to, "  %-36s %5.1f %%  %6.2f %%\n", what, 100 * rule->accuracy,
            100 * (rule->slowdown - 1));
}

/* Prints how well four rules choose between the variants merge and rows: how often the
   chosen variant is the faster one, and how much slower it is than that one on average. A
   perfect rule is 100 % right and 0 % slower. */
static void put_rules(const hybrid_calibration *found)
{
    char fitted[64];

    snprintf(fitted, sizeof fitted, "the same with %.4g", found->threshold);
    fprintf(to, "\n%-38s %7s  %8s\n", "merge instead of rows where", "right", "slower");
    put_rule("a row has < 9.35 entries (the paper)", &found->paper);
    put_rule(fitted, &found->fitted);
    put_rule("cost model, as built in", &found->model);
    put_rule("the same as measured, with factors", &found->scaled);
    fprintf(to,
            "Plans use the last. %lld products; slower than the faster of the two, on "
            "average.\n",
            (long long)found->products);
}

typedef struct table {
    int64_t lines;
} table;

static void put_timing(table *t, const hybrid_timing *timing)
{
    cli_progress_clear();
    if (t->lines++ == 0)
        fprintf(to, "%-26s %7s %9s %10s %10s %13s %8s\n", "problem", "columns",
                "row mean", "rows", "merge", "merge / rows", "model");
    fprintf(to, "%-26s %7lld %9.2f %7.1f us %7.1f us %13.2f %8.2f\n", timing->problem,
            (long long)timing->columns, timing->row_mean, timing->rows_s * 1e6,
            timing->merge_s * 1e6, timing->merge_s / timing->rows_s,
            timing->merge_model_s / timing->rows_model_s);
}

static void on_step(void *user, const char *step, const hybrid_timing *timing)
{
    if (timing)
        put_timing(user, timing);
    else
        cli_progress_phase("measuring", step);
}

static int calibrate(const cli_options *o, hybrid_engine *engine,
                     const cli_output *output)
{
    const int64_t begin      = cli_now_ns();
    hybrid_calibration found = HYBRID_CALIBRATION_INIT;
    table t                  = {0};

    const hybrid_status status =
        hybrid_engine_calibrate(engine, output->path, on_step, &t, &found);
    cli_progress_clear();
    if (status != HYBRID_OK)
        return cli_fail_engine(engine, status);
    if (t.lines > 0)
        fprintf(to, "\n");
    if (found.device.name)
        put_speeds(&found.device);
    put_speeds(&found.host);
    if (found.products > 0)
        put_rules(&found);
    if (!o->quiet)
        cli_note("%s, in %s", found.path,
                 cli_seconds((double)(cli_now_ns() - begin) * 1e-9).s);
    return CLI_DONE;
}

/* Runs the command and returns the exit code. The engine is opened without a file of
   rates, so that a malformed file does not prevent the command from writing another. */
int cli_calibrate(const cli_options *options)
{
    cli_output output = CLI_OUTPUT_NONE;
    int code          = cli_signals_open();

    cli_progress_open(options->progress, options->quiet);
    to = options->output && cli_is_standard_output(options->output) ? stderr : stdout;
    if (code == CLI_DONE && options->output)
        code = cli_output_claim(options->output, &output);
    if (code != CLI_DONE)
        return code;
    hybrid_engine *engine = cli_engine_open(options, options->backend, "", &code);
    if (engine && !options->quiet && options->backend == HYBRID_AUTO &&
        hybrid_engine_backend(engine) == HYBRID_HOST)
        cli_note("only the CPU is measured, because there is no GPU: %s",
                 hybrid_engine_device(engine));
    if (engine)
        code = calibrate(options, engine, &output);
    hybrid_engine_destroy(engine);
    cli_output_close(&output);
    return code;
}
