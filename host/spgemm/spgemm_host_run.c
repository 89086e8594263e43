/* host/spgemm/spgemm_host_run.c - computes C = A*B row by row (Gustavson), on all cores.

   The plan's profile bounds the scalar products (here: products) and entries of each row.
   Rows are therefore cut into pieces of equal products before any operand is read, each
   piece has room of its own, and one parallel loop makes all pieces. In a piece a row
   starts where the row before ended. A prefix sum of the rows' lengths completes the
   result. The end of the loop is the only point at which workers wait for each other;
   there, chunks on other lanes give them work.

   A piece takes the entries of A in batches. The offsets of all rows of B that a batch
   names are fetched into the CPU's caches (cache prefetch), then the rows themselves;
   then the batch before is computed. This hides most of the latency of matrices with
   random columns.

   A row with more than a worker's share of the chunk's products is made by all workers
   (spgemm_host_huge.c), before the loop.

   Rows of A with entries in the same columns (several unknowns per mesh node) go to the
   dense accumulator together, which reads B once for all of them. */
#include "host/spgemm/spgemm_host.h"

#include <string.h>

#include "base/data/csr.h"
#include "host/backend/target.h"
#include "partition/pattern/inspect.h"
#include "partition/format/pack.h"

enum { PIECES = 1024, PIECES_PER_WORKER = 8 };
/* minimum work of a piece, in products and rows: about 15 us */
enum { PIECE = 1 << 12 };
/* FEW_WORKERS: with more workers than this, all of them always share a huge row; LONG:
   minimum mean entries of rows of B that count as long */
enum { FEW_WORKERS = 8, LONG = 32 };
/* a row with at most this many products is made by one worker, because sharing it would
   take longer */
enum { HUGE_PRODUCTS = 1 << 18 };
enum { BATCH = 256 }; /* maximum entries of A in a batch of several rows */
/* maximum bytes that are fetched in advance of the columns, and of the values, of a row
   of B */
enum { PREFETCHED = 256 };
/* bits of a hash of rows of B, for noting which were fetched recently */
enum { RECENT_BITS = 8 };

typedef struct product {
    hy_lane *lane;
    const hybrid_csr *A, *B;
    const int64_t *products, *bound; /* prefix sums of the profile: element i counts all
                                        rows of A before row i of the chunk */
    int64_t row0, rows;
    hy_rows out;
    hy_row_fn make;
    int lanes; /* maximum number of rows that `make` makes together */
    int64_t pieces, cut[PIECES + 1];
    int64_t huge; /* a row with more products than this is made by all workers together */
} product;

/* ---- pieces of equal work ---------------------------------------------------------- */

/* Returns the first row r for which rows 0 to r - 1 have at least `work` products and
   rows together. */
