/* cli/commands/job.c - steps that multiply and explain share: engine, options, plan. */
#include "cli/commands/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/commands/gpus.h"
#include "cli/output/now.h"
#include "cli/operands/operand.h"
#include "cli/output/say.h"
#include "cli/output/signals.h"

static int64_t cpu_now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void cli_job_pause(cli_job *job)
{
    job->cpu_ns = cpu_now_ns();
}

/* Returns the resource that bound a step of `ns` nanoseconds: the file if the step read
   or wrote one and used the cores for less than half of its time; else the cores.
   HYBRID_RESOURCES stands for the file, which is not a resource of the library. */
static hybrid_resource bound_of(const cli_job *job, const char *stage, int64_t ns)
{
    const int on_file = strncmp(stage, "read", 4) == 0 || strncmp(stage, "write", 5) == 0;
    const int64_t busy_ns = cpu_now_ns() - job->cpu_ns;

    return on_file && 2 * busy_ns < ns ? HYBRID_RESOURCES : HYBRID_CORES;
}

/* Adds an event, which is a step of this program, to the trace, with the host memory that
   is in use now. */
static void add_to_trace(const cli_job *job, hybrid_event *event)
{
    hybrid_machine machine = HYBRID_MACHINE_INIT;

    if (hybrid_engine_machine(job->engine, &machine) == HYBRID_OK)
        event->host_bytes = machine.host_bytes_used;
    hybrid_trace_add(job->trace, event);
}

double cli_job_step(cli_job *job, const char *stage, const char *lane, int64_t begin_ns,
                    int64_t bytes)
{
    const int64_t end_ns = cli_now_ns();
    hybrid_event event   = {.stage    = stage,
                            .variant  = "",
                            .lane     = lane,
                            .chunk    = -1,
                            .begin_ns = begin_ns,
                            .end_ns   = end_ns,
                            .bytes    = bytes,
                            .parts    = 1,
                            .bound    = bound_of(job, stage, end_ns - begin_ns)};

    if (job->trace)
        add_to_trace(job, &event);
    cli_job_pause(job);
    return (double)(end_ns - begin_ns) * 1e-9;
}

/* ---- engine ---------------------------------------------------------------------- */

static int on_progress(void *user, int64_t done, int64_t total)
{
    cli_progress_tell(done, total, hybrid_engine_written(user));
    return cli_signals_came();
}

hybrid_engine *cli_engine_open(const cli_options *options, hybrid_backend backend,
                               const char *rates, int *code)
{
    char message[1024]           = "";
    hybrid_engine_options wanted = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_engine *engine        = NULL;

    wanted.backend      = backend;
    wanted.threads      = (int)options->threads;
    wanted.device       = (int)options->device;
    wanted.devices      = options->devices.count > 0 ? options->devices.numbers : NULL;
    wanted.device_count = options->devices.count;
    wanted.devices_optional    = options->devices_optional;
    wanted.device_bytes        = options->device_bytes;
    wanted.host_bytes          = options->host_bytes;
    wanted.spill_path          = options->spill;
    wanted.message             = message;
    wanted.message_size        = sizeof message;
    wanted.rates_path          = rates && strcmp(rates, "-") == 0 ? "/dev/stdin" : rates;
    const hybrid_status status = hybrid_engine_create(&wanted, &engine);
    hybrid_engine_progress(engine, on_progress, engine);
    if (status == HYBRID_OK)
        return engine;
    *code = cli_fail_status(status, message);
    return NULL;
}

void cli_tell_note(const hybrid_engine *engine, const cli_options *options)
{
    const char *note = hybrid_engine_note(engine);

    if (note[0] && !options->quiet)
        cli_note("%s", note);
}

/* Unless --quiet or --backend is given, prints why no GPU is used, if the user asked for
   one or the machine has one. */
static void tell_of_gpu(const cli_job *job)
{
    const cli_options *o = job->options;
    const cli_gpus gpus  = cli_gpus_find("");
    const int asked      = o->device > 0 || o->devices.count > 0;

    if (o->quiet || o->backend != HYBRID_AUTO ||
        hybrid_engine_backend(job->engine) != HYBRID_HOST ||
        !(asked || cli_gpus_present(&gpus)))
        return;
    cli_note("the CPU computes, because the GPU cannot be used: %s; see 'hybrid_spmm "
             "doctor'",
             hybrid_engine_device(job->engine));
}

/* Prints which devices of the options are left out, and why. */
static void tell_of_left_out(const cli_job *job)
{
    hybrid_machine machine = HYBRID_MACHINE_INIT;

    if (!job->options->quiet && hybrid_engine_backend(job->engine) == HYBRID_CUDA &&
        hybrid_engine_machine(job->engine, &machine) == HYBRID_OK && machine.left_out[0])
        cli_note("computing on %d device%s, without others: %s", machine.device_count,
                 machine.device_count == 1 ? "" : "s", machine.left_out);
}

/* Unless --quiet is given, prints that the user's file of rates is ignored, if another
   version of the library wrote it. */
static void tell_of_rates(const cli_job *job)
{
    hybrid_machine machine = HYBRID_MACHINE_INIT;

    if (!job->options->quiet &&
        hybrid_engine_machine(job->engine, &machine) == HYBRID_OK &&
        machine.rates_path[0] && !machine.rates_date[0])
        cli_note("'%s' has the format of another version and is ignored: run "
                 "'hybrid_spmm calibrate'",
                 machine.rates_path);
}

