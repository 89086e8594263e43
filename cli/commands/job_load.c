/* cli/commands/job_load.c - the operands of a job: read, opened, generated and
   transposed. */
#include "cli/commands/job_load.h"

#include <sys/stat.h>

#include "cli/output/now.h"
#include "cli/operands/operand.h"
#include "cli/output/say.h"
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

/* Returns 1 if an operand in JSON stays in its file, because no step needs all of it.
   explain makes a plan for operands in memory, so it reads those that the library would
   read completely. */
static int stays(const cli_job *job, const char *name, int transposed)
{
    const cli_options *o = job->options;

    if (!name || !cli_operand_is_json(name))
        return 0;
    if (cli_operand_is_dense(name))
        return 1;
    return !(o->verify || transposed) &&
           (!job->explains || cli_operand_is_large(job->engine, name));
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
        return cli_fail(CLI_INPUT,
                        "%s: A must be sparse, but this file describes a dense matrix",
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

/* Sets job->type, the type of all values: that of --type, else that of the operands in
   files. The type of a JSON file, whose values are not converted, takes precedence over
   that of a .npy file. Text files have no type. Returns 0 or an exit code. */
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
                            "converted; write one of them with the type of the other",
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
