/* partition/pattern/touched.c - finds and numbers the columns, or the rows, of A that
   have entries. */
#include "partition/pattern/touched.h"

#include <string.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/threads/pool.h"
#include "base/memory/results.h"

enum {
    SPAN_ROWS    = 1 << 14, /* rows that one worker scans at a time */
    MARK_ENTRIES = 1 << 16, /* entries for which one worker sets bits at a time */
    WORDS        = 1 << 9,  /* words of the bitmap that one worker processes at a time */
    COUNT_WORDS  = 1 << 16, /* words counted between checks for cancellation */
    OWN_WORDS    = 1 << 17  /* maximum words of a bitmap for which each worker gets a
                               private copy; workers share a longer bitmap */
};

/* Range of columns with entries, inclusive. Updated atomically. */
typedef struct span {
    const hybrid_csr *A;
    int64_t min, max;
} span;

/* Extends the range by the columns of rows [begin, end). Columns ascend within a row, so
   the first and the last entry of each row suffice. */
static hybrid_status span_rows(void *arg, int part, int64_t begin, int64_t end)
{
    span *s             = arg;
    const int32_t *cols = hy_cols(s->A);
    int64_t min = s->A->cols, max = -1;

    (void)part;
    for (int64_t i = begin; i < end; i++) {
        const int64_t first = hy_offset(s->A, i), last = hy_offset(s->A, i + 1) - 1;
        if (last < first)
            continue;
        min = hy_min(min, cols[first]);
        max = hy_max(max, cols[last]);
    }
    hy_lower_to(&s->min, min);
    hy_raise_to(&s->max, max);
    return HYBRID_OK;
}

typedef struct marking {
    const hy_touched *touched;
    const int32_t *col;
    uint64_t *own; /* a private bitmap for each thread of the loop, merged later */
    int parts;
} marking;

/* Marks columns in the bitmap that workers share. Most bits are set already, so a word is
   read before it is written. */
static hybrid_status mark_shared(void *arg, int part, int64_t begin, int64_t end)
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

/* Marks columns in the bitmap of the calling thread. Workers that shared a bitmap would
   wait for each other at every write while most bits are still clear. */
static hybrid_status mark_own(void *arg, int part, int64_t begin, int64_t end)
{
    const marking *m    = arg;
    const int64_t first = m->touched->first;
    uint64_t *bits      = m->own + part * m->touched->words;

    for (int64_t k = begin; k < end; k++) {
        const int64_t bit = m->col[k] - first;
        bits[bit / 64] |= (uint64_t)1 << (bit % 64);
    }
    return HYBRID_OK;
}

static hybrid_status merge_own(void *arg, int part, int64_t begin, int64_t end)
{
    const marking *m    = arg;
    const int64_t words = m->touched->words;

    (void)part;
    for (int k = 0; k < m->parts; k++)
        for (int64_t w = begin; w < end; w++)
            m->touched->bits[w] |= m->own[k * words + w];
    return HYBRID_OK;
}

static hybrid_status mark_all(hy_context *ctx, marking *m, int64_t nnz)
{
    const int64_t words = m->touched->words;
    void *array;

    m->parts = hy_pool_threads(ctx->pool);
    if (words > OWN_WORDS || nnz < words * m->parts)
        return hy_pool_for(ctx->pool, HY_PACK, 0, nnz, MARK_ENTRIES, mark_shared, m);
    HY_TRY(hy_results_array(ctx, words * m->parts, sizeof *m->own,
                            "rows that workers saw touched", &array));
    m->own = array;
    hybrid_status status =
        hy_pool_set(ctx->pool, HY_PACK, array, 0, words * m->parts * 8);
    if (status == HYBRID_OK)
        status = hy_pool_for(ctx->pool, HY_PACK, 0, nnz, MARK_ENTRIES, mark_own, m);
    if (status == HYBRID_OK)
        status = hy_pool_for(ctx->pool, HY_PACK, 0, words, WORDS, merge_own, m);
    hy_results_release(ctx, m->own);
    return status;
}

static hybrid_status count(hy_context *ctx, hy_touched *t)
{
    for (int64_t w = 0; w < t->words; w++) {
        if (w % COUNT_WORDS == 0)
            HY_TRY(hy_progress_check(&ctx->progress));
        t->before[w] = (int32_t)t->count;
        t->count += __builtin_popcountll(t->bits[w]);
    }
    return HYBRID_OK;
}

static hybrid_status list(void *arg, int part, int64_t begin, int64_t end)
{
    const hy_touched *t = arg;

    (void)part;
    for (int64_t w = begin; w < end; w++) {
        int32_t *next = t->rows + t->before[w];
        for (uint64_t bits = t->bits[w]; bits != 0; bits &= bits - 1)
            *next++ = (int32_t)(t->first + w * 64 + __builtin_ctzll(bits));
    }
    return HYBRID_OK;
}

