/* host/spgemm_host_rows.c - C = A*B row by row (Gustavson), on all cores.

     1. pieces of equal products; rows start at their bound, as the plan counted both
     2. make the rows, each sorted, where they start        (row_at, col, val)
     3. prefix sum of their lengths                         (row_ptr)

   Step 2 takes the entries of A in batches: the offsets of all rows of B that a batch
   names are prefetched, then the rows themselves, then the batch is computed. That
   hides most of the latency of matrices whose rows name each other at random.

   Rows whose entries of A have the same columns (several unknowns a mesh node) go to
   the dense accumulator together: B is read once for all of them.

   spgemm.host.rows chooses an accumulator for each row. */
#include "host/spgemm_host.h"

#include <string.h>

#include "base/csr.h"
#include "host/target.h"
#include "partition/pack.h"

enum { PIECES = 1024, PIECES_PER_WORKER = 16, LANES = 4 };
enum { BATCH = 256 };   /* entries of A in a batch, unless a row is longer */
enum { FETCHED = 256 }; /* bytes of each array of a row of B */

typedef struct product {
    hy_lane *lane;
    const hybrid_csr *A, *B;
    int64_t row0, rows;
    const int64_t *products, *bound; /* before each row; rows+1 */
    hy_rows out;
    hy_row_fn make;
    int lanes;
    int64_t pieces, cut[PIECES + 1];
} product;

/* ---- 1: pieces of equal work -------------------------------- */

/* First row whose products and rows before it reach `work`. */
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
    p->pieces = n < p->rows ? n : p->rows;
    for (int64_t i = 0; i < p->pieces; i++)
        p->cut[i] = row_at_work(p, work / p->pieces * i);
    p->cut[p->pieces] = p->rows;
}

/* ---- 2: rows ------------------------------------------------------------------------
 */

/* What a worker knows of the rows at hand. */
typedef struct batch {
    const product *p;
    hy_seat seat;
    hy_term *terms; /* of rows [begin, end) */
    int64_t begin, end;
    int64_t k0; /* entry of A that is terms[0] */
} batch;

static int64_t first_entry(const product *p, int64_t row)
{
    return hy_offset(p->A, p->row0 + row);
}

static const char *a_val(const product *p, int64_t k)
{
    return (const char *)p->A->val + k * (int64_t)hy_value_size(p->A->type);
}

/* The first cache lines of an array; the hardware follows once it is read. */
static inline void fetch(const void *array, int64_t bytes)
{
    const char *first = array, *last = first + (bytes < FETCHED ? bytes : FETCHED) - 1;

    if (bytes <= 0)
        return;
    for (const char *line = first; line < last; line += 64)
        HY_PREFETCH(line);
    HY_PREFETCH(last);
}

/* Take as many rows as fit, at least one, and fetch what they name. */
static hybrid_status load_batch(batch *b, int64_t begin, int64_t limit)
{
    const product *p    = b->p;
    const hybrid_csr *B = p->B;
    const int64_t size  = (int64_t)hy_value_size(B->type);
    const int64_t room  = B->offset_type == HYBRID_I32 ? 4 : 8;
    const int32_t *col  = p->A->col;
    void *made          = NULL;
    size_t fresh;

    b->begin = begin;
    b->end   = begin + 1;
    b->k0    = first_entry(p, begin);
    while (b->end < limit && first_entry(p, b->end + 1) - b->k0 <= BATCH)
        b->end++;
    const int64_t n = first_entry(p, b->end) - b->k0;
    HY_TRY(hy_host_workspace(b->seat.lane, b->seat.part, HY_SCRATCH_TERMS,
                             (size_t)(n > BATCH ? n : BATCH) * sizeof(hy_term), &made,
                             &fresh));
    b->terms = made;
    for (int64_t k = 0; k < n; k++)
        HY_PREFETCH((const char *)B->row_ptr + col[b->k0 + k] * room);
    for (int64_t k = 0; k < n; k++) {
        const int32_t c     = col[b->k0 + k];
        const int64_t first = hy_offset(B, c);
        b->terms[k]         = (hy_term){first, hy_offset(B, c + 1)};
        fetch(B->col + first, (b->terms[k].end - first) * 4);
        fetch((const char *)B->val + first * size, (b->terms[k].end - first) * size);
    }
    return HYBRID_OK;
}

