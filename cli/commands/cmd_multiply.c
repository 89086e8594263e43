/* cli/commands/cmd_multiply.c - hybrid_spmm multiply: computes a product. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/operands/files.h"
#include "cli/commands/fit.h"
#include "cli/output/format.h"
#include "cli/commands/job.h"
#include "cli/commands/job_load.h"
#include "cli/output/now.h"
#include "cli/operands/operand.h"
#include "cli/output/outputs.h"
#include "cli/output/report_json.h"
#include "cli/output/say.h"
#include "cli/output/signals.h"
#include "cli/output/summary.h"
#include "cli/trace/trace_write.h"

/* Number of random vectors with which --verify checks the result. A wrong row passes all
   of them with a probability of at most 2^-10. */
enum { TRIALS = 10 };

typedef struct multiply {
    cli_job job;
    cli_output output, trace, report;
} multiply;

/* ---- before the product ---------------------------------------------------------- */

static int check(multiply *m)
{
    const cli_options *o = m->job.options;
    const int dense = o->dense_cols || (o->input[1] && cli_operand_is_dense(o->input[1]));

    if (cli_outputs_same(o->output, o->trace) || cli_outputs_same(o->output, o->report) ||
        cli_outputs_same(o->trace, o->report))
        return cli_fail(CLI_USAGE, "--output, --trace and --report need different files");
    int code = cli_format_check(o, dense);
    if (code == CLI_DONE)
        code = cli_files_check(o, o->output);
    return code == CLI_DONE ? cli_job_check(o) : code;
}

static int claim(multiply *m)
{
    const cli_options *o = m->job.options;
    int code             = cli_signals_open();

    if (code == CLI_DONE && o->output)
        code = cli_output_claim(o->output, &m->output);
    if (code == CLI_DONE && o->trace)
        code = cli_output_claim(o->trace, &m->trace);
    if (code == CLI_DONE && o->report)
        code = cli_output_claim(o->report, &m->report);
    return code;
}

static int open_engine(multiply *m)
{
    return cli_job_open(&m->job);
}

/* Returns 1 if the result may be written while it is computed: it goes to a regular file
   of a format of the library, and no step needs the whole result. */
static int streams(const multiply *m)
{
    const cli_options *o = m->job.options;

    return o->output && m->output.partial && hybrid_file_format(o->output) &&
           !o->format && !o->verify && o->repeat == 1;
}

static int load(multiply *m)
{
    m->job.streams = streams(m);
    m->job.output  = m->output.path;
    if (m->job.options->resume && !m->job.streams)
        return cli_fail(CLI_USAGE, "--resume needs -o FILE with a format that is written "
                                   "in parts, and neither --verify nor --repeat");
    return cli_job_load(&m->job);
}

/* If a result is predicted to need more than SURE times the free memory, it is written
   while it is computed, or, if it cannot be, the product is refused. SURE exceeds 1,
   because the prediction may be too high. */
static const double SURE = 1.25;

static int plan(multiply *m)
{
    cli_job *job = &m->job;

    if (job->to_file)
        return CLI_DONE;
    if (cli_job_has_files(job) && job->right)
        return CLI_DONE; /* no check of the size of C here, because hybrid_spgemm_files()
                            makes it */
    const int code = cli_job_has_files(job) ? cli_files_predict(job) : cli_job_plan(job);
    if (code == CLI_DONE && job->streams && !cli_fit_is_sure(job, SURE)) {
        job->to_file = 1;
        return CLI_DONE;
    }
    return code == CLI_DONE ? cli_fit_check(job, SURE) : code;
}

/* ---- the product ----------------------------------------------------------------- */

static void on_event(void *user, const hybrid_event *event)
{
    cli_job *job = user;

    if (!job->variant && event->variant[0])
        job->variant = event->variant;
    hybrid_trace_add(job->trace, event);
}

static hybrid_status run_plan(cli_job *job)
{
    const hybrid_status status =
        job->right ? hybrid_spgemm_run(job->plan, &job->A, job->right, &job->C)
                   : hybrid_spmm_run(job->plan, 1, &job->A, &job->X, 0, &job->Y);

    return status == HYBRID_OK ? hybrid_plan_report(job->plan, &job->report) : status;
}

/* Computes the product once. The result of the previous call is freed first, so that only
   one result counts against the memory budget. */
static int run_once(cli_job *job)
{
    hybrid_csr_free(job->engine, &job->C);
    cli_progress_begin(&job->report);
    cli_signals_defer();
    const int64_t begin        = cli_now_ns();
    const hybrid_status status = job->to_file             ? cli_files_to_file(job)
                                 : cli_job_has_files(job) ? cli_files_run(job)
                                                          : run_plan(job);
    cli_calls_add(&job->calls, (double)(cli_now_ns() - begin) * 1e-9);
    return cli_signals_returned(job->engine, status);
}

static int make_y(cli_job *job)
{
    const hybrid_status status = hybrid_dense_create(
        job->engine, job->A.rows, job->X.cols, HYBRID_ROW_MAJOR, job->type, &job->Y);

    return status == HYBRID_OK ? CLI_DONE : cli_fail_engine(job->engine, status);
}

