/* host/spmm/spmm_host_rows.c - Y = alpha*A*X + beta*Y on the CPU, row by row. */
#include <math.h>
#include <string.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/threads/pool.h"
#include "host/spmm/spmm_host.h"

enum {
    PIECES_PER_WORKER = 16,
    MOST_PIECES       = 4096,
    PIECE_WORK        = 1 << 15, /* minimum work of a piece, in scalar products; one
                                    worker takes about 2 us for it */
    FINE = 4,                    /* one worker is woken for every FINE pieces */
    FEW  = 10,                   /* if no worker polls for work, the caller alone computes
                                    a product of at most FEW pieces */
    ENTRY_WORK = 16,             /* work of a row, and of an entry, besides its scalar
                                    products; the unit is one scalar product */
    NEAR_BYTES = 1 << 20, /* if the entries of a row of A span fewer bytes of X than this,
                             on average over sampled rows, X is not fetched into the cache
                             in advance: a core's caches hold it */
    FAR_BYTES = 16 << 20, /* if the entries of a row of A span at least this many bytes of
                             X, on average over sampled rows, X is always fetched into the
                             cache in advance: a core's caches cannot hold it */
    NEIGHBOURS = 4,       /* an entry of A finds its row of X in the cache if the row of
                             A before has an entry within this many columns */
    SAMPLES      = 64,    /* target for the number of rows of A that are sampled */
    EXAMINED     = 8,     /* maximum entries of each sampled row that are examined */
    STREAM_SHARE = 8,     /* a Y larger than 1/STREAM_SHARE of the last-level cache is
                             stored past the caches */
    STREAM_WORKERS = 8    /* Y is stored past the caches only by at least this many
                             workers; 8 workers saturate memory */
};

/* A product that workers compute, and which of its pieces have been begun. */
typedef struct shares {
    const hy_dense_product *product;
    hy_progress *progress;
    int threads;
    uint64_t begun[MOST_PIECES / 64]; /* a bit for each piece, set once a thread has begun
                                         it; atomic */
} shares;

/* Returns the first piece from `from` on that is not begun; INT64_MAX if there is
   none. */
static int64_t first_left(const shares *s, int64_t from)
{
    for (int64_t word = from / 64; word < MOST_PIECES / 64; word++) {
        const uint64_t left =
            ~__atomic_load_n(&s->begun[word], __ATOMIC_RELAXED) &
            (word == from / 64 ? ~(uint64_t)0 << from % 64 : ~(uint64_t)0);
        if (left)
            return 64 * word + __builtin_ctzll(left);
    }
    return INT64_MAX;
}

/* Begins a piece and returns its number: one of worker number `part`'s share, or of the
   shares after it. There is a piece to begin, because this is called once for each
   piece. */
static int64_t begin_piece(shares *s, int part)
{
    const int64_t pieces = s->product->pieces;
    int64_t piece        = pieces * part / s->threads;

    for (;;) {
        piece = first_left(s, piece);
        if (piece >= pieces) {
            piece = 0;
            continue;
        }
        const uint64_t bit = (uint64_t)1 << piece % 64;
        if (!(__atomic_fetch_or(&s->begun[piece / 64], bit, __ATOMIC_RELAXED) & bit))
            return piece;
    }
}

/* Computes end - begin pieces of the product. Each worker begins with its share of the
   rows, which is the same in each run, so that the worker's caches may still hold its
   part of A and Y. */
static hybrid_status make_pieces(void *arg, int part, int64_t begin, int64_t end)
{
    shares *s = arg;

    for (; begin < end; begin++) {
        const int64_t piece = begin_piece(s, part);
        HY_TRY(hy_dense_product_make_piece(s->product, s->progress, piece));
    }
    return HYBRID_OK;
}

/* Returns the number of pieces: enough for all workers to end at about the same time, but
   none with less work than PIECE_WORK. */
static int64_t count_pieces(const hy_dense_product *p, int threads)
{
    const int64_t most =
        threads == 1 ? 1 : hy_min((int64_t)threads * PIECES_PER_WORKER, MOST_PIECES);
    const double work =
        (double)hy_work_before(p, p->row_end) * (double)(p->n + ENTRY_WORK);

    return work < (double)most * PIECE_WORK ? (int64_t)(work / PIECE_WORK) + 1 : most;
}