int cli_job_open(cli_job *job)
{
    const cli_options *o = job->options;
    int code             = CLI_DONE;

    job->engine = cli_engine_open(o, o->backend, o->rates, &code);
    if (!job->engine)
        return code;
    tell_of_gpu(job);
    tell_of_left_out(job);
    tell_of_rates(job);
    cli_job_pause(job);
    const hybrid_status status =
        o->trace ? hybrid_trace_create(job->engine, &job->trace) : HYBRID_OK;
    return status == HYBRID_OK ? CLI_DONE : cli_fail_engine(job->engine, status);
}

/* ---- options --------------------------------------------------------------------- */

/* Returns 1 if a variant has the name `beginning`, or a name that begins so. Parameters,
   which follow a colon, are not compared; the library checks them. */
static int is_variant(const char *beginning)
{
    const size_t length = strcspn(beginning, ":");
    hybrid_variant_info info;

    for (int i = 0; hybrid_variant_at(i, &info) == HYBRID_OK; i++)
        if (strncmp(info.name, beginning, length) == 0)
            return 1;
    return 0;
}

int cli_job_check(const cli_options *o)
{
    const int dense = o->input[1] && cli_operand_is_dense(o->input[1]);

    if (o->input[1] && cli_operand_is_standard_input(o->input[0]) &&
        cli_operand_is_standard_input(o->input[1]))
        return cli_fail(
            CLI_USAGE,
            "A and B cannot both be standard input; give a file for one of them");
    if (o->dense_cols && o->input[1])
        return cli_fail(
            CLI_USAGE,
            "--dense-cols makes a dense B, so that '%s' cannot be B as well; leave out "
            "one of them",
            o->input[1]);
    if (o->transpose_b && (o->dense_cols || dense))
        return cli_fail(CLI_USAGE, "--transpose-b needs a sparse B, and %s is dense",
                        dense ? o->input[1] : "--dense-cols");
    if (o->verify && dense && cli_operand_is_json(o->input[1]))
        return cli_fail(
            CLI_USAGE,
            "--verify needs X in memory, and '%s' stays in its file; leave out --verify",
            o->input[1]);
    if (o->variant && !is_variant(o->variant))
        return cli_fail(CLI_USAGE,
                        "no variant's name begins with '%s'; see 'hybrid_spmm list'",
                        o->variant);
    return CLI_DONE;
}

/* ---- plan ------------------------------------------------------------------------ */

static void find_chosen(cli_job *job)
{
    hybrid_candidate candidate;

    for (int i = 0; hybrid_plan_candidate(job->plan, i, &candidate) == HYBRID_OK; i++)
        if (candidate.chosen)
            job->variant = candidate.variant;
}

hybrid_plan_options cli_job_wanted(const cli_job *job)
{
    const cli_options *o       = job->options;
    hybrid_plan_options wanted = HYBRID_PLAN_OPTIONS_INIT;

    wanted.flags = HYBRID_EXPLAIN | (o->deterministic ? HYBRID_DETERMINISTIC : 0) |
                   (o->allow_tf32 ? HYBRID_ALLOW_TF32 : 0);
    wanted.chunk_rows = o->chunk_rows;
    wanted.variant    = o->variant;
    wanted.split      = o->split.how;
    wanted.host_share = o->split.host_share;
    wanted.order      = job->right ? HYBRID_ROW_MAJOR : job->X.order;
    return wanted;
}

int cli_job_plan(cli_job *job)
{
    const hybrid_plan_options wanted = cli_job_wanted(job);
    const int64_t begin              = cli_now_ns();
    hybrid_status status;

    cli_progress_phase("planning", "");
    cli_signals_defer();
    if (job->right)
        status =
            hybrid_spgemm_plan(job->engine, &job->A, job->right, &wanted, &job->plan);
    else
        status = hybrid_spmm_plan(job->engine, &job->A, job->X.cols, &wanted, &job->plan);
    const int code = cli_signals_returned(job->engine, status);
    if (code != CLI_DONE)
        return code;
    job->plan_s = cli_job_step(job, "plan", "main", begin, 0);
    find_chosen(job);
    job->report = (hybrid_report)HYBRID_REPORT_INIT;
    status      = hybrid_plan_report(job->plan, &job->report);
    return status == HYBRID_OK ? CLI_DONE : cli_fail_engine(job->engine, status);
}

int cli_job_told(const cli_job *job, cli_tell *tell, char **text)
{
    const size_t length = tell(job->plan, NULL, 0);

    *text = malloc(length + 1);
    if (!*text)
        return cli_fail(CLI_MEMORY,
                        "cannot allocate %zu bytes for the text of the plan; free some "
                        "memory on this machine",
                        length);
    tell(job->plan, *text, length + 1);
    return CLI_DONE;
}

void cli_job_close(cli_job *job)
{
    cli_calls_close(&job->calls);
    if (!job->engine)
        return;
    hybrid_trace_destroy(job->trace);
    hybrid_plan_destroy(job->plan);
    hybrid_csr_free(job->engine, &job->A);
    hybrid_csr_free(job->engine, &job->B);
    hybrid_csr_free(job->engine, &job->C);
    for (int i = 0; i < CLI_INPUTS; i++)
        hybrid_file_close(job->opened[i]);
    hybrid_file_close(job->left_file);
    hybrid_file_close(job->right_file);
    hybrid_dense_free(job->engine, &job->X);
    hybrid_dense_free(job->engine, &job->Y);
    hybrid_engine_destroy(job->engine);
}
