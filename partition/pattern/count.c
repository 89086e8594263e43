/* partition/pattern/count.c - counts entries and scalar products of rows.

   All workers read A once, in pieces of rows. The sums over the rows of each piece then
   become sums over all earlier rows. If a device counts the scalar products, the workers
   first collect the other statistics, then wait for the device's counts, and sum these up
   piece by piece. */
#include "partition/pattern/count.h"

#include <math.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/threads/pool.h"
#include "partition/pattern/lengths.h"

enum {
    PIECE = 1 << 12, /* target for the rows plus entries that one worker inspects at a
                        time, which takes about 8 us */
    FINE       = 4,  /* one worker is woken for every FINE pieces */
    SUCCESSIVE = 4,  /* neighbouring pieces that one worker inspects, so that two workers
                        seldom write to the same cache line of hy_profile.ends */
    MAX_PIECES = 1 << 13,
    BLOCK      = 512 /* entries of A for which running sums are computed before the sums
                        are assigned to rows */
};

/* ---- counting ---------------------------------------------------------------- */

/* Counts over the rows of one piece, which one worker inspects. */
typedef struct tally {
    hy_row_counts counts;
    int64_t row;             /* first row of the piece */
    int64_t products, bound; /* scalar products, and upper bounds on the entries of C:
                                sums over the rows of the piece, which fit 63 bits; after
                                sum_up(), sums over the rows of all earlier pieces */
} tally;

typedef struct inspection {
    const hybrid_csr *A, *B;
    hy_profile *profile;
    hy_lengths lengths;      /* lengths of the rows of B */
    const uint32_t *counted; /* scalar products of each row, counted by a device; NULL:
                                workers count them */
    int later;               /* 1: scalar products are counted in a second loop, after the
                                other statistics */
    tally *tallies;
    int64_t pieces;
} inspection;

/* Returns the first row of piece k. Pieces have about equal sums of rows and entries, or
   equal numbers of rows if no products are counted. */