/* How many rows from i on have entries of A in the same columns; at most LANES. */
static int equal_rows(const batch *b, int64_t i)
{
    const product *p     = b->p;
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

/* Products and the range of their columns. */
static void measure(const hybrid_csr *B, hy_row *row)
{
    row->products = 0;
    row->col_min  = INT32_MAX;
    row->col_max  = -1;
    for (int64_t t = 0; t < row->count; t++) {
        const hy_term term = row->terms[t];
        if (term.begin == term.end)
            continue;
        const int32_t first = B->col[term.begin], last = B->col[term.end - 1];
        row->products += term.end - term.begin;
        row->col_min = first < row->col_min ? first : row->col_min;
        row->col_max = last > row->col_max ? last : row->col_max;
    }
    row->bound = row->products < B->cols ? row->products : B->cols;
}

static void take_row(const batch *b, int64_t i, int lanes, hy_row *row)
{
    const product *p   = b->p;
    const int64_t size = (int64_t)hy_value_size(p->A->type);
    const int64_t k    = first_entry(p, i);

    row->terms = b->terms + (k - b->k0);
    row->count = first_entry(p, i + 1) - k;
    row->lanes = lanes;
    for (int r = 0; r < lanes; r++) {
        const int64_t at     = p->bound[i + r] - p->bound[0];
        p->out.row_at[i + r] = at;
        row->a[r]            = a_val(p, k + r * row->count);
        row->col[r]          = p->out.col + at;
        row->val[r]          = (char *)p->out.val + at * size;
    }
    measure(p->B, row);
}

/* The plan made room for a pattern; another one must not write past it. */
static hybrid_status check_room(const product *p, int64_t i, const hy_row *row)
{
    for (int r = 0; r < row->lanes; r++) {
        const int64_t room = p->bound[i + r + 1] - p->bound[i + r];
        if (row->bound > room)
            return hy_fail(p->lane->backend->ctx, HYBRID_BAD_STATE,
                           "row %lld may have %lld entries of C, planned were at most "
                           "%lld: the patterns are not those of the plan",
                           (long long)(p->row0 + i + r), (long long)row->bound,
                           (long long)room);
    }
    return HYBRID_OK;
}

static hybrid_status make_batch(const batch *b)
{
    const product *p = b->p;
    hy_row row       = {.b_col = p->B->col, .b_val = p->B->val};

    for (int64_t i = b->begin; i < b->end;) {
        int64_t nnz = 0;

        take_row(b, i, equal_rows(b, i), &row);
        HY_TRY(check_room(p, i, &row));
        if (row.products > 0)
            HY_TRY(p->make(&b->seat, &row, &nnz));
        for (int r = 0; r < row.lanes; r++)
            p->out.row_ptr[i++] = nnz;
    }
    return HYBRID_OK;
}

static hybrid_status make_pieces(void *arg, int part, int64_t begin, int64_t end)
{
    const product *p = arg;
    batch b          = {.p = p, .seat = {p->lane, part, p->A->type}};

    for (int64_t i = p->cut[begin]; i < p->cut[end]; i = b.end) {
        HY_TRY(load_batch(&b, i, p->cut[end]));
        HY_TRY(make_batch(&b));
    }
    return HYBRID_OK;
}

/* ---- all steps -------------------------------------------------------------------- */

hybrid_status hy_spgemm_host_run(hy_lane *lane, hy_job *job, hy_row_fn make, int lanes)
{
    hy_context *ctx       = lane->backend->ctx;
    const hy_chunk *chunk = job->chunk;
    product p             = {.lane     = lane,
                             .A        = job->problem->A,
                             .B        = job->problem->B,
                             .row0     = chunk->row_begin,
                             .rows     = chunk->row_end - chunk->row_begin,
                             .products = job->problem->products + chunk->row_begin,
                             .bound    = job->problem->bound + chunk->row_begin,
                             .out      = job->out,
                             .make     = make,
                             .lanes    = lanes};

    *job->out_nnz    = 0;
    p.out.row_ptr[0] = 0;
    if (p.rows == 0)
        return HYBRID_OK;
    cut_pieces(&p, hy_pool_threads(ctx->pool));
    HY_TRY(hy_pool_for(ctx->pool, HY_COMPUTE, 0, p.pieces, 1, make_pieces, &p));
    HY_TRY(hy_prefix_sum(ctx, p.out.row_ptr, p.rows));
    *job->out_nnz = p.out.row_ptr[p.rows];
    return HYBRID_OK;
}

hy_cost hy_spgemm_host_cost(const hy_features *f, const hy_rates *r, double cycles)
{
    const double size = f->type == HYBRID_F64 ? 8 : 4;
    const double hz   = r->flops / (16 * (r->width > 0 ? r->width : 1)); /* of a core */
    const double out  = (double)f->products / (f->out_ratio > 1 ? f->out_ratio : 1);
    const double compute =
        ((double)f->products * cycles + out * 4 + (double)f->rows * 100) /
        (hz * (r->width > 0 ? r->width : 1));
    const double memory = ((double)f->nnz * (4 + size) + out * (4 + size)) / r->mem_Bps;
    hy_cost c           = {0};

    c.out_bytes  = hy_rows_bytes(HY_SPGEMM, f, 1);
    c.multiply_s = r->launch_s + (compute > memory ? compute : memory);
    return c;
}

/* ---- spgemm.host.rows: an accumulator for each row ----------------------------------
 */

enum { NEAR = 256 };   /* columns a product up to which a window is cheapest */
enum { SPREAD = 512 }; /* and from which on it loses to a hash table */
enum { WINDOW_COLUMNS = 4 << 20 }; /* beyond, the window no longer fits a share of L3 */

static hybrid_status make_any(const hy_seat *seat, const hy_row *rows, int64_t *nnz)
{
    const int64_t range = (int64_t)rows->col_max - rows->col_min + 1;
    const int dense     = range <= rows->products * SPREAD && range <= WINDOW_COLUMNS;
    const int few       = rows->products <= HY_FEW && rows->products == rows->bound &&
                    (rows->count == 1 || range > rows->products * NEAR);

    if (dense && !few)
        return hy_row_dense(seat, rows, nnz);
    for (int r = 0; r < rows->lanes; r++) {
        hy_row row = *rows;
        row.lanes  = 1;
        row.a[0]   = rows->a[r];
        row.col[0] = rows->col[r];
        row.val[0] = rows->val[r];
        HY_TRY((few ? hy_row_few : hy_row_hash)(seat, &row, nnz));
    }
    return HYBRID_OK;
}

static const char *refuse(const hy_features *f, const hy_rates *r)
{
    (void)f, (void)r;
    return NULL;
}

static hy_cost cost(const hy_features *f, const hy_rates *r)
{
    return hy_spgemm_host_cost(f, r, 3);
}

static hybrid_status run(hy_lane *lane, void *job)
{
    return hy_spgemm_host_run(lane, job, make_any, LANES);
}

static hybrid_status multiply(hy_lane *lane, hy_job *job)
{
    return hy_host_enqueue(lane, run, job);
}

const hy_variant hy_spgemm_host_rows = {
    .name     = "spgemm.host.rows",
    .summary  = "the accumulator that suits it, for each row",
    .source   = "Gustavson 1978; choice of accumulator by row after spECK (Parger 2020)",
    .op       = HY_SPGEMM,
    .refuse   = refuse,
    .cost     = cost,
    .multiply = multiply,
};