static int64_t row_at_work(const product *p, int64_t work)
{
    int64_t low = 0, high = p->rows;

    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (p->products[middle] - p->products[0] + middle < work)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void cut_pieces(product *p, int threads)
{
    const int64_t work = p->products[p->rows] - p->products[0] + p->rows;
    int64_t n          = threads == 1 ? 1 : (int64_t)threads * PIECES_PER_WORKER;

    n         = n < PIECES ? n : PIECES;
    p->pieces = n <= work / PIECE ? n : work / PIECE + 1;
    p->huge   = work / p->pieces * PIECES_PER_WORKER;
    p->huge   = p->huge > HUGE_PRODUCTS ? p->huge : HUGE_PRODUCTS;
    for (int64_t i = 0; i < p->pieces; i++)
        p->cut[i] = row_at_work(p, work / p->pieces * i);
    p->cut[p->pieces] = p->rows;
}

static int64_t first_entry(const product *p, int64_t row)
{
    return hy_offset(p->A, p->row0 + row);
}

/* Returns 1 if all workers make the last row of a piece together; 0 if there is only one
   piece. It can only be the last: such a row has more work than a piece should have, so
   the next piece begins after it. With few workers, rows of A that name long rows of B
   are left to one worker, because one worker adds long rows of B as fast as a few workers
   sort their products into ranges. */
static int ends_huge(const product *p, int64_t piece)
{
    const int64_t begin = p->cut[piece], end = p->cut[piece + 1];

    if (p->pieces == 1 || begin == end)
        return 0;
    const int64_t products = p->products[end] - p->products[end - 1];
    const int64_t entries  = first_entry(p, end) - first_entry(p, end - 1);
    return products > p->huge &&
           (p->pieces > FEW_WORKERS * PIECES_PER_WORKER || products / LONG < entries);
}

/* ---- batches --------------------------------------------------------------------- */

/* The state of one worker while it makes a piece. */
typedef struct maker {
    const product *p;
    hy_seat seat;
    int64_t at, stop;                 /* `at`: index in `out` of the next free entry of C;
                                         `stop`: index after the last entry that the piece
                                         has room for */
    int64_t rows, work;               /* number of finished rows, and their work, that are
                                         not yet reported to hy_seat_check() */
    int32_t recent[1 << RECENT_BITS]; /* for each value of the hash, the row of B that was
                                         fetched last */
} maker;

/* A batch: rows of the chunk, with their terms loaded. */
typedef struct batch {
    hy_term *terms; /* terms of rows [begin, end) */
    int64_t begin, end;
    int64_t k0; /* index in A of the entry of terms[0] */
} batch;

static const char *a_val(const product *p, int64_t k)
{
    return (const char *)p->A->val + k * (int64_t)hy_value_size(p->A->type);
}

/* Starts fetching the first cache lines of an array that is not empty. Once it is read,
   the hardware fetches the rest. */
static inline void prefetch(const void *array, int64_t bytes)
{
    const char *first = array,
               *last  = first + (bytes < PREFETCHED ? bytes : PREFETCHED) - 1;

    for (const char *line = first; line < last; line += 64)
        HY_PREFETCH(line);
    HY_PREFETCH(last);
}

static void prefetch_row(maker *m, int32_t row, hy_term term)
{
    const hybrid_csr *B = m->p->B;
    const int64_t size  = (int64_t)hy_value_size(B->type);
    int32_t *recent     = &m->recent[(uint32_t)row * 2654435769u >> (32 - RECENT_BITS)];

    if (*recent == row)
        return;
    *recent = row;
    if (term.begin == term.end) /* an empty B may have no arrays, so none is read */
        return;
    prefetch(hy_cols(B) + term.begin, (term.end - term.begin) * 4);
    prefetch((const char *)B->val + term.begin * size, (term.end - term.begin) * size);
}

/* Loads the terms of as many rows as fit a batch, from `begin` on and at least one, and
   starts fetching their rows of B. */
static hybrid_status load_batch(maker *m, int64_t begin, int64_t limit,
                                hy_scratch_kind kind, batch *b)
{
    const product *p    = m->p;
    const hybrid_csr *B = p->B;
    const int64_t room  = B->offset_type == HYBRID_I32 ? 4 : 8;
    void *made          = NULL;
    size_t fresh;

    *b = (batch){.begin = begin, .end = begin + 1, .k0 = first_entry(p, begin)};
    while (b->end < limit && first_entry(p, b->end + 1) - b->k0 <= BATCH)
        b->end++;
    const int64_t n    = first_entry(p, b->end) - b->k0;
    const int32_t *col = hy_cols(p->A) + b->k0;
    HY_TRY(hy_host_workspace(m->seat.lane, kind,
                             (size_t)(n > BATCH ? n : BATCH) * sizeof(hy_term), &made,
                             &fresh));
    b->terms = made;
    for (int64_t k = 0; k < n; k++)
        HY_PREFETCH((const char *)B->row_ptr + col[k] * room);
    for (int64_t k = 0; k < n; k++) {
        b->terms[k] = (hy_term){hy_offset(B, col[k]), hy_offset(B, (int64_t)col[k] + 1)};
        prefetch_row(m, col[k], b->terms[k]);
    }
    return HYBRID_OK;
}

/* ---- rows ------------------------------------------------------------------------ */

/* Returns how many rows of A from i on, at most p->lanes, have entries in the same
   columns. */
static int equal_rows(const product *p, const batch *b, int64_t i)
{
    const int32_t *col   = p->A->col;
    const int64_t k0     = first_entry(p, i);
    const int64_t length = first_entry(p, i + 1) - k0;
    int lanes            = 1;

    while (lanes < p->lanes && i + lanes < b->end) {
        const int64_t k = first_entry(p, i + lanes);
        if (first_entry(p, i + lanes + 1) - k != length || length == 0 ||
            col[k] != col[k0] ||
            memcmp(col + k0, col + k, (size_t)length * sizeof *col) != 0)
            break;
        lanes++;
    }
    return lanes;
}

/* Sets *row to the rows of A from row i on that are made together, and gives each of them
   room for its bound of entries. */
static hybrid_status take_rows(const maker *m, const batch *b, int64_t i, hy_row *row)
{
    const product *p   = m->p;
    const int64_t size = (int64_t)hy_value_size(p->A->type);
    const int64_t k    = first_entry(p, i);

    row->terms = b->terms + (k - b->k0);
    row->count = first_entry(p, i + 1) - k;
    row->lanes = equal_rows(p, b, i);
    hy_row_measure(p->B, row);
    if (row->bound > (m->stop - m->at) / row->lanes)
        return hy_row_too_long(p->lane, p->row0 + i, row->lanes, row->bound,
                               m->stop - m->at);
    row->room = row->lanes == 1 ? m->stop - m->at : row->bound;
    for (int r = 0; r < row->lanes; r++) {
        row->a[r]   = a_val(p, k + r * row->count);
        row->col[r] = p->out.col + m->at + r * row->bound;
        row->val[r] = (char *)p->out.val + (m->at + r * row->bound) * size;
    }
    return HYBRID_OK;
}

/* Records the lengths of rows of C that were made together, from row i on, and closes the
   gaps between their entries. */
static void record_rows(maker *m, int64_t i, const hy_row *row, int64_t nnz)
{
    const hy_rows *out = &m->p->out;
    const size_t size  = hy_value_size(m->seat.type);

    for (int r = 0; r < row->lanes; r++, m->at += nnz) {
        out->row_ptr[i + r] = nnz;
        out->row_at[i + r]  = m->at;
        if (r == 0 || nnz == row->bound)
            continue;
        memmove(out->col + m->at, row->col[r], (size_t)nnz * 4);
        memmove((char *)out->val + (size_t)m->at * size, row->val[r], (size_t)nnz * size);
    }
}

static hybrid_status make_rows(maker *m, const batch *b)
{
    const product *p = m->p;
    hy_row row       = {.b_col = p->B->col, .b_val = p->B->val, .b_entries = p->B->nnz};

    for (int64_t i = b->begin; i < b->end; i += row.lanes) {
        int64_t nnz = 0;
        HY_TRY(take_rows(m, b, i, &row));
        if (row.products > 0)
            HY_TRY(p->make(&m->seat, &row, &nnz));
        record_rows(m, i, &row, nnz);
        m->rows += row.lanes;
        m->work += row.products * row.lanes + 1;
        if (m->work <= HY_UNCHECKED)
            continue;
        HY_TRY(hy_seat_check(&m->seat, m->rows));
        m->rows = m->work = 0;
    }
    return HYBRID_OK;
}

static hybrid_status make_piece(maker *m, int64_t row, int64_t end)
{
    static const hy_scratch_kind kind[] = {HY_SCRATCH_TERMS, HY_SCRATCH_MORE_TERMS};
    hybrid_status status                = HYBRID_OK;
    batch next, now;

    if (row < end)
        HY_TRY(load_batch(m, row, end, kind[0], &next));
    for (int slot = 1; row < end && status == HYBRID_OK; row = now.end, slot = 1 - slot) {
        now = next;
        if (now.end < end)
            HY_TRY(load_batch(m, now.end, end, kind[slot], &next));
        status = make_rows(m, &now);
        hy_recipes_finish(&m->seat);
    }
    return status;
}

static hybrid_status make_pieces(void *arg, int part, int64_t begin, int64_t end)
{
    const product *p = arg;
    maker m          = {.p = p, .seat = {p->lane, p->A->type, NULL}};

    (void)part;
    memset(m.recent, 0xff, sizeof m.recent);
    if (p->lanes > 1)
        HY_TRY(hy_recipes_open(&m.seat));
    for (int64_t k = begin; k < end; k++) {
        /* row after the last one that this loop makes; a last row that all workers made
           together is left out */
        const int64_t stop = p->cut[k + 1] - ends_huge(p, k);
        m.at               = p->bound[p->cut[k]] - p->bound[0];
        m.stop             = p->bound[stop] - p->bound[0];
        HY_TRY(make_piece(&m, p->cut[k], stop));
        HY_TRY(hy_seat_check(&m.seat, m.rows));
        m.rows = 0;
    }
    return HYBRID_OK;
}

static hybrid_status make_huge(const product *p, int64_t i)
{
    const int64_t at = p->bound[i] - p->bound[0];
    const hy_huge h  = {.lane = p->lane,
                        .A    = p->A,
                        .B    = p->B,
                        .row  = p->row0 + i,
                        .make = p->make,
                        .room = p->bound[i + 1] - p->bound[i],
                        .col  = p->out.col + at,
                        .val =
                            (char *)p->out.val + at * (int64_t)hy_value_size(p->A->type)};

    p->out.row_at[i] = at;
    HY_TRY(hy_row_huge(&h, &p->out.row_ptr[i]));
    return hy_seat_check(&(hy_seat){.lane = p->lane}, 1);
}

/* ---- all rows of a chunk --------------------------------------------------------- */

hybrid_status hy_spgemm_host_run(hy_lane *lane, hy_job *job, hy_row_fn make, int lanes)
{
    hy_context *ctx           = lane->backend->ctx;
    const hy_chunk *chunk     = job->chunk;
    const hy_profile *profile = job->problem->profile;
    product p                 = {.lane     = lane,
                                 .A        = job->problem->A,
                                 .B        = job->problem->B,
                                 .products = profile->products + chunk->row_begin,
                                 .bound    = profile->bound + chunk->row_begin,
                                 .row0     = chunk->row_begin,
                                 .rows     = chunk->row_end - chunk->row_begin,
                                 .out      = job->out,
                                 .make     = make,
                                 .lanes    = lanes};

    *job->out_nnz    = 0;
    p.out.row_ptr[0] = 0;
    if (p.rows == 0)
        return HYBRID_OK;
    cut_pieces(&p, hy_pool_threads(ctx->pool));
    for (int64_t k = 0; k < p.pieces; k++)
        if (ends_huge(&p, k))
            HY_TRY(make_huge(&p, p.cut[k + 1] - 1));
    HY_TRY(hy_pool_for(ctx->pool, HY_COMPUTE, 0, p.pieces, 1, make_pieces, &p));
    HY_TRY(hy_prefix_sum(ctx, p.out.row_ptr, p.rows));
    *job->out_nnz = p.out.row_ptr[p.rows];
    return HYBRID_OK;
}
