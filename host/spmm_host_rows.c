/* host/spmm_host_rows.c - Y = alpha*A*X + beta*Y on the CPU, row by row, in place.

   A row of Y is made in registers, up to twelve vectors of columns at a time, from the
   rows of X that the row of A names, in its order. Wider rows are made panel by panel,
   one row after the other: all panels of a row before the next row, because a part of
   each row of X, a power of two apart, would share few sets of the caches. Columns of X
   that lie apart are turned into rows first, some at a time (host/turn.h).

   The work of a chunk, its rows and entries together, is cut into pieces of equal size
   that workers draw. A cut may lie within a long row, but only between its segments: a
   row of 2 * SEGMENT entries or more is always summed as segments of SEGMENT entries, and
   their sums are added in order by whoever finishes the last of them. So every bit of Y
   depends on A, X and the instruction set alone, not on chunks, pieces or threads.

   A Y that is too large to stay in the caches with X is stored past them: it is not read
   before it is written, and does not displace X. Rows of X are fetched ahead only where
   rows of A name them far and wide. */
#include "base/variant.h"
#include "host/host_lane.h"

#include "base/csr.h"
#include "base/extremes.h"
#include "host/turn.h"
#include "host/vectors.h"

enum {
    PIECES_PER_WORKER = 16,
    PIECE_PRODUCTS    = 1 << 16,  /* at least: some 10 us */
    MOST              = 12,       /* vectors of columns that are made at once */
    SEGMENT           = 2048,     /* entries of a long row that are summed at once */
    AHEAD             = 6,        /* entries of A for which rows of X are fetched early */
    NEAR_BYTES        = 16 << 20, /* of X around a row of A: less is in a cache anyway */
    SAMPLES           = 64,       /* rows by which that is estimated */
    TURNED            = 128,      /* bytes of a row of columns that are turned at once */
    LOOK              = 1 << 14,  /* rows of A that are looked at at once */
    STREAM_SHARE      = 8 /* a Y of this part of the last-level cache is streamed */
};

/* Element (i, j) of X is at x[i * x_row + j], of Y at y[i * y_row + j * y_col], j counted
   within the chunk or the columns of it that are made. */
typedef struct product {
    const hybrid_csr *A;
    const void *x;
    void *y;
    int64_t x_row, y_row, y_col;
    int64_t n; /* columns */
    double alpha, beta;
    int64_t row_begin, row_end, pieces;
    int64_t ahead; /* entries of A before this one have one AHEAD of them */
    int stream;    /* Y goes past the caches */
    void *sums;    /* n values for each segment of the long rows, at its segment_id() */
    int64_t *done; /* of a long row, at its first segment: elements of `sums` made */
} product;

/* Where a piece begins or ends. */
typedef struct cut {
    int64_t row, segment; /* segment > 0: within a long row */
} cut;

typedef struct piece {
    cut begin, end;
} piece;

/* Segments of a row; the last takes what is left. */
static inline int64_t segments(int64_t entries)
{
    return entries < 2 * SEGMENT ? 1 : entries / SEGMENT;
}

/* Of the first segment of the long row that begins at entry k; the next ones follow. No
   two segments have the same, because segments have SEGMENT entries or more. */
static inline int64_t segment_id(const product *p, int64_t k)
{
    return (k - hy_offset(p->A, p->row_begin)) / SEGMENT;
}

#define T float
#define VEC f32x4
#define NAME(x) x##_f32x4
#define TARGET HY_PORTABLE
#define LANES 4
#include "host/spmm_host_rows.inc"
#undef VEC
#undef NAME
#undef TARGET
#undef LANES

#if HY_X86
#define VEC f32x8
#define NAME(x) x##_f32x8
#define TARGET HY_AVX2
#define LANES 8
#include "host/spmm_host_rows.inc"
#undef VEC
#undef NAME
#undef TARGET
#undef LANES

#define VEC f32x16
#define NAME(x) x##_f32x16
#define TARGET HY_AVX512
#define LANES 16
#include "host/spmm_host_rows.inc"
#undef VEC
#undef NAME
#undef TARGET
#undef LANES
#endif
#undef T

#define T double
#define VEC f64x2
#define NAME(x) x##_f64x2
#define TARGET HY_PORTABLE
#define LANES 2
#include "host/spmm_host_rows.inc"
#undef VEC
#undef NAME
#undef TARGET
#undef LANES

#if HY_X86
#define VEC f64x4
#define NAME(x) x##_f64x4
#define TARGET HY_AVX2
#define LANES 4
#include "host/spmm_host_rows.inc"
#undef VEC
#undef NAME
#undef TARGET
#undef LANES

