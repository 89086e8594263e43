/* partition/pattern/count.c - how many entries and products rows have.

   A is read once, in pieces, by all workers; then sums over the rows of a piece become
   sums over all rows before. Where a device counts the products, workers look at what
   else they need of A, wait for the counts, and sum them up piece by piece. */
#include "partition/pattern/count.h"

#include <math.h>
#include <string.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/threads/pool.h"
#include "base/memory/results.h"
#include "partition/pattern/lengths.h"

enum {
    PIECE = 1 << 12, /* rows and entries that one worker inspects at a time, some 8 us; */
    FINE  = 4,       /* so many pieces are worth waking one. At most: */
    MOST_PIECES = 1 << 13,
    BLOCK       = 512,    /* entries that are summed up before rows are looked at */
    LARGE       = 1 << 20 /* bytes of an array whose pages are kept from plan to plan */
};

/* ---- arrays ------------------------------------------------------------------- */

/* Sums over the rows before each, from 0. Touching fresh pages took as long as what is
   written to them: large arrays are of pages that the engine keeps. */
static hybrid_status sums_of_rows(hy_context *ctx, int64_t rows, const char *what,
                                  int64_t **out)
{
    void *array;

    HY_TRY(rows >= LARGE / 8 ? hy_results_array(ctx, rows + 1, 8, what, &array)
                             : hy_array(ctx, rows + 1, 8, what, &array));
    *out  = array;
    **out = 0;
    return HYBRID_OK;
}

static void free_sums(hy_context *ctx, int64_t *sums)
{
    if (!hy_results_release(ctx, sums))
        hy_array_free(ctx, sums);
}

static hybrid_status alloc_sums(hy_context *ctx, hy_profile *p)
{
    const int64_t blocks = p->rows / HY_ENDS_ROWS + 1;
    void *array;

    HY_TRY(sums_of_rows(ctx, p->rows, "row offsets", &p->nnz));
    if (p->op == HY_SPMM) {
        p->products = p->nnz;
        return HYBRID_OK;
    }
    HY_TRY(sums_of_rows(ctx, p->rows, "products of rows", &p->products));
    HY_TRY(hy_array(ctx, blocks, sizeof *p->ends, "ends of rows", &array));
    p->ends = array;
    memset(p->ends, 0, (size_t)blocks * sizeof *p->ends);
    return HYBRID_OK;
}

void hy_profile_free(hy_context *ctx, hy_profile *profile)
{
    if (profile->bound != profile->products)
        free_sums(ctx, profile->bound);
    if (profile->products != profile->nnz)
        free_sums(ctx, profile->products);
    free_sums(ctx, profile->nnz);
    hy_array_free(ctx, profile->ends);
    memset(profile, 0, sizeof *profile);
}

/* ---- counting ---------------------------------------------------------------- */

/* The rows of a piece. */
typedef struct tally {
    hy_row_counts counts;
    int64_t row;             /* the first */
    int64_t products, bound; /* of the rows: each piece's are countable. Then those of the
                                pieces before */
} tally;

typedef struct inspection {
    const hybrid_csr *A, *B;
    hy_profile *profile;
    hy_lengths lengths;      /* of the rows of B */
    const uint32_t *counted; /* products of rows, by somebody else; NULL: workers count */
    int later;               /* products come in a second loop */
    tally *tallies;          /* one a piece */
    int64_t pieces;
} inspection;

/* First row of piece k: pieces have about as many rows and entries together; where no
   products are counted, as many rows. */
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

/* Where rows [begin, end) end, and their lengths. */
static void look_at_rows(const inspection *in, int64_t begin, int64_t end, tally *t)
{
    const hybrid_csr A = *in->A; /* a copy, which no store can reach */
    int64_t *nnz       = in->profile->nnz;
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
    t->counts.products_max = longest; /* of SpMM, for each column */
}

/* Products of rows [begin, end), summed up from the first. Sums are made entry by entry,
   whichever row one is of, and taken where rows end: a loop over the entries of each row
   would end where no processor foresees it. */
