/* cli/operands/files.c - products with operands that stay in their files. */
#include "cli/operands/files.h"

#include <string.h>

#include "cli/options/types.h"
#include "cli/output/say.h"
#include "cli/output/signals.h"

static hybrid_operand left_of(const cli_job *job)
{
    return (hybrid_operand){.csr  = job->left_file ? NULL : &job->A,
                            .file = job->left_file};
}

static hybrid_operand right_of(const cli_job *job)
{
    if (job->right == &job->A)
        return left_of(job);
    if (job->right_file)
        return (hybrid_operand){.file = job->right_file};
    return (hybrid_operand){.csr = job->right, .dense = job->right ? NULL : &job->X};
}

hybrid_status cli_files_run(cli_job *job)
{
    const hybrid_plan_options wanted = cli_job_wanted(job);
    const hybrid_operand A = left_of(job), B = right_of(job);

    const hybrid_status status =
        job->right ? hybrid_spgemm_files(job->engine, &A, &B, &wanted, &job->C)
                   : hybrid_spmm_files(job->engine, 1, &A, &B, 0, &wanted, &job->Y);
    return status == HYBRID_OK ? hybrid_engine_report(job->engine, &job->report) : status;
}

int cli_files_check(const cli_options *o, const char *path)
{
    const char *format = path && !o->format ? hybrid_file_format(path) : NULL;

    return !o->part_rows || (format && strcmp(format, "raw") == 0)
               ? CLI_DONE
               : cli_fail(CLI_USAGE, "--part-rows needs a result whose name ends in "
                                     ".json");
}

hybrid_file_options cli_files_options(const cli_options *o)
{
    hybrid_file_options wanted = HYBRID_FILE_OPTIONS_INIT;

    wanted.compression = o->compression;
    wanted.shuffle     = o->compression != HYBRID_STORED;
    wanted.resume      = o->resume;
    wanted.part_rows   = o->part_rows;
    return wanted;
}

/* Sets the sizes of C or Y, whose numbers are in the file. */
static void set_shape(cli_job *job)
{
    const int64_t rows = job->A.rows;

    if (job->right)
        job->C = (hybrid_csr){.rows = rows,
                              .cols = job->right->cols,
                              .nnz  = job->report.nnz_out,
                              .type = job->type};
    else
        job->Y = (hybrid_dense){rows, job->X.cols, job->X.cols, HYBRID_ROW_MAJOR,
                                NULL, job->type};
}

hybrid_status cli_files_to_file(cli_job *job)
{
    const hybrid_plan_options wanted = cli_job_wanted(job);
    const hybrid_file_options file   = cli_files_options(job->options);
    const hybrid_operand A = left_of(job), B = right_of(job);

    hybrid_status status =
        job->right
            ? hybrid_spgemm_to_file(job->engine, &A, &B, &wanted, job->output, &file)
            : hybrid_spmm_to_file(job->engine, 1, &A, &B, &wanted, job->output, &file);
    if (status == HYBRID_OK)
        status = hybrid_engine_report(job->engine, &job->report);
    if (status == HYBRID_OK) {
        set_shape(job);
        job->write_s = job->report.write_s;
    }
    return status;
}

/* Predicts the size of Y if X is in memory or not made yet. */
static void predict_y(cli_job *job)
{
    hybrid_report *r    = &job->report;
    const int64_t value = cli_type_bytes(job->type);

    r->rows                   = job->A.rows;
    r->flops                  = 2 * job->A.nnz * job->X.cols;
    r->predicted_nnz_out      = job->A.rows * job->X.cols;
    r->predicted_result_bytes = r->predicted_nnz_out * value;
}

int cli_files_predict(cli_job *job)
{
    const hybrid_operand A = left_of(job), B = right_of(job);

    job->report = (hybrid_report)HYBRID_REPORT_INIT;
    if (!job->right && !job->right_file) {
        predict_y(job);
        return CLI_DONE;
    }
    const hybrid_plan_options wanted = cli_job_wanted(job);
    cli_signals_defer();
    const hybrid_status status =
        job->right
            ? hybrid_spgemm_files_predict(job->engine, &A, &B, &wanted, &job->report)
            : hybrid_spmm_files_predict(job->engine, &A, &B, &wanted, &job->report);
    return cli_signals_returned(job->engine, status);
}

int cli_files_predict_file(const cli_job *job, hybrid_report *out)
{
    const hybrid_plan_options wanted = cli_job_wanted(job);
    const hybrid_file_options file   = cli_files_options(job->options);
    const hybrid_operand A = left_of(job), B = right_of(job);

    cli_signals_defer();
    const hybrid_status status =
        job->right ? hybrid_spgemm_to_file_predict(job->engine, &A, &B, &wanted,
                                                   job->options->output, &file, out)
                   : hybrid_spmm_files_predict(job->engine, &A, &B, &wanted, out);
    return cli_signals_returned(job->engine, status);
}