#define VEC f64x8
#define NAME(x) x##_f64x8
#define TARGET HY_AVX512
#define LANES 8
#include "host/spmm_host_rows.inc"
#undef VEC
#undef NAME
#undef TARGET
#undef LANES
#endif
#undef T

/* ---- pieces ---------------------------------------------------------------------------
 */

/* The set for n columns: wide vectors of which little is used reach into the next cache
   line for nothing. One column uses none. */
static hy_target target_for(const product *p)
{
    const int64_t bytes  = p->n * (int64_t)hy_value_size(p->A->type);
    const hy_target most = p->n == 1 || bytes > 32 ? HY_TARGET_AVX512
                           : bytes == 16           ? HY_TARGET_PORTABLE
                                                   : HY_TARGET_AVX2;
    const hy_target best = hy_target_best();

    return best < most ? best : most;
}

static void make_piece(const product *p, const piece *w)
{
    const int f64 = p->A->type == HYBRID_F64;

    switch (target_for(p)) {
#if HY_X86
    case HY_TARGET_AVX512:
        (f64 ? product_f64x8 : product_f32x16)(p, w);
        return;
    case HY_TARGET_AVX2:
        (f64 ? product_f64x4 : product_f32x8)(p, w);
        return;
#endif
    default:
        (f64 ? product_f64x2 : product_f32x4)(p, w);
    }
}

/* Work before row i: its rows and entries. */
static int64_t work_before(const product *p, int64_t i)
{
    return hy_offset(p->A, i) - hy_offset(p->A, p->row_begin) + i - p->row_begin;
}

/* Begin of a piece: the first row, or segment of a long row, before which there is its
   share of the work, or nearly so. */
static cut find_cut(const product *p, int64_t k)
{
    const int64_t total = work_before(p, p->row_end);
    const int64_t share = total / p->pieces * k + total % p->pieces * k / p->pieces;
    int64_t low = p->row_begin, high = p->row_end;

    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (work_before(p, middle) < share)
            low = middle + 1;
        else
            high = middle;
    }
    if (low > p->row_begin && work_before(p, low) > share) {
        const int64_t all  = segments(hy_offset(p->A, low) - hy_offset(p->A, low - 1));
        const int64_t into = (share - work_before(p, low - 1)) / SEGMENT;
        if (all > 1 && into < all)
            return (cut){low - 1, into};
    }
    return (cut){low, 0};
}

static hybrid_status make_pieces(void *arg, int part, int64_t begin, int64_t end)
{
    const product *p = arg;
    const piece w    = {find_cut(p, begin), find_cut(p, end)};

    (void)part;
    make_piece(p, &w);
    return HYBRID_OK;
}

/* ---- the chunk ------------------------------------------------------------------------
 */

/* Enough for all workers to end together. */
static int64_t count_pieces(const product *p, int threads)
{
    const int64_t most    = threads == 1 ? 1 : (int64_t)threads * PIECES_PER_WORKER;
    const double products = (double)work_before(p, p->row_end) * (double)p->n;

    return products < (double)most * PIECE_PRODUCTS
               ? (int64_t)(products / PIECE_PRODUCTS) + 1
               : most;
}

/* Room for the sums of segments, if there are long rows. */
static hybrid_status find_room(hy_lane *lane, const hy_job *job, product *p)
{
    const int64_t entries = hy_offset(p->A, p->row_end) - hy_offset(p->A, p->row_begin);
    const size_t ids      = (size_t)(entries / SEGMENT + 1);
    size_t fresh;
    void *memory;

    if (segments(job->chunk->features.row_max) == 1)
        return HYBRID_OK;
    HY_TRY(hy_host_workspace(lane, HY_SCRATCH_SUMS,
                             ids * (8 + (size_t)p->n * hy_value_size(p->A->type)),
                             &memory, &fresh));
    p->done = memory;
    p->sums = p->done + ids;
    memset(p->done, 0, ids * 8);
    return HYBRID_OK;
}

/* Bytes of X from the first row that a row of A names to the last, on average. */
static double near_bytes(const product *p)
{
    const hybrid_csr *A = p->A;
    const int64_t step  = (p->row_end - p->row_begin) / SAMPLES + 1;
    double span = 0, count = 0;

    for (int64_t i = p->row_begin; i < p->row_end; i += step, count++) {
        const int64_t k = hy_offset(A, i), end = hy_offset(A, i + 1);
        if (k < end)
            span += (double)A->col[end - 1] - (double)A->col[k];
    }
    return span / count * (double)p->n * (double)hy_value_size(A->type);
}

/* Whether Y is to be stored past the caches: when it would take a good part of them. */
static int streams(const product *p, const hybrid_dense *Y, const hy_pool *pool)
{
    const double bytes =
        (double)Y->rows * (double)Y->cols * (double)hy_value_size(Y->type);

    return p->beta == 0 && p->y_col == 1 &&
           hy_target_streams(STREAM_SHARE * bytes,
                             hy_topology_llc_bytes(hy_pool_topology(pool)));
}

