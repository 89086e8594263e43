/* cli/output/summary.c - prints the summary of a finished product. */
#include "cli/output/summary.h"

#include <stdio.h>

#include "cli/options/types.h"
#include "cli/output/now.h"
#include "cli/output/outputs.h"
#include "cli/output/text.h"

/* Prints a matrix in one line: its letter, shape, number of entries and name. */
static void put_matrix(const char *letter, int64_t rows, int64_t cols, int64_t entries,
                       const char *name)
{
    fprintf(stderr, "  %-8s %s x %s, %s entries%s%s\n", letter, cli_count(rows).s,
            cli_count(cols).s, cli_count(entries).s, name[0] ? "   " : "", name);
}

static void put_matrices(const cli_job *job)
{
    const cli_options *o   = job->options;
    const hybrid_csr *B    = job->right;
    const cli_title output = cli_output_title(o->output ? o->output : "");

    const char *left  = o->transpose_a ? "A'" : "A";
    const char *right = !B               ? "X"
                        : o->transpose_b ? (o->input[1] ? "B'" : "A'")
                                         : (o->input[1] ? "B" : "A");

    fprintf(stderr, "%s = %s %s   %s\n", B ? "C" : "Y", left, right,
            cli_type_name(job->type));
    put_matrix(left, job->A.rows, job->A.cols, job->A.nnz, job->left_name.s);
    if (B && o->input[1])
        put_matrix(right, B->rows, B->cols, B->nnz, job->right_name.s);
    if (!B)
        put_matrix(right, job->X.rows, job->X.cols, job->X.rows * job->X.cols,
                   job->right_name.s);
    if (B)
        put_matrix("C", job->C.rows, job->C.cols, job->C.nnz, output.s);
    else
        put_matrix("Y", job->Y.rows, job->Y.cols, job->report.nnz_out, output.s);
}

static void put_seconds(const char *name, double seconds)
{
    if (seconds > 0)
        fprintf(stderr, "  %s %s", name, cli_seconds(seconds).s);
}

static void put_times(const cli_job *job)
{
    const hybrid_report *r = &job->report;

    fprintf(stderr, "  stages  ");
    put_seconds("load", r->load_s);
    put_seconds("prepare", r->prepare_s);
    put_seconds("h2d", r->h2d_s);
    put_seconds("multiply", r->multiply_s);
    put_seconds("host", r->host_s);
    put_seconds("finish", r->finish_s);
    put_seconds("d2h", r->d2h_s);
    put_seconds("place", r->place_s);
    fprintf(stderr, "  (busy, summed over chunks)\n  total    %s in all:",
            cli_seconds((double)(cli_now_ns() - job->begin_ns) * 1e-9).s);
    put_seconds("read", job->read_s);
    put_seconds("transpose", job->transpose_s);
    put_seconds("plan", job->plan_s);
    put_seconds("compute", r->total_s);
    put_seconds("verify", job->verify_s);
    if (!job->to_file)
        put_seconds("write", job->write_s);
    fputc('\n', stderr);
}

/* Prints the bytes copied, and the predicted bytes of two schedules: the plan's own and
   the alternative. One has B or X whole on the device ("resident"), the other sends the
   rows of B or X that each chunk needs. */
static void put_moved(const hybrid_report *r)
{
    if (r->h2d_bytes + r->d2h_bytes == 0)
        return;
    fprintf(stderr, "  moved    up %s, predicted %s", cli_bytes(r->h2d_bytes).s,
            cli_bytes(r->predicted_h2d_bytes).s);
    if (r->other_h2d_bytes >= 0)
        fprintf(stderr, " (%s: %s)", r->gathered ? "resident" : "gathered",
                cli_bytes(r->other_h2d_bytes).s);
    fprintf(stderr, "; down %s, predicted %s\n", cli_bytes(r->d2h_bytes).s,
            cli_bytes(r->predicted_d2h_bytes).s);
}