/* Takes memory for the sums of segments, if there may be long rows (2 * HY_SEGMENT
   entries or more). */
static hybrid_status find_room(hy_lane *lane, const hy_job *job, hy_dense_product *p)
{
    const int64_t entries = hy_offset(p->A, p->row_end) - hy_offset(p->A, p->row_begin);
    const size_t ids      = (size_t)(entries / HY_SEGMENT + 1);
    size_t fresh;
    void *memory;

    const int64_t longest = job->chunk->features.row_max;
    /* if row_max is 0, the longest row is unknown, and may have all entries */
    if (hy_segments(longest > 0 ? longest : entries) == 1)
        return HYBRID_OK;
    HY_TRY(hy_host_workspace(lane, HY_SCRATCH_SUMS,
                             ids * (8 + (size_t)p->n * hy_value_size(p->A->type)),
                             &memory, &fresh));
    p->done = memory;
    p->sums = p->done + ids;
    memset(p->done, 0, ids * 8);
    return HYBRID_OK;
}

/* Returns the mean number of bytes of X between the first and the last row of X that a
   sampled row of A names. A row of less than EXAMINED entries is sampled together with
   the entries that follow it. */
static double near_bytes(const hy_dense_product *p)
{
    const hybrid_csr *A = p->A;
    const int64_t step  = (p->row_end - p->row_begin) / SAMPLES + 1;
    const int64_t last  = hy_offset(A, p->row_end);
    double span = 0, count = 0;

    for (int64_t i = p->row_begin; i < p->row_end; i += step, count++) {
        const int64_t begin = hy_offset(A, i), short_end = hy_min(last, begin + EXAMINED);
        int64_t low = INT64_MAX, high = 0;
        for (int64_t k = begin; k < short_end; k++) {
            low  = hy_min(low, hy_cols(A)[k]);
            high = hy_max(high, hy_cols(A)[k]);
        }
        if (hy_offset(A, i + 1) > short_end)
            high = hy_max(high, hy_cols(A)[hy_offset(A, i + 1) - 1]);
        span += (double)hy_max(0, high - low);
    }
    return span / count * (double)p->n * (double)hy_value_size(A->type);
}

/* Returns how many of the first EXAMINED entries of row i > 0 are alone, less the number
   of those that are not. An entry is alone if no entry of the row before lies within
   NEIGHBOURS columns. */
static int64_t count_alone(const hybrid_csr *A, int64_t i)
{
    const int64_t begin = hy_offset(A, i);
    const int64_t end   = hy_min(hy_offset(A, i + 1), begin + EXAMINED);
    int64_t k = hy_offset(A, i - 1), count = 0;
    const int64_t last = hy_min(begin, k + 2 * EXAMINED);

    for (int64_t j = begin; j < end; j++) {
        const int64_t col = hy_cols(A)[j];
        while (k < last && hy_cols(A)[k] < col - NEIGHBOURS)
            k++;
        count += k == last || hy_cols(A)[k] > col + NEIGHBOURS ? 1 : -1;
    }
    return count;
}

/* Returns 1 if most of the examined entries of sampled rows of A are alone
   (count_alone()). */
static int scattered(const hy_dense_product *p)
{
    const int64_t step = (p->row_end - p->row_begin) / SAMPLES + 1;
    int64_t count      = 0;

    for (int64_t i = p->row_begin + 1; i < p->row_end; i += step)
        count += count_alone(p->A, i);
    return count > 0;
}

/* Returns 1 if rows of X are to be fetched into the cache some entries before they are
   used. Returns 0 for a single column, and if a core's caches hold the rows anyway. */
static int prefetches_x(const hy_dense_product *p)
{
    const double bytes = p->single ? 0 : near_bytes(p);

    return bytes >= FAR_BYTES || (bytes >= NEAR_BYTES && scattered(p));
}

/* Returns 1 if Y is to be stored past the caches. That saves reading Y, but makes a
   worker wait for memory. Measured times of the product, relative to ordinary stores:

       16 workers, cache of 300 MB   0.84 for a Y of 72 MB and for a Y of 262 MB
       2 workers, cache of 32 MB     1.1 to 1.3 for a Y of 4 to 9 MB, 1.3 for 86 MB

   Machines between these two were not measured. */
