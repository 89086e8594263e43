/* cli/commands/job_load.c - the operands of a job: read, opened, generated and
   transposed. */
#include "cli/commands/job_load.h"

#include <sys/stat.h>

#include "cli/options/types.h"
#include "cli/output/now.h"
#include "cli/operands/operand.h"
#include "cli/output/say.h"
#include "cli/output/signals.h"
#include "cli/operands/shapes.h"

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
    /* Y is allocated before X is filled, so that a Y that does not fit fails early */
    hybrid_status status = hybrid_dense_create(job->engine, job->A.cols, o->dense_cols,
                                               HYBRID_ROW_MAJOR, job->type, &job->X);
    if (status == HYBRID_OK && !job->to_file)
        status = hybrid_dense_create(job->engine, job->A.rows, o->dense_cols,
                                     HYBRID_ROW_MAJOR, job->type, &job->Y);
    if (status == HYBRID_OK)
        status = hybrid_dense_random(job->engine, o->seed, &job->X);
    if (status != HYBRID_OK)
        return cli_fail_engine(job->engine, status);
    job->read_s += cli_job_step(job, "make X", "reader", begin, 0);
    return CLI_DONE;
}

/* Returns 1 if the operand `name` stays in its file. A dense matrix in a file of a format
   that the library can leave there always does; a sparse one does if no step needs all of
   it. The command explain needs a plan, and a plan needs operands in memory; so explain
   reads the sparse operands that the library would read completely. A file of a format
   that is usually read completely stays if it is large and the result is written while it
   is computed. */
static int stays(const cli_job *job, const char *name, int transposed)
{
    const cli_options *o = job->options;

    if (!name)
        return 0;
    if (!cli_operand_is_stored(job->engine, name))
        return job->streams && !transposed && cli_operand_is_big_file(job->engine, name);
    if (cli_operand_is_dense(name))
        return 1;
    return !(o->verify || transposed) &&
           (!job->explains || cli_operand_is_large(job->engine, name));
}

/* Opens operand i, or takes the file that find_type() has opened. */
static int open_operand(cli_job *job, int i, hybrid_file **file)
{
    *file          = job->opened[i];
    job->opened[i] = NULL;
    if (*file)
        return CLI_DONE;
    cli_signals_defer();
    const int code = cli_signals_returned(
        job->engine,
        cli_operand_open(job->engine, job->options->input[i], job->type, file));
    cli_tell_note(job->engine, job->options);
    return code;
}

static int open_left(cli_job *job)
{
    const cli_options *o = job->options;
    const int code       = open_operand(job, 0, &job->left_file);

    if (code != CLI_DONE)
        return code;
    job->A = hybrid_file_csr(job->left_file);
    if (job->A.type == 0)
        return cli_fail(CLI_INPUT,
                        "%s: A must be sparse, but this file describes a dense matrix",
                        o->input[0]);
    return cli_operand_check_type(o->input[0], job->A.type, job->type);
}

static int open_right(cli_job *job)
{
    const cli_options *o = job->options;
    const int code       = open_operand(job, 1, &job->right_file);

    job->right_name = cli_operand_title(o->input[1]);
    if (code != CLI_DONE)
        return code;
    job->B     = hybrid_file_csr(job->right_file);
    job->X     = hybrid_file_dense(job->right_file);
    job->right = job->X.type == 0 ? &job->B : NULL;
    return cli_operand_check_type(o->input[1], job->right ? job->B.type : job->X.type,
                                  job->type);
}

/* Loads the right operand: a matrix that the user names, an X that the options describe,
   or none, which means A itself. Sets job->right_name. Returns 0 or an exit code. */
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

/* Sets *type to the type of the values of operand i, or to 0 if its file has none. An
   operand that has a type and can stay in its file is opened, and *is_stored is 1. */
static int type_of(cli_job *job, int i, hybrid_type *type, int *is_stored)
{
    const char *name = job->options->input[i];

    *is_stored = cli_operand_has_type(job->engine, name);
    if (!*is_stored) {
        cli_operand_type(name, type);
        return CLI_DONE;
    }
    cli_signals_defer();
    const int code = cli_signals_returned(
        job->engine, hybrid_file_open(job->engine, name, &job->opened[i]));
    cli_tell_note(job->engine, job->options);
    *type = hybrid_file_csr(job->opened[i]).type;
    if (!*type)
        *type = hybrid_file_dense(job->opened[i]).type;
    return code;
}

/* Sets job->type, the type of all values: that of --type, else that of the operands in
   files. If these differ, a file whose values cannot be converted decides before a .npy
   file; two such files are an error. Text files have no type. Returns 0 or an exit
   code. */
static int find_type(cli_job *job)
{
    const cli_options *o = job->options;
    int in_file          = 0, is_stored;

    job->type = o->type ? o->type : CLI_DEFAULT_TYPE;
    for (int i = 0; i < CLI_INPUTS && o->input[i] && !o->type; i++) {
        hybrid_type type = job->type;
        const int code   = type_of(job, i, &type, &is_stored);
        if (code != CLI_DONE)
            return code;
        if (in_file && is_stored && type != job->type)
            return cli_fail(CLI_INPUT,
                            "'%s' and '%s' hold values of different types, which are not "
                            "converted; write one of them with the type of the other",
                            o->input[0], o->input[1]);
        if (type && !in_file)
            job->type = type;
        in_file |= is_stored;
    }
    return CLI_DONE;
}

/* Decides whether the result is written to its file while it is computed. If that is
   possible (job->streams), it is in three cases: its format is neither Matrix Market nor
   .npy, the run is resumable, or an operand stays in its file. */
static void find_way(cli_job *job)
{
    const cli_options *o = job->options;
    const int in_memory =
        !o->output || cli_ends_in(o->output, ".mtx") || cli_ends_in(o->output, ".npy");

    job->to_file = job->streams && (cli_job_has_files(job) || o->resume || !in_memory);
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
    if (code == CLI_DONE)
        find_way(job);
    if (code == CLI_DONE && o->dense_cols)
        code = make_x(job);
    return code == CLI_DONE ? cli_shapes_check(job) : code;
}
