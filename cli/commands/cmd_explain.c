/* cli/commands/cmd_explain.c - hybrid_spmm explain: prints a plan as text or JSON and
   computes nothing. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/operands/files.h"
#include "cli/commands/fit.h"
#include "cli/commands/job.h"
#include "cli/commands/job_load.h"
#include "cli/operands/operand.h"
#include "cli/options/types.h"
#include "cli/output/format.h"
#include "cli/output/json.h"
#include "cli/output/say.h"
#include "cli/output/text.h"

/* ---- as text --------------------------------------------------------------------- */

static int print(const cli_job *job, cli_tell *tell)
{
    char *text;
    const int code = cli_job_told(job, tell, &text);

    if (code != CLI_DONE)
        return code;
    fputs(text, stdout);
    free(text);
    return CLI_DONE;
}

/* For a product A*X, prints whether X and Y fit into host memory, if that is limited. The
   plan's text says this of C only, because not the library but the program allocates X
   and Y. */
static void print_dense_fit(const cli_job *job)
{
    const cli_fit fit = cli_fit_of(job);

    if (job->right || fit.budget == 0)
        return;
    printf(
        "memory      X and Y take %s more, and %s of the host memory of %s are free%s\n",
        cli_bytes(fit.needed).s, cli_bytes(fit.free).s, cli_bytes(fit.budget).s,
        fit.needed > fit.free ? ":\n            they DO NOT FIT; raise --host-memory, "
                                "or use fewer --dense-cols"
                              : "");
}

/* ---- operands in files, which have no plan --------------------------------------- */

static int has_plan(const cli_job *job)
{
    return !job->left_file && !(job->right && job->right_file);
}

static void print_shape(const char *name, int64_t rows, int64_t cols)
{
    printf("%-11s %s x %s", name, cli_count(rows).s, cli_count(cols).s);
}

static void print_sparse(const char *name, const hybrid_csr *matrix)
{
    print_shape(name, matrix->rows, matrix->cols);
    printf(", %s entries\n", cli_count(matrix->nnz).s);
}

static void print_result(const cli_job *job)
{
    const hybrid_report *r = &job->report;

    print_shape(job->right ? "C" : "Y", job->A.rows,
                job->right ? job->right->cols : job->X.cols);
    if (job->right)
        printf(", about %s entries", cli_count(r->predicted_nnz_out).s);
    printf(", %s\nwork        %s%s multiplications\n",
           cli_bytes(r->predicted_result_bytes).s, job->right ? "about " : "",
           cli_count(r->flops / 2).s);
}

/* For a product A*B, prints whether C fits into host memory, if that is limited. Used if
   an operand stays in its file and C goes to no file: then no plan exists. The text of a
   plan says this already. */
static void print_sparse_fit(const cli_job *job)
{
    const cli_fit fit = cli_fit_of(job);

    if (!job->right || fit.budget == 0)
        return;
    printf("memory      %s of the host memory of %s are free%s\n", cli_bytes(fit.free).s,
           cli_bytes(fit.budget).s,
           fit.needed > fit.free
               ? ":\n            C DOES NOT FIT; raise --host-memory, or "
                 "take its rows one after another "
                 "(hybrid_spgemm_files_each)"
               : "");
}

/* Prints what a run that writes the result to a file takes, if that is predicted. */
static void print_to_file(const cli_job *job, const hybrid_report *r)
{
    if (r->peak_host_bytes == 0)
        return;
    printf("to a file   %sat most about %s of host memory",
           job->options->output ? "" : "with -o: ", cli_bytes(r->peak_host_bytes).s);
    if (r->peak_device_bytes > 0 && hybrid_engine_backend(job->engine) == HYBRID_CUDA)
        printf(" and %s of device memory", cli_bytes(r->peak_device_bytes).s);
    printf(", %s read, %s on the disk, %s\n", cli_bytes(r->host_bytes).s,
           r->file_bytes > 0 ? cli_bytes(r->file_bytes).s : "an unknown size",
           cli_seconds(r->predicted_s).s);
}