static int streams(const hy_dense_product *p, const hybrid_dense *Y, const hy_pool *pool)
{
    const double bytes =
        (double)Y->rows * (double)Y->cols * (double)hy_value_size(Y->type);
    const size_t cache = hy_pool_threads(pool) < STREAM_WORKERS
                             ? 0
                             : hy_topology_llc_bytes(hy_pool_topology(pool));

    return p->beta == 0 && hy_target_streams(STREAM_SHARE * bytes, cache);
}

/* Returns the instruction set for n columns. A wide vector of which few elements are used
   would reach into the next cache line. A single column is computed without wide vectors,
   so this does not happen. */
static hy_target target_for(int64_t n, hybrid_type type)
{
    const int64_t bytes  = n * (int64_t)hy_value_size(type);
    const hy_target most = n == 1 || bytes > 32 ? HY_TARGET_AVX512
                           : bytes == 16        ? HY_TARGET_PORTABLE
                                                : HY_TARGET_AVX2;
    const hy_target best = hy_target_best();

    return best < most ? best : most;
}

static hy_dense_product product_of(const hy_problem *problem, const hy_chunk *chunk)
{
    const hybrid_dense *X = problem->X, *Y = problem->Y;
    const int x_rows   = X->order == HYBRID_ROW_MAJOR;
    const int y_rows   = Y->order == HYBRID_ROW_MAJOR;
    const int64_t size = (int64_t)hy_value_size(problem->A->type);
    hy_dense_product p = {.A         = problem->A,
                          .x_row     = x_rows ? X->ld : 1,
                          .y_row     = y_rows ? Y->ld : 1,
                          .y_col     = y_rows ? 1 : Y->ld,
                          .n         = chunk->col_end - chunk->col_begin,
                          .alpha     = problem->alpha,
                          .beta      = problem->beta,
                          .row_begin = chunk->row_begin,
                          .row_end   = chunk->row_end};

    p.x      = (const char *)X->data + chunk->col_begin * (x_rows ? 1 : X->ld) * size;
    p.y      = (char *)Y->data + chunk->col_begin * p.y_col * size;
    p.single = p.n == 1;
    p.target = target_for(p.n, p.A->type);
    p.y_col  = p.single ? 1 : p.y_col; /* the elements of a single column are stored
                                          without gaps */
    return p;
}

hybrid_status hy_dense_product_make(hy_lane *lane, const hy_job *job, hy_dense_product *p)
{
    hy_pool *pool = lane->backend->ctx->pool;

    p->prefetch_end =
        prefetches_x(p) ? hy_offset(p->A, p->row_end) - HY_PREFETCH_DISTANCE : 0;
    p->pieces = count_pieces(p, hy_pool_threads(pool));
    HY_TRY(find_room(lane, job, p));

    shares all      = {.product  = p,
                       .progress = &lane->backend->ctx->progress,
                       .threads  = hy_pool_threads(pool)};
    const int alone = p->pieces <= FEW && !hy_pool_goes_on(pool);
    return hy_pool_for_fine(pool, HY_COMPUTE, 0, p->pieces, 1, alone ? FEW : FINE,
                            make_pieces, &all);
}

static hybrid_status run(hy_lane *lane, void *arg)
{
    const hy_job *job     = arg;
    const hybrid_dense *X = job->problem->X;
    hy_dense_product p    = product_of(job->problem, job->chunk);

    if (p.row_begin == p.row_end || p.n == 0)
        return HYBRID_OK;
    p.stream = streams(&p, job->problem->Y, lane->backend->ctx->pool);
    if (X->order == HYBRID_COL_MAJOR && !p.single)
        return hy_dense_product_transposed(lane, job, &p);
    return hy_dense_product_make(lane, job, &p);
}

/* ---- the variant ------------------------------------------------------------------- */

static const char *refuse(const hy_features *f, const hy_rates *r)
{
    (void)f, (void)r;
    return NULL;
}

/* Operations of a core, as hy_rates.flops counts them:

       SINGLE_ROW, SINGLE_ENTRY   one column: for a row, and for an entry
       ROW, Y_ELEMENT, ENTRY      more columns: for a row, an element of Y, and an entry;
                                  ENTRY is for a row of X of at most WIDE bytes, and grows
                                  in proportion beyond that

   All constants of the model are fitted, in logarithms, to every second matrix of a
   collection of 43, with 1, 8 and 64 columns, on 16 cores
   (docs/lab/planning-in-proportion.md). */
