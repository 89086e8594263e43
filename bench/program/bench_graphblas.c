/* bench/program/bench_graphblas.c - times SuiteSparse:GraphBLAS on the operands of our
   products.

   Its matrices are made before the clock starts. So is Y, because GraphBLAS adds to it.
   SpGEMM: C = A*A into a new matrix, sorted by column, with no work left pending. SpMM: Y
   += A*X, both full and held by row. */
#include "bench/program/bench.h"

#if BENCH_WITH_GRAPHBLAS

#include <GraphBLAS.h>
#include <limits.h>
#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 7 };

/* State of timing GraphBLAS on one problem. */
typedef struct graph_case {
    bench *bench;
    GrB_Type type;
    GrB_Semiring semiring;
    GrB_BinaryOp plus;
    GrB_Descriptor sorted;
    GrB_Matrix A, B, X, out; /* B: NULL if it is A; out: C or Y of the last call */
    GrB_Matrix *kept;   /* results that are kept, without the latest, which is `out` */
    hybrid_dense dense; /* X as a hybrid_dense, for verification */
    double *seconds;    /* array of the seconds of each timed call */
} graph_case;

/* Returns from the calling function with the status of the call if the call fails. */
#define TRY(call)                                                                        \
    do {                                                                                 \
        const GrB_Info info_ = (call);                                                   \
        if (info_ != GrB_SUCCESS)                                                        \
            return info_;                                                                \
    } while (0)

/* ---- operands -------------------------------------------------------------------- */

static GrB_Info import_csr(const graph_case *g, const hybrid_csr *m, GrB_Matrix *out)
{
    const GrB_Index rows = (GrB_Index)m->rows, nnz = (GrB_Index)m->nnz;
    const int64_t *from = m->row_ptr;
    const int32_t *cols = m->col;
    GrB_Index *row_ptr  = malloc((rows + 1) * sizeof *row_ptr);
    GrB_Index *col      = malloc((nnz + 1) * sizeof *col);
    GrB_Info info       = GrB_OUT_OF_MEMORY;

    if (row_ptr && col) {
        for (GrB_Index i = 0; i <= rows; i++)
            row_ptr[i] = (GrB_Index)from[i];
        for (GrB_Index k = 0; k < nnz; k++)
            col[k] = (GrB_Index)cols[k];
        info =
            m->type == HYBRID_F64
                ? GrB_Matrix_import_FP64(out, g->type, rows, (GrB_Index)m->cols, row_ptr,
                                         col, m->val, rows + 1, nnz, nnz, GrB_CSR_FORMAT)
                : GrB_Matrix_import_FP32(out, g->type, rows, (GrB_Index)m->cols, row_ptr,
                                         col, m->val, rows + 1, nnz, nnz, GrB_CSR_FORMAT);
    }
    free(row_ptr);
    free(col);
    return info;
}

/* Makes a full matrix with a copy of `from`, or of zeros if `from` is NULL. All pages of
   its memory are present. */
static GrB_Info make_full(const graph_case *g, int64_t rows, int64_t cols,
                          const void *from, GrB_Matrix *out)
{
    const size_t size  = g->bench->options.type == HYBRID_F64 ? 8 : 4;
    const size_t bytes = (size_t)rows * (size_t)cols * size;
    void *values       = malloc(bytes + 1);

    if (!values)
        return GrB_OUT_OF_MEMORY;
    if (from)
        memcpy(values, from, bytes);
    else
        memset(values, 0, bytes);
    GrB_Info info = GrB_Matrix_new(out, g->type, (GrB_Index)rows, (GrB_Index)cols);
    if (info == GrB_SUCCESS)
        info = GxB_Matrix_pack_FullR(*out, &values, bytes, false, NULL);
    free(values); /* GxB_Matrix_pack_FullR() has set `values` to NULL if the array now
                     belongs to the matrix */
    return info;
}

static GrB_Info open_operands(graph_case *g)
{
    bench *b               = g->bench;
    const bench_options *o = &b->options;
    const int f64          = o->type == HYBRID_F64;

    g->type     = f64 ? GrB_FP64 : GrB_FP32;
    g->plus     = f64 ? GrB_PLUS_FP64 : GrB_PLUS_FP32;
    g->semiring = f64 ? GrB_PLUS_TIMES_SEMIRING_FP64 : GrB_PLUS_TIMES_SEMIRING_FP32;
    g->seconds  = calloc((size_t)(o->reps + o->keep), sizeof *g->seconds);
    g->kept     = calloc((size_t)o->keep + 1, sizeof(GrB_Matrix));
    if (!g->seconds || !g->kept)
        return GrB_OUT_OF_MEMORY;
    TRY(GxB_Global_Option_set(GxB_GLOBAL_NTHREADS, b->threads));
    TRY(GrB_Descriptor_new(&g->sorted));
    TRY(GxB_Desc_set(g->sorted, GxB_SORT, 1));
    TRY(import_csr(g, &b->problem.A, &g->A));
    if (o->op == BENCH_SPGEMM)
        return b->problem.T.row_ptr ? import_csr(g, &b->problem.T, &g->B) : GrB_SUCCESS;
    if (bench_dense_make(b->tools, b->problem.A.cols, o->cols, HYBRID_ROW_MAJOR, o->type,
                         1, 0, &g->dense))
        return GrB_OUT_OF_MEMORY;
    return make_full(g, g->dense.rows, g->dense.cols, g->dense.data, &g->X);
}

