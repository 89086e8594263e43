/* bench/program/bench_peers.c - times cuSPARSE on the operands of our products. */
#include "bench/program/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/program/peers.h"

#if HYBRID_WITH_CUDA

enum { SEED = 5 };

static const double SLOW_S = 4; /* if the first call of an algorithm takes longer than
                                   SLOW_S seconds, only one more is made */

/* State of timing cuSPARSE on one problem. */
typedef struct peer_case {
    bench *bench;
    peer_device *device;
    peer_problem problem;
    hybrid_dense X;     /* X; empty for SpGEMM */
    peer_result result; /* latest result that was copied to the host */
    peer_result *kept;
    peer_call last; /* times of the last timed call */
    double *seconds;
} peer_case;

/* ---- operands with 32-bit offsets ------------------------------------------------ */

/* Makes a CSR matrix with 32-bit offsets; `col` and `val` remain those of A. Returns 0 on
   success; the caller frees out->row_ptr. */
static int narrow(const hybrid_csr *A, peer_csr *out)
{
    const int64_t *from = A->row_ptr;
    int32_t *to         = malloc(((size_t)A->rows + 1) * sizeof *to);

    if (!to)
        return -1;
    for (int64_t i = 0; i <= A->rows; i++)
        to[i] = (int32_t)from[i];
    *out = (peer_csr){A->rows, A->cols, A->nnz, to, A->col, A->val};
    return 0;
}

static void drop(peer_csr *m)
{
    free((void *)(uintptr_t)m->row_ptr);
    m->row_ptr = NULL;
}

static int open_operands(peer_case *p, hybrid_order order)
{
    bench *b               = p->bench;
    const bench_options *o = &b->options;
    const hybrid_csr *A    = &b->problem.A;

    p->problem = (peer_problem){.op         = (peer_op)o->op,
                                .value_size = o->type == HYBRID_F64 ? 8 : 4,
                                .cols       = o->cols,
                                .col_major  = order == HYBRID_COL_MAJOR};
    p->X       = (hybrid_dense){0};
    p->result  = (peer_result){0};
    p->seconds = calloc(2 * (size_t)o->reps + (size_t)o->keep, sizeof *p->seconds);
    p->kept    = calloc((size_t)o->keep + 1, sizeof *p->kept);
    if (!p->seconds || !p->kept || narrow(A, &p->problem.A))
        return -1;
    if (o->op == BENCH_SPGEMM)
        return b->problem.T.row_ptr ? narrow(&b->problem.T, &p->problem.B) : 0;
    if (bench_dense_make(b->tools, A->cols, o->cols, order, o->type, 1, 0, &p->X))
        return -1;
    p->problem.X = p->X.data;
    return 0;
}

static void close_operands(peer_case *p)
{
    drop(&p->problem.A);
    drop(&p->problem.B);
    bench_dense_free(&p->X);
    peer_result_free(&p->result);
    free(p->seconds);
    free(p->kept);
}

/* ---- calls ----------------------------------------------------------------------- */

static int repetitions(const bench_options *o, double first_s)
{
    return first_s > SLOW_S ? 1 : o->reps;
}

static int call_core(peer_case *p, int algorithm, bench_line *line)
{
    const bench_options *o = &p->bench->options;
    double *kernels = p->seconds, *new_matrix = p->seconds + o->reps;
    peer_call first, *timed                   = &p->last;

    int bad    = peer_core(p->device, algorithm, NULL, &first);
    line->reps = bad ? 0 : repetitions(o, first.new_matrix_s);
    for (int i = 0; i < o->warmup && line->reps > 1; i++)
        bad = bad || peer_core(p->device, algorithm, NULL, timed);
    for (int i = 0; i < line->reps && !bad; i++) {
        bad = peer_core(p->device, algorithm, line->reuse ? &p->result : NULL, timed);
        kernels[i]    = timed->seconds;
        new_matrix[i] = timed->new_matrix_s;
    }
    line->times.first      = first.new_matrix_s;
    line->times.calls      = bench_span_of(kernels, line->reps);
    line->times.new_matrix = bench_span_of(new_matrix, line->reps);
    return bad;
}

