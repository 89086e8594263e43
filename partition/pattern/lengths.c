/* partition/pattern/lengths.c - stores the lengths of rows in 1, 2 or 4 bytes each. */
#include "partition/pattern/lengths.h"

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/threads/pool.h"

enum {
    ROWS = 1 << 12, /* rows that one worker handles at a time, about 2 us */
    FINE = 8        /* one worker is woken for every FINE pieces of ROWS rows */
};

typedef struct noting {
    const hybrid_csr *B;
    hy_lengths *lengths;
    int64_t longest;
} noting;

/* Defines two functions for lengths of the unsigned type `word`. note_*() stores the
   lengths of rows [begin, end), truncated to the type, and returns the longest
   untruncated length; sums_*() adds lengths up. B is passed by value, so that the
   compiler knows that no store changes it. */
#define WORDS(word)                                                                      \
    static int64_t note_##word(const hybrid_csr B, int64_t begin, int64_t end,           \
                               word *length)                                             \
    {                                                                                    \
        int64_t longest = 0, from = hy_offset(&B, begin);                                \
        for (int64_t i = begin; i < end; i++) {                                          \
            const int64_t to = hy_offset(&B, i + 1), own = to - from;                    \
            length[i] = (word)own;                                                       \
            longest   = own > longest ? own : longest;                                   \
            from      = to;                                                              \
        }                                                                                \
        return longest;                                                                  \
    }                                                                                    \
    static int64_t sums_##word(const word *length, const int32_t *col, int64_t n,        \
                               int64_t sum, int64_t *sums)                               \
    {                                                                                    \
        int64_t j = 0;                                                                   \
        for (; j + 4 <= n; j += 4) {                                                     \
            sums[j]     = sum += length[col[j]];                                         \
            sums[j + 1] = sum += length[col[j + 1]];                                     \
            sums[j + 2] = sum += length[col[j + 2]];                                     \
            sums[j + 3] = sum += length[col[j + 3]];                                     \
        }                                                                                \
        for (; j < n; j++)                                                               \
            sums[j] = sum += length[col[j]];                                             \
        return sum;                                                                      \
    }

WORDS(uint8_t)
WORDS(uint16_t)
WORDS(uint32_t)

static hybrid_status note(void *arg, int part, int64_t begin, int64_t end)
{
    noting *n          = arg;
    const int bytes    = n->lengths->bytes;
    const hybrid_csr B = *n->B;
    void *of           = n->lengths->of;

    (void)part;
    hy_raise_to(&n->longest, bytes == 1   ? note_uint8_t(B, begin, end, of)
                             : bytes == 2 ? note_uint16_t(B, begin, end, of)
                                          : note_uint32_t(B, begin, end, of));
    return HYBRID_OK;
}

static hybrid_status note_in(hy_context *ctx, noting *n, int bytes)
{
    n->lengths->bytes = bytes;
    HY_TRY(hy_array(ctx, n->B->rows, (size_t)bytes, "lengths of rows", &n->lengths->of));
    return hy_pool_for_fine(ctx->pool, HY_PLAN, 0, n->B->rows, ROWS, FINE, note, n);
}

/* Stores the lengths of rows in one byte each first, because long rows are rare, and
   finds the longest row in that pass. If its length does not fit a byte, stores all
   lengths again in 2 or 4 bytes. */
hybrid_status hy_lengths_note(hy_context *ctx, const hybrid_csr *B, hy_lengths *out)
{
    noting n = {.B = B, .lengths = out};

    *out = (hy_lengths){.bytes = 1};
    HY_TRY(note_in(ctx, &n, 1));
    out->longest = n.longest;
    if (n.longest <= UINT8_MAX)
        return HYBRID_OK;
    hy_lengths_free(ctx, out);
    return note_in(ctx, &n, n.longest <= UINT16_MAX ? 2 : 4);
}

void hy_lengths_free(hy_context *ctx, hy_lengths *lengths)
{
    hy_array_free(ctx, lengths->of);
    lengths->of = NULL;
}

int64_t hy_lengths_sums(const hy_lengths *lengths, const int32_t *col, int64_t n,
                        int64_t sum, int64_t *sums)
{
    return lengths->bytes == 1   ? sums_uint8_t(lengths->of, col, n, sum, sums)
           : lengths->bytes == 2 ? sums_uint16_t(lengths->of, col, n, sum, sums)
                                 : sums_uint32_t(lengths->of, col, n, sum, sums);
}