static void count_products(const inspection *in, int64_t begin, int64_t end, tally *t)
{
    const int64_t *nnz = in->profile->nnz, widest = in->profile->out_cols;
    const int64_t stop = hy_offset(in->A, end);
    int64_t *products  = in->profile->products;
    int64_t at = hy_offset(in->A, begin), sum = 0, before = 0, most = 0, bound = 0;
    int64_t sums[BLOCK + 1]; /* over the entries before each of a block, and all of it */

    for (int64_t i = begin, n; i < end; at += n) {
        n       = hy_min(stop - at, BLOCK);
        sums[0] = sum;
        sum     = hy_lengths_sums(&in->lengths, hy_cols(in->A) + at, n, sum, sums + 1);
        for (; i < end && nnz[i + 1] - at <= n; i++) {
            const int64_t upto = sums[nnz[i + 1] - at], own = upto - before;
            products[i + 1] = upto;
            most            = hy_max(most, own);
            bound += hy_min(own, widest);
            before = upto;
        }
    }
    t->counts.products_max = most;
    t->products            = sum;
    t->bound               = bound;
}

/* The same from what somebody counted. */
static void take_products(const inspection *in, int64_t begin, int64_t end, tally *t)
{
    const uint32_t *counted = in->counted;
    const int64_t widest    = in->profile->out_cols;
    int64_t *products       = in->profile->products;
    int64_t sum = 0, most = 0, bound = 0;

    for (int64_t i = begin; i < end; i++) {
        const int64_t own = counted[i];
        products[i + 1]   = sum += own;
        most              = hy_max(most, own);
        bound += hy_min(own, widest);
    }
    t->counts.products_max = most;
    t->products            = sum;
    t->bound               = bound;
}

/* The last column of rows [begin, end), all of one block: rows of several pieces may be.
   A row without entries has the last one before it, which is the block's too. */
static void note_end(const inspection *in, int64_t begin, int64_t end)
{
    const int64_t *nnz = in->profile->nnz, first = hy_offset(in->A, begin);
    const int32_t *col = in->A->col;
    int32_t last       = -1;

    for (int64_t i = begin; i < end; i++)
        if (nnz[i + 1] > first && col[nnz[i + 1] - 1] > last)
            last = col[nnz[i + 1] - 1];
    hy_raise_to(&in->profile->ends[begin / HY_ENDS_ROWS], (int64_t)last + 1);
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
        look_at_rows(in, row, last, &t);
        if (in->B && !in->later)
            count_products(in, row, last, &t);
        if (in->B)
            note_ends(in, row, last);
        in->tallies[k] = t;
    }
    return HYBRID_OK;
}

/* The first row behind piece k, of pieces that are inspected. */
static int64_t row_after(const inspection *in, int64_t k)
{
    return k + 1 < in->pieces ? in->tallies[k + 1].row : in->A->rows;
}

/* After inspect_pieces(), which left the products out. */
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

/* Of all rows. */
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
    const double most   = fmax(products, widest * (double)dense_cols);

    if (most > 0x1p60)
        return hy_fail(
            ctx, HYBRID_UNSUPPORTED,
            "the product has %.3g scalar products or elements, 2^60 is the most", most);
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

/* Sums from the piece's first row on become sums from the first row of all. */
static void sum_piece(hy_profile *p, int64_t begin, int64_t end, const tally *before)
{
    for (int64_t i = begin; i < end; i++)
        p->products[i + 1] += before->products;
}

/* Bounds, where they are not the products, from those. */
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

/* Counts of rows become sums over the rows before. */
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

/* Where no row has more products than there are columns, these are the bound. */
static hybrid_status place_bound(hy_context *ctx, hy_profile *p, int64_t products_max)
{
    if (products_max <= p->out_cols) {
        p->bound = p->products;
        return HYBRID_OK;
    }
    return sums_of_rows(ctx, p->rows, "bounds of rows", &p->bound);
}

/* Products by whoever counts them, where they have been left out. */
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
        .pieces  = hy_min((B ? A->rows + A->nnz : A->rows) / PIECE + 1, MOST_PIECES)};
    hybrid_status status;
    void *memory;

    HY_TRY_ELSE_DONE(alloc_sums(ctx, profile));
    HY_TRY_ELSE_DONE(hy_array(ctx, in.pieces, sizeof(tally), "tallies of rows", &memory));
    in.tallies = memory;
    if (B && !in.later)
        HY_TRY_ELSE_DONE(hy_lengths_note(ctx, B, &in.lengths));
    HY_TRY_ELSE_DONE(
        hy_pool_for_fine(ctx->pool, HY_PLAN, 0, in.pieces, 1, FINE, inspect_pieces, &in));
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
