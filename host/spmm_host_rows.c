/* host/spmm_host_rows.c - Y = alpha*A*X + beta*Y on the CPU, row by row, in place.

   A row of Y is made in registers, up to eight vectors of columns at a time, from the
   rows of X that the row of A names, in its order. Pieces of the chunk have about equal
   numbers of entries, so long rows do not keep the other workers waiting. */
#include "base/variant.h"
#include "host/host_lane.h"

#include "base/csr.h"
#include "host/target.h"

enum { PIECES_PER_WORKER = 16 };
enum { AHEAD = 6 }; /* entries of A for which rows of X are fetched early */

/* Element (i, j) of X is at x[i * x_row + j * x_col], j counted within the chunk; Y
   likewise. */
typedef struct product {
    const hybrid_csr *A;
    const void *x;
    void *y;
    int64_t x_row, x_col, y_row, y_col;
    int64_t n; /* columns */
    double alpha, beta;
    int64_t row_begin, row_end, pieces;
} product;

#define T float
#define NAME(x) x##_f32
#define TARGET HY_PORTABLE
#define LANES 4
#define MADD(a, x, sum) ((sum) + (a) * (x))
#include "host/spmm_host_rows.inc"
#undef NAME
#undef TARGET
#undef LANES
#undef MADD

#if HY_X86
#define NAME(x) x##_f32_avx2
#define TARGET HY_AVX2
#define LANES 8
#define MADD(a, x, sum) _mm256_fmadd_ps(a, x, sum)
#include "host/spmm_host_rows.inc"
#undef NAME
#undef TARGET
#undef LANES
#undef MADD

#define NAME(x) x##_f32_avx512
#define TARGET HY_AVX512
#define LANES 16
#define MADD(a, x, sum) _mm512_fmadd_ps(a, x, sum)
#include "host/spmm_host_rows.inc"
#undef NAME
#undef TARGET
#undef LANES
#undef MADD
#endif
#undef T

#define T double
#define NAME(x) x##_f64
#define TARGET HY_PORTABLE
#define LANES 2
#define MADD(a, x, sum) ((sum) + (a) * (x))
#include "host/spmm_host_rows.inc"
#undef NAME
#undef TARGET
#undef LANES
#undef MADD

#if HY_X86
#define NAME(x) x##_f64_avx2
#define TARGET HY_AVX2
#define LANES 4
#define MADD(a, x, sum) _mm256_fmadd_pd(a, x, sum)
#include "host/spmm_host_rows.inc"
#undef NAME
#undef TARGET
#undef LANES
#undef MADD

#define NAME(x) x##_f64_avx512
#define TARGET HY_AVX512
#define LANES 8
#define MADD(a, x, sum) _mm512_fmadd_pd(a, x, sum)
#include "host/spmm_host_rows.inc"
#undef NAME
#undef TARGET
#undef LANES
#undef MADD
#endif
#undef T

/* ---- pieces ---------------------------------------------------------------------------
 */

static void make_rows(const product *p, int64_t begin, int64_t end)
{
    const int f64 = p->A->type == HYBRID_F64;

#if HY_X86
    if (hy_target_best() >= HY_TARGET_AVX512) {
        (f64 ? rows_f64_avx512 : rows_f32_avx512)(p, begin, end);
        return;
    }
    if (hy_target_best() >= HY_TARGET_AVX2) {
        (f64 ? rows_f64_avx2 : rows_f32_avx2)(p, begin, end);
        return;
    }
#endif
    (f64 ? rows_f64 : rows_f32)(p, begin, end);
}

/* First row of a piece: the first whose entries and rows before it reach the share. */
static int64_t piece_begin(const product *p, int64_t piece)
{
    const int64_t e0    = hy_offset(p->A, p->row_begin);
    const int64_t total = hy_offset(p->A, p->row_end) - e0 + p->row_end - p->row_begin;
    const int64_t work  = total / p->pieces * piece;
    int64_t low = p->row_begin, high = p->row_end;

    if (piece == p->pieces)
        return p->row_end;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (hy_offset(p->A, middle) - e0 + middle - p->row_begin < work)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static hybrid_status make_pieces(void *arg, int part, int64_t begin, int64_t end)
{
    const product *p = arg;

    (void)part;
    make_rows(p, piece_begin(p, begin), piece_begin(p, end));
    return HYBRID_OK;
}

static hybrid_status run(hy_lane *lane, void *arg)
{
    const hy_job *job         = arg;
    const hy_problem *problem = job->problem;
    const hy_chunk *chunk     = job->chunk;
    const hybrid_dense *X = problem->X, *Y = problem->Y;
    hy_pool *pool      = lane->backend->ctx->pool;
    const int threads  = hy_pool_threads(pool);
    const int64_t size = (int64_t)hy_value_size(problem->A->type);
    const int64_t rows = chunk->row_end - chunk->row_begin;
    product p          = {.A         = problem->A,
                          .n         = chunk->col_end - chunk->col_begin,
                          .alpha     = problem->alpha,
                          .beta      = problem->beta,
                          .row_begin = chunk->row_begin,
                          .row_end   = chunk->row_end};

    p.x_row  = X->order == HYBRID_ROW_MAJOR ? X->ld : 1;
    p.x_col  = X->order == HYBRID_ROW_MAJOR ? 1 : X->ld;
    p.y_row  = Y->order == HYBRID_ROW_MAJOR ? Y->ld : 1;
    p.y_col  = Y->order == HYBRID_ROW_MAJOR ? 1 : Y->ld;
    p.x      = (const char *)X->data + chunk->col_begin * p.x_col * size;
    p.y      = (char *)Y->data + chunk->col_begin * p.y_col * size;
    p.pieces = threads == 1 ? 1 : (int64_t)threads * PIECES_PER_WORKER;
    p.pieces = p.pieces < rows ? p.pieces : rows;
    if (rows == 0 || p.n == 0)
        return HYBRID_OK;
    return hy_pool_for(pool, HY_COMPUTE, 0, p.pieces, 1, make_pieces, &p);
}

/* ---- the variant
 * ------------------------------------------------------------------------ */

static const char *refuse(const hy_features *f, const hy_rates *r)
{
    (void)f, (void)r;
    return NULL;
}

static hy_cost cost(const hy_features *f, const hy_rates *r)
{
    const double size = f->type == HYBRID_F64 ? 8 : 4;
    const double nnz = (double)f->nnz, n = (double)f->out_cols;
    const double a_bytes = nnz * (4 + size) + (double)f->rows * 8;
    const double y_bytes = (double)f->rows * n * size;
    const double x_bytes = nnz * n * size; /* if no row of X is found in a cache */
    const double x_once  = (double)f->cols * n * size;
    const double x_seen  = x_bytes < x_once ? x_bytes : x_once + (x_bytes - x_once) / 4;
    const double bytes   = a_bytes + y_bytes + x_seen;
    const double compute = 2 * nnz * n / r->flops;
    hy_cost c            = {0};

    c.multiply_s =
        r->launch_s + (bytes / r->mem_Bps > compute ? bytes / r->mem_Bps : compute);
    return c;
}

static hybrid_status multiply(hy_lane *lane, hy_job *job)
{
    return hy_host_enqueue(lane, run, job);
}

const hy_variant hy_spmm_host_rows = {
    .name     = "spmm.host.rows",
    .summary  = "rows of Y in vector registers, A and X as they are",
    .source   = "Gustavson 1978, row by row",
    .op       = HY_SPMM,
    .in_place = 1,
    .refuse   = refuse,
    .cost     = cost,
    .multiply = multiply,
};