/* Times calls that reuse the memory of one result. */
static int call_freed(peer_case *p, int algorithm, bench_line *line)
{
    const bench_options *o = &p->bench->options;
    peer_call first, *timed = &p->last;

    int bad    = peer_end(p->device, &p->problem, algorithm, &p->result, &first);
    line->reps = bad ? 0 : repetitions(o, first.seconds);
    for (int i = 0; i < o->warmup && line->reps > 1; i++)
        bad = bad || peer_end(p->device, &p->problem, algorithm, &p->result, timed);
    for (int i = 0; i < line->reps && !bad; i++) {
        bad           = peer_end(p->device, &p->problem, algorithm, &p->result, timed);
        p->seconds[i] = timed->seconds;
    }
    line->times.first = first.seconds;
    line->times.calls = bench_span_of(p->seconds, line->reps);
    return bad;
}

/* Times calls whose results have memory of their own. */
static int call_kept(peer_case *p, int algorithm, bench_line *line)
{
    const int count = p->bench->options.keep;
    peer_call call;
    int bad = 0;

    for (int i = 0; i < count && !bad; i++) {
        bad           = peer_end(p->device, &p->problem, algorithm, &p->kept[i], &call);
        p->seconds[i] = call.seconds;
    }
    line->times.kept = bench_span_of(p->seconds, count);
    for (int i = 0; i < count; i++)
        peer_result_free(&p->kept[i]);
    return bad;
}

/* ---- figures --------------------------------------------------------------------- */

static double ratio(double theirs, double ours)
{
    return ours > 0 ? theirs / ours : NAN;
}

static void summarize(const peer_case *p, bench_line *line)
{
    const bench *b        = p->bench;
    const int core        = strcmp(line->mode, "core") == 0;
    const double ours     = !core         ? b->best.end
                            : line->reuse ? b->best.reuse
                                          : b->best.kernels;
    const peer_call *last = &p->last;
    hybrid_report *r      = &line->report;

    line->ratio = ratio(line->times.calls.median, ours);
    if (core && !line->reuse)
        line->new_matrix_ratio = ratio(line->times.new_matrix.median, b->best.new_matrix);
    r->flops             = b->flops;
    r->nnz_out           = last->nnz_out;
    r->h2d_bytes         = last->bytes_up;
    r->d2h_bytes         = last->bytes_down;
    r->peak_device_bytes = last->device_bytes;
    if (last->prepare_s > 0)
        r->prepare_s = last->prepare_s;
    if (!core && b->reference_s > 0)
        r->reference_s = b->reference_s;
}

/* ---- verifying ------------------------------------------------------------------- */

static hybrid_status verify_result(peer_case *p, int64_t *row)
{
    bench *b                  = p->bench;
    const bench_problem *ours = &b->problem;
    const peer_result *r      = &p->result;
    const bench_options *o    = &b->options;
    const hybrid_csr *B       = bench_second(ours);
    const int64_t rows        = ours->A.rows;

    if (o->op == BENCH_SPGEMM) {
        const hybrid_csr C = {rows,       B->cols, r->nnz, HYBRID_I32,
                              r->row_ptr, r->col,  r->val, o->type};
        return hybrid_verify_spgemm(b->tools, &ours->A, B, &C, BENCH_TRIALS, SEED, row);
    }
    const int64_t ld     = p->X.order == HYBRID_ROW_MAJOR ? o->cols : rows;
    const hybrid_dense Y = {rows, o->cols, ld, p->X.order, r->val, o->type};
    return hybrid_verify_spmm(b->tools, &ours->A, &p->X, &Y, BENCH_TRIALS, SEED, row);
}

