/* cli/operands/shapes.c - applies --transpose-a and --transpose-b, and checks shapes. */
#include "cli/operands/shapes.h"

#include <stdio.h>

#include "cli/output/now.h"
#include "cli/output/progress.h"
#include "cli/output/say.h"

static int transpose(cli_job *job, const hybrid_csr *from, const char *stage,
                     hybrid_csr *to)
{
    const int64_t begin = cli_now_ns();

    cli_progress_phase(stage, "");
    const hybrid_status status = hybrid_csr_transpose(job->engine, from, to);
    if (status != HYBRID_OK)
        return cli_fail_engine(job->engine, status);
    job->transpose_s += cli_job_step(job, stage, "main", begin, 0);
    return CLI_DONE;
}

/* Transposes A. If `keep` is 1, the original A becomes B, for the product A'*A. */
static int transpose_left(cli_job *job, int keep)
{
    hybrid_csr T;
    const int code = transpose(job, &job->A, "transpose A", &T);

    if (code != CLI_DONE)
        return code;
    if (keep) {
        job->B     = job->A;
        job->right = &job->B;
    } else {
        hybrid_csr_free(job->engine, &job->A);
    }
    job->A = T;
    return CLI_DONE;
}

static int transpose_right(cli_job *job)
{
    hybrid_csr T;
    const int code = transpose(job, job->right, "transpose B", &T);

    if (code != CLI_DONE)
        return code;
    hybrid_csr_free(job->engine, &job->B);
    job->B     = T;
    job->right = &job->B;
    return CLI_DONE;
}

int cli_shapes_transpose(cli_job *job)
{
    const cli_options *o = job->options;
    const int square     = job->right == &job->A; /* 1: both operands are A, transposed or
                                                     not */
    int code = CLI_DONE;

    if (o->transpose_a)
        code = transpose_left(job, square && !o->transpose_b);
    if (code == CLI_DONE && o->transpose_b && !(square && o->transpose_a))
        code = transpose_right(job);
    return code;
}

/* Returns the end of an error: advice such as "; add --transpose-b" if adding or leaving
   out one such option makes the shapes fit, else "". */
static const char *remedy(const cli_job *job, int64_t rows)
{
    const cli_options *o = job->options;

    if (job->right && job->A.cols == job->right->cols)
        return o->transpose_b ? "; leave out --transpose-b" : "; add --transpose-b";
    if (job->A.rows == rows)
        return o->transpose_a ? "; leave out --transpose-a" : "; add --transpose-a";
    return "";
}

int cli_shapes_check(const cli_job *job)
{
    const hybrid_csr *A = &job->A, *B = job->right;
    const int64_t rows = B ? B->rows : job->X.rows, cols = B ? B->cols : job->X.cols;

    if (A->cols == rows)
        return CLI_DONE;
    if (B == A)
        return cli_fail(CLI_INPUT,
                        "A is %lld x %lld and cannot be multiplied by itself; add "
                        "--transpose-b for A*A', or --transpose-a for A'*A",
                        (long long)A->rows, (long long)A->cols);
    return cli_fail(
        CLI_INPUT, "the shapes do not fit: %s is %lld x %lld, and %s is %lld x %lld%s",
        job->options->transpose_a ? "A'" : "A", (long long)A->rows, (long long)A->cols,
        !B                          ? "X"
        : job->options->transpose_b ? "B'"
                                    : "B",
        (long long)rows, (long long)cols, remedy(job, rows));
}