static const double SINGLE_ROW = 130, SINGLE_ENTRY = 21;
static const double ROW = 82, Y_ELEMENT = 12.2, ENTRY = 35, WIDE = 256;

/* Operations that fetching X takes. An X of FIRST bytes is half in a core's first cache.

     LINE_NEAR   for a cache line from a core's second cache
     LINE_FAR    for a line from beyond that cache, if X is REACH times as large or more
     ROW_FAR     for a row, if X has more bytes than PAGES, for which a core keeps
                 translations of pages */
static const double LINE_NEAR = 55, LINE_FAR = 52, ROW_FAR = 170;
static const double FIRST = 32 << 10, REACH = 2.2, PAGES = 30e6;

/* The first cache has room for the rows of X that BLOCK_ROWS neighbouring rows of A name,
   if they take at most ROOM bytes. */
static const double BLOCK_ROWS = 16, ROOM = 64 << 10;

/* Fraction of the entries of neighbouring rows of A that are the first to name their row
   of X. Used if tile_fill is unknown, because hy_inspect_fill() did not run. */
static const double APART = 0.39;

static double square(double x)
{
    return x * x;
}

/* Returns the fraction, 0 to 1, of `bytes` bytes that a cache of `cache` bytes does not
   hold. */
static double beyond(double bytes, double cache)
{
    return square(bytes) / (square(bytes) + square(fmax(1, cache)));
}

/* Returns the operations that fetching X takes for each entry of A; a row of X has x_row
   bytes. `apart` is the estimated fraction of entries that are the first among 16
   neighbouring rows of A to name their row of X. Among BLOCK_ROWS times as many rows, the
   fraction is assumed to be the square of `apart`. */
static double fetching(const hy_features *f, const hy_rates *r, double x_row)
{
    const double x = (double)f->cols * x_row, lines = fmax(1, x_row / HY_LINE);
    const double apart = f->tile_fill > 0 ? 1 / fmax(1, 16 * f->tile_fill) : APART;
    const double near =
        apart + (1 - apart) * beyond(apart * BLOCK_ROWS * f->row_mean * x_row, ROOM);

    return LINE_NEAR * lines * near * x / (x + FIRST) +
           square(apart) * (LINE_FAR * lines * beyond(x, REACH * (double)r->core_cache) +
                            ROW_FAR * beyond(square(x), square(PAGES)));
}

static double operations(const hy_features *f, const hy_rates *r)
{
    const double rows = (double)f->rows, nnz = (double)f->nnz, n = (double)f->out_cols;
    const double x_row = n * (double)hy_value_size(f->type);
    const double own   = f->out_cols == 1 ? SINGLE_ROW * rows + SINGLE_ENTRY * nnz
                                          : (ROW + Y_ELEMENT * n) * rows +
                                              ENTRY * fmax(1, x_row / WIDE) * nnz;

    return own + nnz * fetching(f, r, x_row);
}

/* Returns how many bytes of A, X and Y the last-level cache does not hold from one run to
   the next. */
static double bytes_of_memory(const hy_features *f, const hy_rates *r)
{
    const double size  = (double)hy_value_size(f->type);
    const double dense = ((double)f->rows + (double)f->cols) * (double)f->out_cols * size;
    const double all   = (double)f->nnz * (4 + size) + (double)f->rows * 8 + dense;

    return fmax(0, all - (double)r->cache);
}

static hy_cost cost(const hy_features *f, const hy_rates *r)
{
    hy_cost c = {0};

    c.multiply_s = operations(f, r) / r->flops + bytes_of_memory(f, r) / r->mem_Bps;
    return c;
}

static hybrid_status multiply(hy_lane *lane, hy_job *job)
{
    return hy_host_enqueue(lane, run, job);
}

const hy_variant hy_spmm_host_rows = {
    .name     = "spmm.host.rows",
    .summary  = "rows of Y in vector registers, columns of X as rows",
    .source   = "Gustavson 1978, row by row",
    .op       = HY_SPMM,
    .in_place = 1,
    .refuse   = refuse,
    .cost     = cost,
    .multiply = multiply,
};