static int run(multiply *m)
{
    cli_job *job         = &m->job;
    const int64_t repeat = job->options->repeat;
    int code             = cli_calls_open(&job->calls, repeat);

    if (cli_job_has_files(job) || job->to_file || job->options->trace)
        hybrid_engine_trace(job->engine, on_event, job);
    if (cli_job_has_files(job) || job->to_file)
        job->report = (hybrid_report)HYBRID_REPORT_INIT;
    if (code == CLI_DONE && !job->right && !job->Y.data && !job->to_file)
        code = make_y(job);
    for (int64_t i = 0; i < repeat && code == CLI_DONE; i++)
        code = run_once(job);
    hybrid_engine_trace(job->engine, NULL, NULL);
    cli_job_pause(job);
    return code;
}

static int verify(multiply *m)
{
    cli_job *job         = &m->job;
    const uint64_t seed  = job->options->seed;
    const int64_t begin  = cli_now_ns();
    int64_t row          = -1;
    hybrid_status status = HYBRID_OK;

    if (!job->options->verify)
        return CLI_DONE;
    cli_progress_phase("verifying", "");
    cli_signals_defer();
    if (job->right)
        status = hybrid_verify_spgemm(job->engine, &job->A, job->right, &job->C, TRIALS,
                                      seed, &row);
    else
        status =
            (job->options->allow_tf32 ? hybrid_verify_spmm_tf32 : hybrid_verify_spmm)(
                job->engine, &job->A, &job->X, &job->Y, TRIALS, seed, &row);
    const int code = cli_signals_returned(job->engine, status);
    if (code != CLI_DONE)
        return code;
    job->verify_s = cli_job_step(job, "verify", "main", begin, 0);
    if (row >= 0)
        return cli_fail(
            CLI_FAILED,
            "the result is wrong: row %lld is off by more than rounding explains; "
            "nothing is written; try another --variant, and report the error",
            (long long)row);
    return CLI_DONE;
}

/* ---- results --------------------------------------------------------------------- */

/* Writes a result that is in memory. */
static hybrid_status write_whole(const multiply *m)
{
    const cli_job *job                = &m->job;
    const cli_options *o              = job->options;
    const hybrid_file_options options = cli_files_options(o);
    const hybrid_operand result       = {.csr   = job->right ? &job->C : NULL,
                                         .dense = job->right ? NULL : &job->Y};

    if (cli_format_is_plain(o))
        return job->right ? hybrid_write_mtx(job->engine, m->output.path, &job->C)
                          : hybrid_write_npy(job->engine, m->output.path, &job->Y);
    return hybrid_file_write(job->engine, &result, m->output.path, &options);
}

static int write_result(multiply *m)
{
    cli_job *job        = &m->job;
    const int64_t begin = cli_now_ns();

    if (!m->output.path || job->to_file)
        return CLI_DONE;
    cli_progress_file("writing", cli_output_title(job->options->output).s);
    const hybrid_status status = write_whole(m);
    if (status != HYBRID_OK)
        return cli_fail_engine(job->engine, status);
    job->write_s =
        cli_job_step(job, job->right ? "write C" : "write Y", "writer", begin, 0);
    return CLI_DONE;
}

static int write_trace(multiply *m)
{
    cli_job *job = &m->job;

    if (!m->trace.path)
        return CLI_DONE;
    return cli_trace_write(job->engine, job->trace, &m->trace);
}

static int write_report(multiply *m)
{
    char *details = NULL;
    FILE *file;

    if (!m->report.path)
        return CLI_DONE;
    file = cli_output_stream(&m->report);
    if (!file)
        return CLI_FILE;
    if (m->job.plan) {
        const int code = cli_job_told(&m->job, hybrid_plan_details, &details);
        if (code != CLI_DONE)
            return code;
    }
    cli_report_write(&m->job, details, file);
    free(details);
    return cli_output_publish(&m->report);
}

static int summarize(multiply *m)
{
    cli_progress_clear();
    if (!m->job.options->quiet)
        cli_summary_print(&m->job);
    return CLI_DONE;
}

int cli_multiply(const cli_options *options)
{
    static int (*const steps[])(multiply *) = {
        check,  claim,        open_engine, load,         plan,     run,
        verify, write_result, write_trace, write_report, summarize};
    multiply m = {.job    = {.options = options, .begin_ns = cli_now_ns()},
                  .output = CLI_OUTPUT_NONE,
                  .trace  = CLI_OUTPUT_NONE,
                  .report = CLI_OUTPUT_NONE};
    int code   = CLI_DONE;

    cli_progress_open(options->progress, options->quiet);
    for (size_t i = 0; i < sizeof steps / sizeof *steps && code == CLI_DONE; i++)
        code = steps[i](&m);
    cli_progress_clear();
    cli_output_close(&m.output);
    cli_output_close(&m.trace);
    cli_output_close(&m.report);
    cli_job_close(&m.job);
    return code;
}