/* Prints the bytes that were written to the result's file while the run computed. */
static void put_written(const hybrid_report *r)
{
    if (r->file_bytes == 0)
        return;
    fprintf(stderr, "  written  %s in", cli_bytes(r->file_bytes).s);
    put_seconds("write", r->write_s);
    put_seconds("assemble", r->assemble_s);
    if (r->resumed_rows > 0)
        fprintf(stderr, "; %s rows from an earlier run", cli_count(r->resumed_rows).s);
    fputc('\n', stderr);
}

/* Prints which resource bound the run, the utilisation of each resource, and whether the
   rates are measured. */
static void put_use(const hybrid_report *r)
{
    fprintf(stderr, "  bound    %s; used", hybrid_resource_text(r->bound));
    for (int k = 0; k < HYBRID_RESOURCES; k++)
        if (r->use[k].rate > 0)
            fprintf(stderr, "%s %s %.0f %%", k > 0 ? "," : "",
                    hybrid_resource_text((hybrid_resource)k),
                    100 * r->use[k].utilisation);
    fprintf(stderr, "; rates %s\n",
            r->rates_measured ? "measured" : "built in; see hybrid_spmm calibrate");
}

/* Prints the reference time (the time in which the bus moves operands and result once)
   and the speedup over it. */
static void put_reference(const hybrid_report *r)
{
    fprintf(stderr, "  against  %s, operands and result moved once: speedup %.2f\n",
            cli_seconds(r->reference_s).s, r->speedup_over_reference);
}

/* Prints the CPU's share of the product, if CPU and GPU computed it together. */
static void put_split(const hybrid_report *r)
{
    if (r->host_chunks > 0)
        fprintf(stderr, "  split    CPU %lld chunk%s, %.0f %% of the products\n",
                (long long)r->host_chunks, r->host_chunks == 1 ? "" : "s",
                r->flops > 0 ? 200 * (double)r->host_products / (double)r->flops : 0);
}

/* Prints the largest use of memory. On the CPU, host memory includes the buffers of
   chunks. */
static void put_peak(const hybrid_report *r, int on_gpu)
{
    fprintf(stderr, "  peak     ");
    if (on_gpu)
        fprintf(stderr, "device %s, pinned %s, ", cli_bytes(r->peak_device_bytes).s,
                cli_bytes(r->peak_pinned_bytes).s);
    fprintf(stderr, "host %s\n", cli_bytes(r->peak_host_bytes).s);
}

/* Prints the memory that CUDA itself takes, which counts against no limit. */
static void put_cuda(const hybrid_engine *engine)
{
    hybrid_machine machine = HYBRID_MACHINE_INIT;

    if (hybrid_engine_machine(engine, &machine) == HYBRID_OK)
        fprintf(stderr, "  CUDA     device %s, host %s (beside the peaks)\n",
                cli_bytes(machine.cuda_device_bytes).s,
                cli_bytes(machine.cuda_host_bytes).s);
}

void cli_summary_print(const cli_job *job)
{
    const hybrid_report *r = &job->report;
    const double rate      = r->total_s > 0 ? (double)r->flops / r->total_s * 1e-9 : 0;
    const int on_gpu       = hybrid_engine_backend(job->engine) == HYBRID_CUDA;

    put_matrices(job);
    fprintf(stderr, "  on       %s, %lld chunk%s; %s\n",
            job->variant ? job->variant : "none", (long long)r->chunks,
            r->chunks == 1 ? "" : "s",
            on_gpu ? hybrid_engine_device(job->engine) : "CPU");
    fprintf(stderr, "  time     %s for %s products: %.2f GFLOP/s, overlap %.2f\n",
            cli_seconds(r->total_s).s, cli_count(r->flops / 2).s, rate, r->overlap);
    cli_calls_print(&job->calls);
    if (r->predicted_s > 0)
        fprintf(stderr, "  expected %s\n", cli_seconds(r->predicted_s).s);
    put_use(r);
    if (on_gpu)
        put_reference(r);
    put_times(job);
    put_moved(r);
    put_written(r);
    put_split(r);
    put_peak(r, on_gpu);
    if (on_gpu)
        put_cuda(job->engine);
    if (job->options->verify)
        fprintf(stderr, "  verify   passed\n");
}