static void close_operands(graph_case *g)
{
    GrB_Matrix_free(&g->A);
    GrB_Matrix_free(&g->B);
    GrB_Matrix_free(&g->X);
    GrB_Matrix_free(&g->out);
    GrB_Descriptor_free(&g->sorted);
    bench_dense_free(&g->dense);
    free(g->seconds);
    free(g->kept);
}

/* ---- calls ----------------------------------------------------------------------- */

static GrB_Info spgemm(graph_case *g)
{
    const bench_problem *p = &g->bench->problem;

    TRY(GrB_Matrix_new(&g->out, g->type, (GrB_Index)p->A.rows,
                       (GrB_Index)bench_second(p)->cols));
    TRY(GrB_mxm(g->out, NULL, NULL, g->semiring, g->A, g->B ? g->B : g->A, g->sorted));
    return GrB_Matrix_wait(g->out, GrB_MATERIALIZE);
}

static GrB_Info spmm(graph_case *g)
{
    TRY(GrB_mxm(g->out, NULL, g->plus, g->semiring, g->A, g->X, NULL));
    return GrB_Matrix_wait(g->out, GrB_MATERIALIZE);
}

static GrB_Info call(graph_case *g, double *seconds)
{
    const bench_options *o = &g->bench->options;

    if (o->op != BENCH_SPGEMM)
        TRY(make_full(g, g->bench->problem.A.rows, o->cols, NULL, &g->out));
    const double begin = bench_now();
    TRY(o->op == BENCH_SPGEMM ? spgemm(g) : spmm(g));
    *seconds = bench_now() - begin;
    return GrB_SUCCESS;
}

static GrB_Info call_freed(graph_case *g, double *seconds)
{
    TRY(GrB_Matrix_free(&g->out));
    return call(g, seconds);
}

/* Times `count` calls whose results are all kept, so that each has pages of its own. A
   call more is made first and its time is overwritten, because it may reuse the pages of
   a result that was freed. */
static GrB_Info call_kept(graph_case *g, int count, double *seconds)
{
    GrB_Info info = GrB_SUCCESS;

    for (int i = 0; i <= count && info == GrB_SUCCESS; i++) {
        g->kept[i] = g->out;
        g->out     = NULL;
        info       = call(g, &seconds[i > 0 ? i - 1 : 0]);
    }
    for (int i = 0; i <= count; i++)
        GrB_Matrix_free(&g->kept[i]);
    return info;
}

static GrB_Info call_all(graph_case *g, bench_line *line)
{
    const bench *b = g->bench;
    const int reps = b->options.reps, keep = b->options.keep;
    double *seconds = g->seconds;

    TRY(call_freed(g, &line->times.first));
    for (int i = 0; i < b->options.warmup; i++)
        TRY(call_freed(g, seconds));
    for (int i = 0; i < reps; i++)
        TRY(call_freed(g, &seconds[i]));
    if (keep > 0)
        TRY(call_kept(g, keep, seconds + reps));
    line->times.calls  = bench_span_of(seconds, reps);
    line->times.kept   = bench_span_of(seconds + reps, keep);
    line->ratio        = b->best.end > 0 ? line->times.calls.median / b->best.end : NAN;
    line->report.flops = b->flops;
    if (b->reference_s > 0)
        line->report.reference_s = b->reference_s;
    return GrB_SUCCESS;
}

/* ---- verifying ------------------------------------------------------------------- */

static int32_t *narrow(const GrB_Index *col, int64_t nnz)
{
    int32_t *to = malloc(((size_t)nnz + 1) * sizeof *to);

    for (int64_t k = 0; to && k < nnz; k++)
        to[k] = (int32_t)col[k];
    return to;
}

