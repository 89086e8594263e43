/* cli/output/report_json.c - writes the report of a finished product as one JSON
   object. */
#include "cli/output/report_json.h"

#include "cli/options/types.h"
#include "cli/output/json.h"
#include "cli/output/text.h"

static void put_operand(cli_json *json, const char *key, const char *name, int64_t rows,
                        int64_t cols, int64_t nnz, int dense)
{
    cli_json inner;

    cli_json_key(json, key);
    cli_json_begin(&inner, json->file, "  ");
    cli_json_text(&inner, "name", name);
    cli_json_text(&inner, "storage", dense ? "dense" : "csr");
    cli_json_int(&inner, "rows", rows);
    cli_json_int(&inner, "cols", cols);
    cli_json_int(&inner, "nnz", nnz);
    cli_json_end(&inner);
}

static void put_problem(cli_json *json, const cli_job *job)
{
    const cli_options *o = job->options;
    const hybrid_csr *B  = job->right;
    const char *right    = o->input[1] ? o->input[1] : job->right_name.s;

    cli_json_text(json, "product", B ? "spgemm" : "spmm");
    cli_json_text(json, "type", cli_type_name(job->type));
    cli_json_truth(json, "transpose_a", o->transpose_a);
    cli_json_truth(json, "transpose_b", o->transpose_b);
    cli_json_count(json, "seed", o->seed);
    put_operand(json, "A", o->input[0], job->A.rows, job->A.cols, job->A.nnz, 0);
    if (B) {
        put_operand(json, "B", right, B->rows, B->cols, B->nnz, 0);
        put_operand(json, "C", o->output, job->C.rows, job->C.cols, job->C.nnz, 0);
    } else {
        put_operand(json, "X", right, job->X.rows, job->X.cols, job->X.rows * job->X.cols,
                    1);
        put_operand(json, "Y", o->output, job->Y.rows, job->Y.cols,
                    job->Y.rows * job->Y.cols, 1);
    }
}

static void put_place(cli_json *json, const cli_job *job)
{
    const int cuda         = hybrid_engine_backend(job->engine) == HYBRID_CUDA;
    hybrid_machine machine = HYBRID_MACHINE_INIT;

    cli_json_text(json, "backend", cuda ? "cuda" : "host");
    cli_json_text(json, "device", hybrid_engine_device(job->engine));
    if (hybrid_engine_machine(job->engine, &machine) == HYBRID_OK)
        cli_json_text(json, "devices_left_out", machine.left_out);
    cli_json_int(json, "cuda_host_bytes", machine.cuda_host_bytes);
    cli_json_int(json, "cuda_device_bytes", machine.cuda_device_bytes);
    cli_json_text(json, "variant", job->variant);
    cli_json_key(json, "threads");
    fprintf(json->file, "%d", hybrid_engine_threads(job->engine));
    cli_json_truth(json, "deterministic", job->options->deterministic);
    cli_json_truth(json, "allow_tf32", job->options->allow_tf32);
}

static void put_use(cli_json *json, const hybrid_report *r)
{
    cli_json all, inner;

    cli_json_key(json, "use");
    cli_json_begin(&all, json->file, "  ");
    for (int k = 0; k < HYBRID_RESOURCES; k++) {
        const hybrid_use *use = &r->use[k];
        if (use->rate <= 0)
            continue;
        cli_json_key(&all, hybrid_resource_text((hybrid_resource)k));
        cli_json_begin(&inner, json->file, "    ");
        cli_json_real(&inner, "utilisation", use->utilisation);
        cli_json_real(&inner, "rate", use->rate);
        cli_json_text(&inner, "rate_is",
                      k == HYBRID_CORES ? "workers" : hybrid_origin_text(use->origin));
        cli_json_end(&inner);
    }
    cli_json_end(&all);
}

