/* partition/stream/range_counts.c - counts the scalar products of a range of rows. */
#include "partition/stream/range_counts.h"

#include <string.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"

enum {
    BLOCK = 512 /* entries of A that are summed up before their sums are assigned to
                   rows (count.c) */
};

/* Adds the entries [from, to) of a row of A to c->row_max, first and end. */
static void note_row(const hybrid_csr *A, int64_t from, int64_t to, hy_range_counts *c)
{
    c->row_max = hy_max(c->row_max, to - from);
    if (from == to)
        return;
    c->first = hy_min(c->first, hy_cols(A)[from]);
    c->end   = hy_max(c->end, (int64_t)hy_cols(A)[to - 1] + 1);
}

static void note_products(int64_t products, int64_t out_cols, hy_range_counts *c)
{
    c->products_max = hy_max(c->products_max, products);
    c->bound += hy_min(products, out_cols);
}

hy_range_counts hy_count_range(const hybrid_csr *A, const hy_lengths *lengths,
                               int64_t out_cols, int64_t begin, int64_t end)
{
    const int64_t stop = hy_offset(A, end);
    int64_t at = hy_offset(A, begin), sum = 0, before = 0;
    hy_range_counts c = {.first = A->cols};
    int64_t sums[BLOCK + 1]; /* element j: scalar products of the entries of the range
                                before entry j of the block */

    for (int64_t i = begin, n; i < end; at += n) {
        n       = hy_min(stop - at, BLOCK);
        sums[0] = sum;
        sum     = hy_lengths_sums(lengths, hy_cols(A) + at, n, sum, sums + 1);
        for (int64_t to; i < end && (to = hy_offset(A, i + 1)) - at <= n; i++) {
            note_row(A, hy_offset(A, i), to, &c);
            note_products(sums[to - at] - before, out_cols, &c);
            before = sums[to - at];
        }
    }
    c.products = sum;
    return c;
}

hybrid_status hy_count_touched(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B,
                               int64_t begin, int64_t end, int64_t *rows,
                               int64_t *entries)
{
    const int64_t words = A->cols / 64 + 1, stop = hy_offset(A, end);
    uint64_t *bits;
    void *memory;

    HY_TRY(hy_array(ctx, words, sizeof *bits, "marks of touched rows", &memory));
    bits = memory;
    memset(bits, 0, (size_t)words * sizeof *bits);
    *rows = *entries = 0;
    for (int64_t k = hy_offset(A, begin); k < stop; k++) {
        const int64_t col   = hy_cols(A)[k];
        const uint64_t mask = (uint64_t)1 << (col % 64);
        if (bits[col / 64] & mask)
            continue;
        bits[col / 64] |= mask;
        ++*rows;
        *entries += hy_offset(B, col + 1) - hy_offset(B, col);
    }
    hy_array_free(ctx, bits);
    return HYBRID_OK;
}