/* Verifies that C is sorted and right. Takes the arrays out of g->out and frees them. */
static hybrid_status check_csr(graph_case *g, int64_t *row)
{
    const bench *b      = g->bench;
    const hybrid_csr *A = &b->problem.A, *B = bench_second(&b->problem);
    GrB_Index *row_ptr = NULL, *col = NULL, p_size, c_size, v_size;
    void *val = NULL;
    bool iso = false, jumbled = true;
    hybrid_status status = HYBRID_NO_MEMORY;

    if (GxB_Matrix_unpack_CSR(g->out, &row_ptr, &col, &val, &p_size, &c_size, &v_size,
                              &iso, &jumbled, NULL) != GrB_SUCCESS)
        return HYBRID_BAD_STATE;
    const int64_t nnz = (int64_t)row_ptr[A->rows];
    int32_t *narrowed = narrow(col, nnz);
    if (jumbled || iso)
        status = HYBRID_BAD_STATE;
    else if (narrowed) {
        const hybrid_csr C = {A->rows, B->cols,  nnz, HYBRID_I64,
                              row_ptr, narrowed, val, b->options.type};
        status = hybrid_verify_spgemm(b->tools, A, B, &C, BENCH_TRIALS, SEED, row);
    }
    free(narrowed);
    free(row_ptr);
    free(col);
    free(val);
    return status;
}

static hybrid_status check_full(graph_case *g, int64_t *row)
{
    const bench *b      = g->bench;
    const hybrid_csr *A = &b->problem.A;
    void *values        = NULL;
    GrB_Index size;
    bool iso = false;

    if (GxB_Matrix_unpack_FullR(g->out, &values, &size, &iso, NULL) != GrB_SUCCESS ||
        iso) {
        free(values);
        return HYBRID_BAD_STATE;
    }
    const hybrid_dense Y = {A->rows,          g->dense.cols, g->dense.cols,
                            HYBRID_ROW_MAJOR, values,        b->options.type};
    const hybrid_status status =
        hybrid_verify_spmm(b->tools, A, &g->dense, &Y, BENCH_TRIALS, SEED, row);
    free(values);
    return status;
}

static void verify(graph_case *g, bench_line *line)
{
    int64_t row = -1;

    if (!g->bench->options.verify)
        return;
    const hybrid_status status =
        g->bench->options.op == BENCH_SPGEMM ? check_csr(g, &row) : check_full(g, &row);
    line->verified = status == HYBRID_OK && row < 0;
    if (row >= 0)
        snprintf(line->error, sizeof line->error, "row %lld of the result is wrong",
                 (long long)row);
    else if (status != HYBRID_OK)
        snprintf(line->error, sizeof line->error,
                 "the result is not sorted, or there is no memory to check it");
}

/* ---- lines ----------------------------------------------------------------------- */

/* Starts GraphBLAS. Tells malloc to keep freed memory, so that results find present
   pages, as those of the library do. */
static GrB_Info start(bench *b)
{
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    const GrB_Info info = GrB_init(GrB_NONBLOCKING);
    b->graphblas        = info == GrB_SUCCESS;
    return info;
}

void bench_graphblas_versions(char *text, size_t size)
{
    snprintf(text, size, ", SuiteSparse:GraphBLAS %d.%d.%d", GxB_IMPLEMENTATION_MAJOR,
             GxB_IMPLEMENTATION_MINOR, GxB_IMPLEMENTATION_SUB);
}

void bench_graphblas(bench *b)
{
    graph_case g = {.bench = b};
    bench_line line;

    if (!b->options.end)
        return;
    bench_line_open(b, &line);
    line.peer = "graphblas";
    line.mode = "end";
    if (line.order)
        line.order = "row";
    snprintf(line.variant, sizeof line.variant, "graphblas.%d.%d.mxm",
             GxB_IMPLEMENTATION_MAJOR, GxB_IMPLEMENTATION_MINOR);
    snprintf(line.backend, sizeof line.backend, "host");
    snprintf(line.device, sizeof line.device, "%s", b->cpu);
    GrB_Info info = b->graphblas ? GrB_SUCCESS : start(b);
    if (info == GrB_SUCCESS)
        info = open_operands(&g);
    if (info == GrB_SUCCESS)
        info = call_all(&g, &line);
    if (info == GrB_SUCCESS)
        verify(&g, &line);
    else
        snprintf(line.error, sizeof line.error, "GraphBLAS failed with code %d",
                 (int)info);
    close_operands(&g);
    bench_print(b, &line);
}

void bench_graphblas_close(const bench *b)
{
    if (b->graphblas)
        GrB_finalize();
}

#else

void bench_graphblas(bench *b)
{
    printf("%-18s GraphBLAS skipped: it was not found when this program was built\n",
           b->problem.name);
}

void bench_graphblas_versions(char *text, size_t size)
{
    if (size > 0)
        *text = '\0';
}

void bench_graphblas_close(const bench *b)
{
    (void)b;
}

#endif