static int64_t piece_begin(const inspection *in, int64_t k)
{
    const int64_t total = in->A->rows + (in->B ? in->A->nnz : 0);
    const int64_t target =
        k * (total / in->pieces) + k * (total % in->pieces) / in->pieces;
    int64_t low = 0, high = in->A->rows;

    if (k == in->pieces || !in->B)
        return k == in->pieces ? in->A->rows : target;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (middle + hy_offset(in->A, middle) < target)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Stores hy_profile.nnz for rows [begin, end) and collects statistics of their
   lengths. */
static void scan_rows(const inspection *in, int64_t begin, int64_t end, tally *t)
{
    const hybrid_csr A = *in->A; /* a copy, so that the compiler knows that storing nnz
                                    does not change it */
    int64_t *nnz = in->profile->nnz;
    int64_t from = hy_offset(&A, begin), longest = 0;
    double squares = 0;

    for (int64_t i = begin; i < end; i++) {
        const int64_t to = hy_offset(&A, i + 1), length = to - from;
        nnz[i + 1] = to;
        squares += (double)length * (double)length;
        longest = hy_max(longest, length);
        from    = to;
    }
    t->counts.squares      = squares;
    t->counts.row_max      = longest;
    t->counts.products_max = longest; /* for SpMM: scalar products of the longest row for
                                         each column of X */
}

/* Counts the scalar products of rows [begin, end): stores their prefix sums, which begin
   with 0 at `begin`, and sets *t. The sums run over BLOCK entries at a time, across rows,
   and are read at the ends of rows: a loop over the entries of each row would mispredict
   a branch at the end of each row. */
static void count_products(const inspection *in, int64_t begin, int64_t end, tally *t)
{
    const int64_t *nnz = in->profile->nnz, widest = in->profile->out_cols;
    const int64_t stop = hy_offset(in->A, end);
    int64_t *products  = in->profile->products;
    int64_t at = hy_offset(in->A, begin), sum = 0, before = 0, max = 0, bound = 0;
    int64_t sums[BLOCK + 1]; /* sums[j]: scalar products of the entries before entry j of
                                the block */

    for (int64_t i = begin, n; i < end; at += n) {
        n       = hy_min(stop - at, BLOCK);
        sums[0] = sum;
        sum     = hy_lengths_sums(&in->lengths, hy_cols(in->A) + at, n, sum, sums + 1);
        for (; i < end && nnz[i + 1] - at <= n; i++) {
            const int64_t upto = sums[nnz[i + 1] - at], own = upto - before;
            products[i + 1] = upto;
            max             = hy_max(max, own);
            bound += hy_min(own, widest);
            before = upto;
        }
    }
    t->counts.products_max = max;
    t->products            = sum;
    t->bound               = bound;
}

/* Stores the prefix sums of the scalar products of rows [begin, end), which a device
   counted, and sets *t. */
static void take_products(const inspection *in, int64_t begin, int64_t end, tally *t)
{
    const uint32_t *counted = in->counted;
    const int64_t widest    = in->profile->out_cols;
    int64_t *products       = in->profile->products;
    int64_t sum = 0, max = 0, bound = 0;

    for (int64_t i = begin; i < end; i++) {
        const int64_t own = counted[i];
        products[i + 1]   = sum += own;
        max               = hy_max(max, own);
        bound += hy_min(own, widest);
    }
    t->counts.products_max = max;
    t->products            = sum;
    t->bound               = bound;
}

/* Raises hy_profile.ends and lowers hy_profile.firsts for the HY_ENDS_ROWS rows among
   which [begin, end) lie, since they may belong to several pieces. For an empty row the
   entry before it is read as the last, and the entry after it as the first: these belong
   to other rows of the range, or do not exist. */
static void note_end(const inspection *in, int64_t begin, int64_t end)
{
    const int64_t *nnz  = in->profile->nnz;
    const int64_t start = hy_offset(in->A, begin), stop = nnz[end];
    const int32_t *col = in->A->col;
    int64_t first = in->profile->cols, last = -1;

    for (int64_t i = begin, at = start; i < end && at < stop; i++) {
        first = hy_min(first, col[at]);
        at    = nnz[i + 1];
        last  = at > start ? hy_max(last, col[at - 1]) : last;
    }
    hy_raise_to(&in->profile->ends[begin / HY_ENDS_ROWS], last + 1);
    hy_lower_to(&in->profile->firsts[begin / HY_ENDS_ROWS], first);
}

static void note_ends(const inspection *in, int64_t begin, int64_t end)
{
    for (int64_t next; begin < end; begin = next) {
        next = hy_min((begin / HY_ENDS_ROWS + 1) * HY_ENDS_ROWS, end);
        note_end(in, begin, next);
    }
}

static hybrid_status inspect_pieces(void *arg, int part, int64_t begin, int64_t end)
{
    const inspection *in = arg;

    (void)part;
    for (int64_t k = begin; k < end; k++) {
        const int64_t row = piece_begin(in, k), last = piece_begin(in, k + 1);
        tally t = {.row = row};
        scan_rows(in, row, last, &t);
        if (in->B && !in->later)
            count_products(in, row, last, &t);
        if (in->B)
            note_ends(in, row, last);
        in->tallies[k] = t;
    }
    return HYBRID_OK;
}

/* Returns the first row after piece k. If k is not the last piece, piece k+1 must have
   been inspected. */
static int64_t row_after(const inspection *in, int64_t k)
{
    return k + 1 < in->pieces ? in->tallies[k + 1].row : in->A->rows;
}

/* Counts the scalar products of pieces in a second loop, if inspect_pieces() left them
   out. */
static hybrid_status add_products(void *arg, int part, int64_t begin, int64_t end)
{
    const inspection *in = arg;

    (void)part;
    for (int64_t k = begin; k < end; k++) {
        tally *t           = &in->tallies[k];
        const int64_t last = row_after(in, k);
        (in->counted ? take_products : count_products)(in, t->row, last, t);
    }
    return HYBRID_OK;
}

static hy_row_counts total(const inspection *in)
{
    hy_row_counts sum = {0, 0, 0};

    for (int64_t k = 0; k < in->pieces; k++) {
        const hy_row_counts *own = &in->tallies[k].counts;
        sum.squares += own->squares;
        sum.row_max      = hy_max(sum.row_max, own->row_max);
        sum.products_max = hy_max(sum.products_max, own->products_max);
    }
    return sum;
}

hybrid_status hy_count_check(hy_context *ctx, const hybrid_csr *A, int64_t dense_cols,
                             double products)
{
    const double widest = (double)hy_max(hy_max(A->rows, A->cols), A->nnz);
    const double max    = fmax(products, widest * (double)dense_cols);

    if (max > 0x1p60)
        return hy_fail(
            ctx, HYBRID_UNSUPPORTED,
            "the product takes %.3g multiplications or has an operand of that size, and "
            "2^60 is the limit",
            max);
    return HYBRID_OK;
}

static hybrid_status check_size(hy_context *ctx, const inspection *in)
{
    double products = 0;

    for (int64_t k = 0; k < in->pieces; k++)
        products += (double)in->tallies[k].products;
    return hy_count_check(ctx, in->A, in->B ? 0 : in->profile->out_cols, products);
}

/* ---- prefix sums ---- */

/* Adds the sums over all earlier pieces to the prefix sums of scalar products in this
   piece, which so far begin at its first row. */
static void sum_piece(hy_profile *p, int64_t begin, int64_t end, const tally *before)
{
    for (int64_t i = begin; i < end; i++)
        p->products[i + 1] += before->products;
}

/* Computes the prefix sums of the rows' upper bounds, min(scalar products, columns of B),
   from those of the scalar products. */
static void bound_piece(hy_profile *p, int64_t begin, int64_t end, const tally *before)
{
    int64_t sum = before->bound, from = before->products;

    for (int64_t i = begin; i < end; i++) {
        const int64_t to = p->products[i + 1];
        sum += hy_min(to - from, p->out_cols);
        p->bound[i + 1] = sum;
        from            = to;
    }
}

static hybrid_status sum_pieces(void *arg, int part, int64_t begin, int64_t end)
{
    const inspection *in = arg;

    (void)part;
    for (int64_t k = begin; k < end; k++) {
        const tally *t     = &in->tallies[k];
        const int64_t last = row_after(in, k);
        sum_piece(in->profile, t->row, last, t);
        if (in->profile->bound != in->profile->products)
            bound_piece(in->profile, t->row, last, t);
    }
    return HYBRID_OK;
}

/* Turns the tallies of pieces into sums over all earlier pieces, and the prefix sums,
   which begin with 0 in each piece, into prefix sums over all rows. */
static hybrid_status sum_up(hy_context *ctx, inspection *in)
{
    int64_t products = 0, bound = 0;

    for (int64_t k = 0; k < in->pieces; k++) {
        tally *t            = &in->tallies[k];
        const int64_t own[] = {t->products, t->bound};
        t->products         = products;
        t->bound            = bound;
        products += own[0];
        bound += own[1];
    }
    return hy_pool_for_fine(ctx->pool, HY_PLAN, 0, in->pieces, 1, FINE, sum_pieces, in);
}

/* Allocates the prefix sums of the upper bounds on the entries of C's rows. They are an
   alias of p->products if no row has more scalar products than B has columns. */
static hybrid_status place_bound(hy_context *ctx, hy_profile *p, int64_t products_max)
{
    if (products_max <= p->out_cols) {
        p->bound = p->products;
        return HYBRID_OK;
    }
    return hy_profile_sums(ctx, p->rows, "bounds of rows", &p->bound);
}

/* Counts the scalar products that the first loop left out: by the device if no row of A
   is too long for it (hy_counter.longest) and it can count them this time, else by the
   workers. */
static hybrid_status count_later(hy_context *ctx, inspection *in,
                                 const hy_counter *counter)
{
    if (total(in).row_max <= counter->longest)
        HY_TRY(counter->count(counter->arg, &in->counted));
    if (!in->counted)
        HY_TRY(hy_lengths_note(ctx, in->B, &in->lengths));
    return hy_pool_for_fine(ctx->pool, HY_PLAN, 0, in->pieces, 1, FINE, add_products, in);
}

hybrid_status hy_count_rows(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B,
                            const hy_counter *counter, hy_profile *profile,
                            hy_row_counts *out)
{
    inspection in = {
        .A       = A,
        .B       = B,
        .profile = profile,
        .later   = B && counter,
        .pieces  = hy_min((B ? A->rows + A->nnz : A->rows) / PIECE + 1, MAX_PIECES)};
    hybrid_status status;
    void *memory;

    HY_TRY_ELSE_DONE(hy_profile_alloc(ctx, profile));
    HY_TRY_ELSE_DONE(hy_array(ctx, in.pieces, sizeof(tally), "tallies of rows", &memory));
    in.tallies = memory;
    if (B && !in.later)
        HY_TRY_ELSE_DONE(hy_lengths_note(ctx, B, &in.lengths));
    HY_TRY_ELSE_DONE(
        hy_pool_for(ctx->pool, HY_PLAN, 0, in.pieces, SUCCESSIVE, inspect_pieces, &in));
    if (in.later)
        HY_TRY_ELSE_DONE(count_later(ctx, &in, counter));
    *out = total(&in);
    HY_TRY_ELSE_DONE(check_size(ctx, &in));
    if (B) {
        HY_TRY_ELSE_DONE(place_bound(ctx, profile, out->products_max));
        HY_TRY_ELSE_DONE(sum_up(ctx, &in));
    }
done:
    hy_lengths_free(ctx, &in.lengths);
    hy_array_free(ctx, in.tallies);
    return status;
}