/* Allocates a clear bitmap, and the array `before`, for rows or columns [first, end). */
static hybrid_status open_bits(hy_context *ctx, int64_t first, int64_t end,
                               hy_touched *out)
{
    void *array;

    out->first = first / 64 * 64;
    out->words = (end - out->first + 63) / 64;
    HY_TRY(hy_array(ctx, out->words, sizeof *out->bits, "touched rows", &array));
    out->bits = array;
    HY_TRY(hy_array(ctx, out->words, sizeof *out->before, "counts of rows", &array));
    out->before = array;
    return hy_pool_set(ctx->pool, HY_PACK, out->bits, 0, out->words * 8);
}

hybrid_status hy_touched_list(hy_context *ctx, hy_touched *t)
{
    void *array;

    HY_TRY(hy_array(ctx, t->count, sizeof *t->rows, "list of touched rows", &array));
    t->rows = array;
    return hy_pool_for(ctx->pool, HY_PACK, 0, t->words, WORDS, list, t);
}

hybrid_status hy_touched_find(hy_context *ctx, const hybrid_csr *A, int64_t begin,
                              int64_t end, hy_touched *out)
{
    span s = {A, A->cols, -1};

    memset(out, 0, sizeof *out);
    HY_TRY(hy_pool_for(ctx->pool, HY_PACK, begin, end, SPAN_ROWS, span_rows, &s));
    if (s.max < s.min)
        return HYBRID_OK;
    HY_TRY(open_bits(ctx, s.min, s.max + 1, out));
    const int64_t nnz = hy_offset(A, end) - hy_offset(A, begin);
    marking m         = {.touched = out, .col = hy_cols(A) + hy_offset(A, begin)};
    HY_TRY(hy_pool_for(ctx->pool, HY_PACK, 0, nnz, MARK_ENTRIES, mark_shared, &m));
    HY_TRY(count(ctx, out));
    return hy_touched_list(ctx, out);
}

hybrid_status hy_touched_cols(hy_context *ctx, const hybrid_csr *A, hy_touched *out)
{
    memset(out, 0, sizeof *out);
    HY_TRY(open_bits(ctx, 0, A->cols, out));
    marking m = {.touched = out, .col = A->col};
    HY_TRY(mark_all(ctx, &m, A->nnz));
    return count(ctx, out);
}

typedef struct row_marking {
    const hy_touched *touched;
    const hybrid_csr *A;
} row_marking;

static hybrid_status mark_rows(void *arg, int part, int64_t begin, int64_t end)
{
    const row_marking *m = arg;

    (void)part;
    for (int64_t w = begin; w < end; w++) {
        const int64_t row = w * 64, left = m->A->rows - row;
        uint64_t bits = 0;
        for (int64_t i = 0; i < left && i < 64; i++) {
            const int any = hy_offset(m->A, row + i) < hy_offset(m->A, row + i + 1);
            bits |= (uint64_t)any << i;
        }
        m->touched->bits[w] = bits;
    }
    return HYBRID_OK;
}

hybrid_status hy_touched_rows(hy_context *ctx, const hybrid_csr *A, hy_touched *out)
{
    row_marking m = {out, A};

    memset(out, 0, sizeof *out);
    HY_TRY(open_bits(ctx, 0, A->rows, out));
    HY_TRY(hy_pool_for(ctx->pool, HY_PLAN, 0, out->words, WORDS, mark_rows, &m));
    return count(ctx, out);
}

void hy_touched_free(hy_context *ctx, hy_touched *touched)
{
    hy_array_free(ctx, touched->bits);
    hy_array_free(ctx, touched->before);
    hy_array_free(ctx, touched->rows);
    memset(touched, 0, sizeof *touched);
}

/* ---- renumbering ---------------------------------------------------------------- */

static inline __attribute__((always_inline)) void
renumber(const hy_touched *t, const int32_t *col, int64_t count, int32_t *out)
{
    for (int64_t k = 0; k < count; k++)
        out[k] = hy_renumbered(t, col[k]);
}

#if defined(__x86_64__)
/* With the target popcnt the compiler counts the bits of a word with one instruction;
   without it, with a call of a function. */
__attribute__((target("popcnt"))) static void
renumber_popcnt(const hy_touched *t, const int32_t *col, int64_t count, int32_t *out)
{
    renumber(t, col, count, out);
}
#endif

void hy_renumber(const hy_touched *t, const int32_t *col, int64_t count, int32_t *out)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("popcnt")) {
        renumber_popcnt(t, col, count, out);
        return;
    }
#endif
    renumber(t, col, count, out);
}
