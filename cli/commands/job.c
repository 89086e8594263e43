/* cli/commands/job.c - steps that multiply and explain share: engine, operands, plan. */
#include "cli/commands/job.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cli/operands/files.h"
#include "cli/commands/gpus.h"
#include "cli/output/now.h"
#include "cli/operands/operand.h"
#include "cli/output/say.h"
#include "cli/operands/shapes.h"
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

/* Returns what bound a step. It is a file (HYBRID_RESOURCES, none of the library's) if
   the step read or wrote and cores were busy for less than half of its time; else the
   cores. */
static hybrid_resource bound_of(const cli_job *job, const char *stage, int64_t ns)
{
    const int on_file = strncmp(stage, "read", 4) == 0 || strncmp(stage, "write", 5) == 0;
    const int64_t busy_ns = cpu_now_ns() - job->cpu_ns;

    return on_file && 2 * busy_ns < ns ? HYBRID_RESOURCES : HYBRID_CORES;
}

double cli_job_step(cli_job *job, const char *stage, const char *lane, int64_t begin_ns,
                    int64_t bytes)
{
    const int64_t end_ns     = cli_now_ns();
    const hybrid_event event = {.stage    = stage,
                                .variant  = "",
                                .lane     = lane,
                                .chunk    = -1,
                                .begin_ns = begin_ns,
                                .end_ns   = end_ns,
                                .bytes    = bytes,
                                .parts    = 1,
                                .bound    = bound_of(job, stage, end_ns - begin_ns)};

    hybrid_trace_add(job->trace, &event);
    cli_job_pause(job);
    return (double)(end_ns - begin_ns) * 1e-9;
}

/* ---- engine ---------------------------------------------------------------------- */

static int on_progress(void *user, int64_t done, int64_t total)
{
    (void)user;
    cli_progress_tell(done, total);
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
    wanted.device_bytes = options->device_bytes;
    wanted.host_bytes   = options->host_bytes;
    wanted.message      = message;
    wanted.message_size = sizeof message;
    wanted.rates_path   = rates && strcmp(rates, "-") == 0 ? "/dev/stdin" : rates;
    const hybrid_status status = hybrid_engine_create(&wanted, &engine);
    hybrid_engine_progress(engine, on_progress, NULL);
    if (status == HYBRID_OK)
        return engine;
    *code = cli_fail_status(status, message);
    return NULL;
}

/* Explains why the GPU is not used, if one was asked for or is present. A machine without
   GPU needs no explanation. */
static void tell_of_gpu(const cli_job *job)
{
    const cli_options *o = job->options;
    const cli_gpus gpus  = cli_gpus_look("");
    const int asked      = o->device > 0 || o->devices.count > 0;

    if (o->quiet || o->backend != HYBRID_AUTO ||
        hybrid_engine_backend(job->engine) != HYBRID_HOST ||
        !(asked || cli_gpus_present(&gpus)))
        return;
    cli_note("the CPU computes, because the GPU cannot be used: %s; see 'hybrid_spmm "
             "doctor'",
             hybrid_engine_device(job->engine));
}

int cli_job_open(cli_job *job)
{
    const cli_options *o = job->options;
    int code             = CLI_DONE;

    job->engine = cli_engine_open(o, o->backend, o->rates, &code);
    if (!job->engine)
        return code;
    tell_of_gpu(job);
    cli_job_pause(job);
    const hybrid_status status =
        o->trace ? hybrid_trace_create(job->engine, &job->trace) : HYBRID_OK;
    return status == HYBRID_OK ? CLI_DONE : cli_fail_engine(job->engine, status);
}

/* ---- operands -------------------------------------------------------------------- */

static int is_variant(const char *beginning)
{
    hybrid_variant_info info;

    for (int i = 0; hybrid_variant_at(i, &info) == HYBRID_OK; i++)
        if (strncmp(info.name, beginning, strlen(beginning)) == 0)
            return 1;
    return 0;
}

int cli_job_check(const cli_options *o)
{
    const int dense = o->input[1] && cli_operand_is_dense(o->input[1]);

    if (o->input[1] && cli_operand_is_standard_input(o->input[0]) &&
        cli_operand_is_standard_input(o->input[1]))
        return cli_fail(CLI_USAGE, "A and B cannot both be standard input");
    if (o->dense_cols && o->input[1])
        return cli_fail(CLI_USAGE, "--dense-cols stands instead of B: leave out '%s'",
                        o->input[1]);
    if (o->transpose_b && (o->dense_cols || dense))
        return cli_fail(CLI_USAGE, "--transpose-b needs a sparse B, and %s is dense",
                        dense ? o->input[1] : "--dense-cols");
    if (o->verify && dense && cli_operand_is_json(o->input[1]))
        return cli_fail(CLI_USAGE,
                        "--verify needs X in memory, and '%s' stays in its file",
                        o->input[1]);
    if (o->variant && !is_variant(o->variant))
        return cli_fail(CLI_USAGE,
                        "no variant's name begins with '%s'; see 'hybrid_spmm list'",
                        o->variant);
    return CLI_DONE;
}

static int64_t file_bytes(const char *name)
{
    struct stat st;
    return !cli_operand_spec(name) && stat(name, &st) == 0 ? (int64_t)st.st_size : 0;
}