static product product_of(const hy_problem *problem, const hy_chunk *chunk)
{
    const hybrid_dense *X = problem->X, *Y = problem->Y;
    const int x_rows   = X->order == HYBRID_ROW_MAJOR;
    const int y_rows   = Y->order == HYBRID_ROW_MAJOR;
    const int64_t size = (int64_t)hy_value_size(problem->A->type);
    product p          = {.A         = problem->A,
                          .x_row     = x_rows ? X->ld : 1,
                          .y_row     = y_rows ? Y->ld : 1,
                          .y_col     = y_rows ? 1 : Y->ld,
                          .n         = chunk->col_end - chunk->col_begin,
                          .alpha     = problem->alpha,
                          .beta      = problem->beta,
                          .row_begin = chunk->row_begin,
                          .row_end   = chunk->row_end};

    p.x     = (const char *)X->data + chunk->col_begin * (x_rows ? 1 : X->ld) * size;
    p.y     = (char *)Y->data + chunk->col_begin * p.y_col * size;
    p.y_col = p.n == 1 ? 1 : p.y_col; /* one column lies side by side in any order */
    return p;
}

static hybrid_status make(hy_lane *lane, const hy_job *job, product *p)
{
    hy_pool *pool = lane->backend->ctx->pool;

    p->ahead  = near_bytes(p) < NEAR_BYTES ? 0 : hy_offset(p->A, p->row_end) - AHEAD;
    p->pieces = count_pieces(p, hy_pool_threads(pool));
    HY_TRY(find_room(lane, job, p));
    return hy_pool_for(pool, HY_COMPUTE, 0, p->pieces, 1, make_pieces, p);
}

/* The first and behind the last column of some rows of A. */
typedef struct extent {
    const hybrid_csr *A;
    int64_t first, end;
} extent;

static hybrid_status look_at(void *arg, int part, int64_t begin, int64_t end)
{
    extent *e     = arg;
    int64_t first = e->A->cols, last = -1;

    (void)part;
    for (int64_t i = begin; i < end; i++)
        if (hy_offset(e->A, i) < hy_offset(e->A, i + 1)) {
            first = hy_lesser(first, e->A->col[hy_offset(e->A, i)]);
            last  = hy_greater(last, e->A->col[hy_offset(e->A, i + 1) - 1]);
        }
    hy_lower_to(&e->first, first);
    hy_raise_to(&e->end, last + 1);
    return HYBRID_OK;
}

/* X in columns: those rows of X that the chunk needs are turned, up to a few columns of
   them at a time. */
static hybrid_status make_turned(hy_lane *lane, const hy_job *job, const product *all)
{
    const hybrid_dense *X = job->problem->X;
    hy_pool *pool         = lane->backend->ctx->pool;
    const int64_t size    = (int64_t)hy_value_size(X->type);
    const int64_t panels  = (all->n * size + TURNED - 1) / TURNED;
    const int64_t width   = (all->n + panels - 1) / panels;
    extent e              = {all->A, all->A->cols, 0};
    void *turned;
    size_t fresh;

    HY_TRY(
        hy_pool_for(pool, HY_COMPUTE, all->row_begin, all->row_end, LOOK, look_at, &e));
    const int64_t rows = e.end > e.first ? e.end - e.first : 0;
    HY_TRY(hy_host_workspace(lane, HY_SCRATCH_TURNED, (size_t)(rows * width * size + 1),
                             &turned, &fresh));
    for (int64_t at = 0; at < all->n; at += width) {
        product p = *all;
        p.n       = hy_lesser(width, all->n - at);
        p.x_row   = p.n;
        p.y       = (char *)all->y + at * all->y_col * size;
        HY_TRY(hy_turn_to_rows(pool, X->type,
                               (const char *)all->x + (at * X->ld + e.first) * size,
                               X->ld, rows, p.n, turned));
        /* row 0, which may lie before what was turned */
        p.x = (const void *)((uintptr_t)turned - (uintptr_t)(e.first * p.n * size));
        HY_TRY(make(lane, job, &p));
    }
    return HYBRID_OK;
}

static hybrid_status run(hy_lane *lane, void *arg)
{
    const hy_job *job     = arg;
    const hybrid_dense *X = job->problem->X;
    product p             = product_of(job->problem, job->chunk);

    if (p.row_begin == p.row_end || p.n == 0)
        return HYBRID_OK;
    if (X->order == HYBRID_COL_MAJOR && p.n > 1)
        return make_turned(lane, job, &p);
    p.stream = streams(&p, job->problem->Y, lane->backend->ctx->pool);
    return make(lane, job, &p);
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