static void print_files(const cli_job *job)
{
    printf("product     %s, values of %s\n",
           job->right ? "C = A B, all sparse" : "Y = A X, A sparse, X and Y dense",
           cli_type_name(job->type));
    print_sparse("A", &job->A);
    if (job->right) {
        print_sparse("B", job->right);
    } else {
        print_shape("X", job->X.rows, job->X.cols);
        printf("\n");
    }
    print_result(job);
    if (!job->options->output)
        print_sparse_fit(job);
    print_dense_fit(job);
    printf(
        "parts       ranges of rows, each planned when it is read: the operands stay in "
        "their files\n");
}

static int print_words(const cli_job *job, const hybrid_report *file)
{
    if (!has_plan(job)) {
        print_files(job);
        print_to_file(job, file);
        return CLI_DONE;
    }
    int code = print(job, hybrid_plan_explain);

    print_dense_fit(job);
    print_to_file(job, file);
    if (code == CLI_DONE && job->options->verbose) {
        printf("\n");
        code = print(job, hybrid_plan_details);
    }
    return code;
}

/* ---- as JSON ---------------------------------------------------------------------- */

static void put_matrix(cli_json *json, const char *key, const char *name, int64_t rows,
                       int64_t cols, int64_t entries)
{
    cli_json inner;

    cli_json_key(json, key);
    cli_json_begin(&inner, json->file, "  ");
    if (name)
        cli_json_text(&inner, "name", name);
    cli_json_int(&inner, "rows", rows);
    cli_json_int(&inner, "cols", cols);
    cli_json_int(&inner, name ? "nnz" : "predicted_nnz", entries);
    cli_json_end(&inner);
}

static void put_operands(cli_json *json, const cli_job *job)
{
    const hybrid_csr *B    = job->right;
    const int64_t cols     = B ? B->cols : job->X.cols;
    const int64_t in_right = B ? B->nnz : job->X.rows * job->X.cols;
    const cli_options *o   = job->options;
    const char *right      = o->input[1] ? o->input[1] : job->right_name.s;

    cli_json_text(json, "product", B ? "spgemm" : "spmm");
    cli_json_text(json, "type", cli_type_name(job->type));
    put_matrix(json, "A", o->input[0], job->A.rows, job->A.cols, job->A.nnz);
    put_matrix(json, B ? "B" : "X", right, B ? B->rows : job->X.rows, cols, in_right);
    put_matrix(json, B ? "C" : "Y", NULL, job->A.rows, cols,
               job->report.predicted_nnz_out);
}

static void put_fit(cli_json *json, const cli_job *job)
{
    const cli_fit fit = cli_fit_of(job);

    cli_json_int(json, "predicted_result_bytes", job->report.predicted_result_bytes);
    if (fit.budget == 0)
        return;
    cli_json_int(json, "host_memory_bytes", fit.budget);
    cli_json_int(json, "host_memory_free_bytes", fit.free);
    cli_json_truth(json, "result_fits", fit.needed <= fit.free);
}

static void put_candidates(cli_json *json, const cli_job *job)
{
    hybrid_candidate c;

    cli_json_begin_array(json, "candidates");
    for (int i = 0; hybrid_plan_candidate(job->plan, i, &c) == HYBRID_OK; i++) {
        cli_json item;
        cli_json_item(json, &item);
        cli_json_text(&item, "variant", c.variant);
        if (c.refused)
            cli_json_text(&item, "refused", c.refused);
        else
            cli_json_real(&item, "predicted_s", c.predicted_s);
        cli_json_truth(&item, "chosen", c.chosen);
        cli_json_end(&item);
    }
    cli_json_end_array(json);
}

/* Writes the plan. `details` is the text of hybrid_plan_details(), which may include the
   figures of a model from the chosen variant's paper. */
