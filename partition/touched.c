/* partition/touched.c - which rows of B or X some rows of A touch, numbered anew. */
#include "partition/touched.h"

#include <string.h>

#include "base/csr.h"
#include "base/pool.h"

enum { MARK_ENTRIES = 1 << 16 }; /* that one worker takes at a time */

/* Least and greatest column of the rows: columns ascend in each. */
static void column_range(const hybrid_csr *A, int64_t begin, int64_t end, int64_t *least,
                         int64_t *greatest)
{
    *least    = A->cols;
    *greatest = -1;
    for (int64_t i = begin; i < end; i++) {
        const int64_t first = hy_offset(A, i), last = hy_offset(A, i + 1) - 1;
        if (last < first)
            continue;
        if (A->col[first] < *least)
            *least = A->col[first];
        if (A->col[last] > *greatest)
            *greatest = A->col[last];
    }
}

typedef struct marking {
    const hy_touched *touched;
    const int32_t *col;
} marking;

/* Most bits are set when they are met again: look before writing to a shared word. */
static hybrid_status mark(void *arg, int part, int64_t begin, int64_t end)
{
    const marking *m    = arg;
    const hy_touched *t = m->touched;

    (void)part;
    for (int64_t k = begin; k < end; k++) {
        const int64_t bit   = m->col[k] - t->first;
        const uint64_t mask = (uint64_t)1 << (bit % 64);
        uint64_t *word      = &t->bits[bit / 64];
        if (!(__atomic_load_n(word, __ATOMIC_RELAXED) & mask))
            __atomic_fetch_or(word, mask, __ATOMIC_RELAXED);
    }
    return HYBRID_OK;
}

static void count(hy_touched *t)
{
    for (int64_t w = 0; w < t->words; w++) {
        t->before[w] = (int32_t)t->count;
        t->count += __builtin_popcountll(t->bits[w]);
    }
}

static void list(hy_touched *t)
{
    int64_t next = 0;

    for (int64_t w = 0; w < t->words; w++)
        for (uint64_t bits = t->bits[w]; bits != 0; bits &= bits - 1)
            t->rows[next++] = (int32_t)(t->first + w * 64 + __builtin_ctzll(bits));
}

hybrid_status hy_touched_find(hy_context *ctx, const hybrid_csr *A, int64_t begin,
                              int64_t end, hy_touched *out)
{
    int64_t least, greatest;
    void *array;

    memset(out, 0, sizeof *out);
    column_range(A, begin, end, &least, &greatest);
    if (greatest < least)
        return HYBRID_OK;
    out->first = least / 64 * 64;
    out->words = (greatest - out->first) / 64 + 1;
    HY_TRY(hy_array(ctx, out->words, sizeof *out->bits, "touched rows", &array));
    out->bits = array;
    memset(out->bits, 0, (size_t)out->words * sizeof *out->bits);
    HY_TRY(hy_array(ctx, out->words, sizeof *out->before, "counts of rows", &array));
    out->before       = array;
    const int64_t nnz = hy_offset(A, end) - hy_offset(A, begin);
    marking m         = {out, A->col + hy_offset(A, begin)};
    HY_TRY(hy_pool_for(ctx->pool, HY_PACK, 0, nnz, MARK_ENTRIES, mark, &m));
    count(out);
    HY_TRY(hy_array(ctx, out->count, sizeof *out->rows, "list of touched rows", &array));
    out->rows = array;
    list(out);
    return HYBRID_OK;
}

void hy_touched_free(hy_context *ctx, hy_touched *touched)
{
    hy_array_free(ctx, touched->bits);
    hy_array_free(ctx, touched->before);
    hy_array_free(ctx, touched->rows);
    memset(touched, 0, sizeof *touched);
}