static void verify(peer_case *p, bench_line *line)
{
    int64_t row = -1;

    if (!p->bench->options.verify)
        return;
    line->verified = 0;
    if (verify_result(p, &row) != HYBRID_OK)
        snprintf(line->error, sizeof line->error, "%s",
                 hybrid_engine_message(p->bench->tools));
    else if (row >= 0)
        snprintf(line->error, sizeof line->error, "row %lld of the result is wrong",
                 (long long)row);
    else
        line->verified = 1;
}

/* ---- lines ----------------------------------------------------------------------- */

static void line_of(const peer_case *p, const char *name, int core, bench_line *line)
{
    bench_line_open(p->bench, line);
    line->peer  = "cusparse";
    line->mode  = core ? "core" : "end";
    line->reuse = strcmp(name, PEER_REUSE) == 0;
    if (line->order)
        line->order = p->problem.col_major ? "col" : "row";
    snprintf(line->variant, sizeof line->variant, "cusparse.%s", name);
    snprintf(line->backend, sizeof line->backend, "cuda");
    snprintf(line->device, sizeof line->device, "%s", peer_name(p->device));
}

static void time_algorithm(peer_case *p, int algorithm, const char *name, int core)
{
    bench_line line;

    line_of(p, name, core, &line);
    if (line.reuse && !core)
        return;
    int bad = core && peer_load(p->device, &p->problem);
    if (!bad) {
        bad = core ? call_core(p, algorithm, &line)
                   : call_freed(p, algorithm, &line) || call_kept(p, algorithm, &line);
        if (core)
            peer_unload(p->device);
    }
    if (bad) {
        line_of(p, name, core, &line); /* sets the line anew, without times of calls that
                                          succeeded */
        snprintf(line.error, sizeof line.error, "%s", peer_error(p->device));
    } else {
        summarize(p, &line);
        if (!core || line.reuse) /* in mode "core" only the reuse algorithm copies its
                                    result to the host */
            verify(p, &line);
    }
    bench_print(p->bench, &line);
}

static void time_order(bench *b, peer_device *device, hybrid_order order)
{
    peer_case p = {.bench = b, .device = device};
    const char *name;

    if (open_operands(&p, order)) {
        fprintf(stderr, "hybrid_spmm_bench: no memory for the operands of the peer\n");
    } else {
        for (int i = 0; (name = peer_algorithm(p.problem.op, i)); i++) {
            if (b->options.core)
                time_algorithm(&p, i, name, 1);
            if (b->options.end)
                time_algorithm(&p, i, name, 0);
        }
    }
    close_operands(&p);
}

void bench_peers(bench *b)
{
    const hybrid_csr *A = &b->problem.A;
    char error[BENCH_TEXT];

    const int64_t offsets = b->options.op == BENCH_SPGEMM ? b->nnz_out : 0;
    if (A->nnz > INT32_MAX || offsets > INT32_MAX) {
        printf("%-18s cuSPARSE skipped: %lld entries of A or %lld of C exceed its 32-bit "
               "offsets\n",
               b->problem.name, (long long)A->nnz, (long long)offsets);
        return;
    }
    peer_device *device = peer_open(error, sizeof error);
    if (!device) {
        printf("%-18s cuSPARSE skipped: %s\n", b->problem.name, error);
        return;
    }
    time_order(b, device, HYBRID_ROW_MAJOR);
    if (b->options.op == BENCH_SPMM)
        time_order(b, device, HYBRID_COL_MAJOR);
    peer_close(device);
}

#else

void bench_peers(bench *b)
{
    printf("%-18s cuSPARSE skipped: this program was built without CUDA\n",
           b->problem.name);
}

peer_hold *peer_hold_open(void)
{
    return NULL;
}

void peer_hold_close(peer_hold *hold)
{
    (void)hold;
}

int peer_hold_start(peer_hold *hold)
{
    (void)hold;
    return -1;
}

void peer_versions(char *text, size_t size)
{
    if (size > 0)
        *text = '\0';
}

#endif