static int make_x(cli_job *job)
{
    const cli_options *o = job->options;
    const int64_t begin  = cli_now_ns();

    if (job->explains) {
        job->X = (hybrid_dense){job->A.cols,      o->dense_cols, o->dense_cols,
                                HYBRID_ROW_MAJOR, NULL,          job->type};
        return CLI_DONE;
    }
    /* Y is allocated before X is filled, so that sizes that do not fit fail at once */
    hybrid_status status = hybrid_dense_create(job->engine, job->A.cols, o->dense_cols,
                                               HYBRID_ROW_MAJOR, job->type, &job->X);
    if (status == HYBRID_OK)
        status = hybrid_dense_create(job->engine, job->A.rows, o->dense_cols,
                                     HYBRID_ROW_MAJOR, job->type, &job->Y);
    if (status == HYBRID_OK)
        status = hybrid_dense_random(job->engine, o->seed, &job->X);
    if (status != HYBRID_OK)
        return cli_fail_engine(job->engine, status);
    job->read_s += cli_job_step(job, "make X", "reader", begin, 0);
    return CLI_DONE;
}

/* Returns 1 if an operand in JSON stays in its file, because no step needs all of it. A
   plan needs the operands in memory, so explain reads those that the library would read
   completely. */
static int stays(const cli_job *job, const char *name, int transposed)
{
    const cli_options *o = job->options;

    if (!name || !cli_operand_is_json(name))
        return 0;
    if (cli_operand_is_dense(name))
        return 1;
    return !(o->verify || transposed) &&
           (!job->explains || cli_files_is_large(job->engine, name));
}

static int open_left(cli_job *job)
{
    const cli_options *o = job->options;
    const hybrid_status status =
        hybrid_file_open(job->engine, o->input[0], &job->left_file);

    if (status != HYBRID_OK)
        return cli_fail_engine(job->engine, status);
    job->A = hybrid_file_csr(job->left_file);
    if (job->A.type == 0)
        return cli_fail(CLI_INPUT, "%s: holds a dense matrix and must be sparse",
                        o->input[0]);
    return cli_operand_check_type(o->input[0], job->A.type, job->type);
}

static int open_right(cli_job *job)
{
    const cli_options *o = job->options;
    const hybrid_status status =
        hybrid_file_open(job->engine, o->input[1], &job->right_file);

    job->right_name = cli_operand_title(o->input[1]);
    if (status != HYBRID_OK)
        return cli_fail_engine(job->engine, status);
    job->B     = hybrid_file_csr(job->right_file);
    job->X     = hybrid_file_dense(job->right_file);
    job->right = job->X.type == 0 ? &job->B : NULL;
    return cli_operand_check_type(o->input[1], job->right ? job->B.type : job->X.type,
                                  job->type);
}

/* Loads B as it was named, or as the options make it. right_name says which. */
static int load_right(cli_job *job)
{
    const cli_options *o = job->options;
    int dense            = 0;

    job->right      = &job->A;
    job->right_name = cli_operand_title("A");
    if (stays(job, o->input[1], o->transpose_b))
        return open_right(job);
    if (o->input[1]) {
        const int64_t begin = cli_now_ns();
        const int code = cli_operand_read(job->engine, o->input[1], job->type, o->seed,
                                          &job->B, &job->X, &dense);
        if (code != CLI_DONE)
            return code;
        job->read_s +=
            cli_job_step(job, cli_operand_spec(o->input[1]) ? "make B" : "read B",
                         "reader", begin, file_bytes(o->input[1]));
        job->right      = dense ? NULL : &job->B;
        job->right_name = cli_operand_title(o->input[1]);
    } else if (o->dense_cols) {
        job->right      = NULL;
        job->right_name = cli_operand_title("random");
    }
    return CLI_DONE;
}

static int load_left(cli_job *job)
{
    const cli_options *o = job->options;
    const char *name     = o->input[0];
    const int64_t begin  = cli_now_ns();
    int dense;

    job->left_name = cli_operand_title(name);
    if (stays(job, name, o->transpose_a || (o->transpose_b && !o->input[1])))
        return open_left(job);
    const int code =
        cli_operand_read(job->engine, name, job->type, o->seed, &job->A, NULL, &dense);
    if (code == CLI_DONE)
        job->read_s = cli_job_step(job, cli_operand_spec(name) ? "make A" : "read A",
                                   "reader", begin, file_bytes(name));
    return code;
}

/* Finds the type of the values: --type, else the type of JSON operands, which are not
   converted, else that of .npy files, else f64. Text files have no type. */
static int find_type(cli_job *job)
{
    const cli_options *o = job->options;
    int in_json          = 0;

    job->type = o->type ? o->type : HYBRID_F64;
    for (int i = 0; i < CLI_INPUTS && o->input[i] && !o->type; i++) {
        hybrid_type type  = job->type;
        const int is_json = cli_operand_is_json(o->input[i]);
        const int code    = cli_operand_type(job->engine, o->input[i], &type);
        if (code != CLI_DONE)
            return code;
        if (in_json && is_json && type != job->type)
            return cli_fail(CLI_INPUT,
                            "'%s' and '%s' hold values of different types, which are not "
                            "converted",
                            o->input[0], o->input[1]);
        if (type && !in_json)
            job->type = type;
        in_json |= is_json;
    }
    return CLI_DONE;
}

int cli_job_load(cli_job *job)
{
    const cli_options *o = job->options;
    int code             = find_type(job);

    if (code == CLI_DONE)
        code = load_left(job);
    if (code == CLI_DONE)
        code = load_right(job);
    if (code == CLI_DONE)
        code = cli_shapes_transpose(job);
    if (code == CLI_DONE && o->dense_cols)
        code = make_x(job);
    return code == CLI_DONE ? cli_shapes_check(job) : code;
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
    hybrid_file_close(job->left_file);
    hybrid_file_close(job->right_file);
    hybrid_dense_free(job->engine, &job->X);
    hybrid_dense_free(job->engine, &job->Y);
    hybrid_engine_destroy(job->engine);
}