static void put_plan(cli_json *json, const cli_job *job, const char *details)
{
    const hybrid_report *r = &job->report;

    cli_json_text(json, "variant", job->variant);
    cli_json_real(json, "predicted_s", r->predicted_s);
    cli_json_int(json, "chunks", r->chunks);
    cli_json_int(json, "predicted_h2d_bytes", r->predicted_h2d_bytes);
    cli_json_int(json, "predicted_d2h_bytes", r->predicted_d2h_bytes);
    put_candidates(json, job);
    cli_json_text(json, "details", details);
}

static void put_file(cli_json *json, const hybrid_report *r)
{
    if (r->peak_host_bytes == 0)
        return;
    cli_json_int(json, "predicted_peak_host_bytes", r->peak_host_bytes);
    cli_json_int(json, "predicted_peak_device_bytes", r->peak_device_bytes);
    cli_json_int(json, "predicted_read_bytes", r->host_bytes);
    cli_json_int(json, "predicted_file_bytes", r->file_bytes);
    cli_json_real(json, "predicted_to_file_s", r->predicted_s);
}

static int print_json(const cli_job *job, const hybrid_report *file)
{
    const int cuda         = hybrid_engine_backend(job->engine) == HYBRID_CUDA;
    hybrid_machine machine = HYBRID_MACHINE_INIT;
    char *details          = NULL;
    cli_json json;

    if (hybrid_engine_machine(job->engine, &machine) != HYBRID_OK)
        return cli_fail(
            CLI_FAILED,
            "internal error, please report it: hybrid_engine_machine() failed");
    if (has_plan(job)) {
        const int code = cli_job_told(job, hybrid_plan_details, &details);
        if (code != CLI_DONE)
            return code;
    }
    cli_json_begin(&json, stdout, "");
    cli_json_text(&json, "version", cli_version().s);
    put_operands(&json, job);
    cli_json_int(&json, "flops", job->report.flops);
    put_fit(&json, job);
    cli_json_text(&json, "backend", cuda ? "cuda" : "host");
    if (cuda)
        cli_json_text(&json, "device", hybrid_engine_device(job->engine));
    cli_json_truth(&json, "planned", has_plan(job));
    if (has_plan(job))
        put_plan(&json, job, details);
    put_file(&json, file);
    cli_json_text(&json, "rates", machine.rates_date[0] ? machine.rates_path : NULL);
    cli_json_end(&json);
    fputc('\n', stdout);
    free(details);
    return CLI_DONE;
}

static int check(const cli_options *o)
{
    const int dense = o->dense_cols || (o->input[1] && cli_operand_is_dense(o->input[1]));
    const int code  = cli_format_check(o, dense);

    return code == CLI_DONE ? cli_job_check(o) : code;
}

/* Predicts a run that writes the result to a file while it is computed; *out stays empty
   if there is no such run. */
static int predict_file(const cli_job *job, hybrid_report *out)
{
    const char *output = job->options->output;

    if (!job->right && job->right_file)
        return cli_files_predict_file(job, out);
    if (!job->right || !output || !job->to_file || !hybrid_file_format(output))
        return CLI_DONE;
    return cli_files_predict_file(job, out);
}

int cli_explain(const cli_options *options)
{
    cli_job job        = {.options = options, .explains = 1, .streams = 1};
    hybrid_report file = HYBRID_REPORT_INIT;
    int code           = check(options);

    cli_progress_open(options->progress, options->quiet);
    if (code == CLI_DONE)
        code = cli_job_open(&job);
    if (code == CLI_DONE)
        code = cli_job_load(&job);
    if (code == CLI_DONE)
        code = predict_file(&job, &file); /* before a plan takes memory */
    if (code == CLI_DONE)
        code = has_plan(&job) ? cli_job_plan(&job) : cli_files_predict(&job);
    cli_progress_clear();
    if (code == CLI_DONE)
        code = options->json ? print_json(&job, &file) : print_words(&job, &file);
    cli_job_close(&job);
    return code;
}