void cli_report_usage(cli_json *json, const hybrid_report *r)
{
    cli_json_text(json, "bound", hybrid_resource_text(r->bound));
    cli_json_truth(json, "rates_measured", r->rates_measured);
    cli_json_real(json, "bus_utilisation", r->bus_utilisation);
    put_use(json, r);
    cli_json_real(json, "reference_s", r->reference_s);
    cli_json_real(json, "speedup_over_reference", r->speedup_over_reference);
}

/* Writes the number `bytes`, or null if it is unknown (-1). */
static void put_known(cli_json *json, const char *name, int64_t bytes)
{
    if (bytes >= 0)
        cli_json_int(json, name, bytes);
    else
        cli_json_text(json, name, NULL);
}

static void put_report(cli_json *json, const hybrid_report *r)
{
    cli_json_real(json, "total_s", r->total_s);
    cli_json_real(json, "predicted_s", r->predicted_s);
    cli_json_real(json, "load_s", r->load_s);
    cli_json_real(json, "prepare_s", r->prepare_s);
    cli_json_real(json, "h2d_s", r->h2d_s);
    cli_json_real(json, "multiply_s", r->multiply_s);
    cli_json_real(json, "finish_s", r->finish_s);
    cli_json_real(json, "d2h_s", r->d2h_s);
    cli_json_real(json, "place_s", r->place_s);
    cli_json_real(json, "overlap", r->overlap);
    cli_report_usage(json, r);
    cli_json_int(json, "chunks", r->chunks);
    cli_json_int(json, "rows", r->rows);
    cli_json_int(json, "flops", r->flops);
    cli_json_int(json, "nnz_out", r->nnz_out);
    cli_json_int(json, "h2d_bytes", r->h2d_bytes);
    cli_json_int(json, "d2h_bytes", r->d2h_bytes);
    cli_json_int(json, "pattern_bytes", r->pattern_bytes);
    cli_json_int(json, "host_bytes", r->host_bytes);
    cli_json_int(json, "device_bytes", r->device_bytes);
    cli_json_int(json, "predicted_h2d_bytes", r->predicted_h2d_bytes);
    cli_json_int(json, "predicted_d2h_bytes", r->predicted_d2h_bytes);
    put_known(json, "other_h2d_bytes", r->other_h2d_bytes);
    put_known(json, "b_h2d_bytes", r->b_h2d_bytes);
    put_known(json, "least_b_h2d_bytes", r->least_b_h2d_bytes);
    cli_json_truth(json, "gathered", r->gathered);
    cli_json_truth(json, "reused_pattern", r->reused_pattern);
    cli_json_int(json, "host_chunks", r->host_chunks);
    cli_json_int(json, "host_products", r->host_products);
    cli_json_real(json, "host_s", r->host_s);
    cli_json_int(json, "peak_device_bytes", r->peak_device_bytes);
    cli_json_int(json, "peak_pinned_bytes", r->peak_pinned_bytes);
    cli_json_int(json, "peak_host_bytes", r->peak_host_bytes);
    cli_json_int(json, "pooled_bytes", r->pooled_bytes);
    cli_json_real(json, "predicted_device_s", r->predicted_device_s);
    cli_json_real(json, "assemble_s", r->assemble_s);
    cli_json_int(json, "file_bytes", r->file_bytes);
    cli_json_int(json, "resumed_rows", r->resumed_rows);
}

void cli_report_write(const cli_job *job, const char *details, FILE *file)
{
    cli_json json;

    cli_json_begin(&json, file, "");
    cli_json_text(&json, "version", cli_version().s);
    put_problem(&json, job);
    put_place(&json, job);
    cli_json_real(&json, "read_s", job->read_s);
    cli_json_real(&json, "transpose_s", job->transpose_s);
    cli_json_real(&json, "plan_s", job->plan_s);
    cli_calls_json(&job->calls, &json, "calls_s");
    put_report(&json, &job->report);
    cli_json_text(&json, "details", details);
    cli_json_key(&json, "verified");
    fputs(job->options->verify ? "true" : "null", file);
    cli_json_real(&json, "verify_s", job->verify_s);
    cli_json_real(&json, "write_s", job->write_s);
    cli_json_end(&json);
    fputc('\n', file);
}
