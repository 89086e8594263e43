/* io/sort/records.c - sorts records on the pool, stably.

   Records are first distributed to buckets by the upper bits of their keys. Each piece of
   the input knows the place of its records in a bucket. Then a worker sorts each bucket
   by the lower bits, digit by digit from the lowest digit (radix sort). Records that
   ascend already are left alone.

   Most keys have fewer bits than 64. A key is therefore sorted by its rank: the key
   without the column bits that are 0 in all keys, less the least such number. */
#include "io/sort/records.h"

#include <string.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/threads/pool.h"
#include "io/text/io_sizes.h"

enum {
    BUCKET_BITS    = 10, /* maximum number of key bits that select a bucket */
    BUCKET_RECORDS = 8,  /* log2 of the number of records that a bucket should have at
                            least */
    DIGIT_BITS  = 11,    /* maximum bits of a digit of the radix sort */
    MOST_DIGITS = 7,     /* maximum number of digits of a rank; odd, and MOST_DIGITS *
                            DIGIT_BITS >= 64 */
    FEW = 32             /* maximum number of records that are sorted by insertion */
};
_Static_assert(MOST_DIGITS *DIGIT_BITS >= 64, "digits cover a key");

/* Range and order of the keys in one piece of the input. */
typedef struct survey {
    uint64_t least, most;
    uint64_t bits; /* bits that are set in any key */
    int descends;  /* 1: a key is less than the key before it */
} survey;

typedef struct sorter {
    hy_record *records, *spare;
    int64_t count, each, pieces; /* each: number of records in a piece */
    survey *surveys; /* array: for each piece of the input, the range of its keys */
    int low, width;  /* in bits [low, low + width) of a key lie the column bits that are
                        not 0 in all keys */
    uint64_t least;  /* number that is subtracted to make ranks begin at 0 */
    int shift;       /* the bucket of a rank is rank >> shift */
    int64_t buckets;
    int64_t *offset; /* buckets * pieces + 1 elements: index in `spare` of the first
                        record of a piece in a bucket */
} sorter;

static int64_t piece_end(const sorter *s, int64_t piece)
{
    return hy_min((piece + 1) * s->each, s->count);
}

static uint64_t pressed(const sorter *s, uint64_t key)
{
    return key >> 32 << s->width | (uint32_t)key >> s->low;
}

static inline uint64_t rank_of(const sorter *s, uint64_t key)
{
    return pressed(s, key) - s->least;
}

/* ---- survey ------------------------------------------------------------------------ */

static hybrid_status survey_pieces(void *arg, int part, int64_t begin, int64_t end)
{
    const sorter *s = arg;
    (void)part;

    for (int64_t piece = begin; piece < end; piece++) {
        int64_t k       = piece * s->each;
        uint64_t before = s->records[k > 0 ? k - 1 : 0].key;
        survey found    = {UINT64_MAX, 0, 0, 0};
        for (; k < piece_end(s, piece); k++) {
            const uint64_t key = s->records[k].key;
            found.descends |= key < before;
            found.least = key < found.least ? key : found.least;
            found.most  = key > found.most ? key : found.most;
            found.bits |= key;
            before = key;
        }
        s->surveys[piece] = found;
    }
    return HYBRID_OK;
}

static int bits_of(uint64_t x)
{
    return x ? 64 - __builtin_clzll(x) : 0;
}

/* Determines the rank of a key and the bucket of a rank: sets s->low, width, least, shift
   and buckets. Returns 0 if the records ascend already. */
static int choose_buckets(sorter *s)
{
    survey all = {UINT64_MAX, 0, 0, 0};

    for (int64_t i = 0; i < s->pieces; i++) {
        all.descends |= s->surveys[i].descends;
        all.least = s->surveys[i].least < all.least ? s->surveys[i].least : all.least;
        all.most  = s->surveys[i].most > all.most ? s->surveys[i].most : all.most;
        all.bits |= s->surveys[i].bits;
    }
    const uint32_t cols = (uint32_t)all.bits;
    s->low              = cols ? __builtin_ctz(cols) : 0;
    s->width            = bits_of(cols) - s->low;
    s->least            = pressed(s, all.least);
    const uint64_t most = rank_of(s, all.most);
    const int bits      = bits_of(most);
    const int wanted    = bits_of((uint64_t)s->count) - BUCKET_RECORDS;
    const int chosen    = (int)hy_min(hy_max(wanted, 1), BUCKET_BITS);
    s->shift            = bits > chosen ? bits - chosen : 0;
    s->buckets          = (int64_t)(most >> s->shift) + 1;
    return all.descends;
}

/* ---- distribute to buckets --------------------------------------------------------- */

static int64_t bucket_of(const sorter *s, uint64_t key)
{
    return (int64_t)(rank_of(s, key) >> s->shift);
}

static hybrid_status count_pieces(void *arg, int part, int64_t begin, int64_t end)
{
    const sorter *s = arg;
    int64_t count[1 << BUCKET_BITS];
    (void)part;

    for (int64_t piece = begin; piece < end; piece++) {
        memset(count, 0, (size_t)s->buckets * sizeof *count);
        for (int64_t k = piece * s->each; k < piece_end(s, piece); k++)
            count[bucket_of(s, s->records[k].key)]++;
        for (int64_t i = 0; i < s->buckets; i++)
            s->offset[i * s->pieces + piece] = count[i];
    }
    return HYBRID_OK;
}

static hybrid_status distribute_pieces(void *arg, int part, int64_t begin, int64_t end)
{
    const sorter *s = arg;
    int64_t at[1 << BUCKET_BITS];
    (void)part;

    for (int64_t piece = begin; piece < end; piece++) {
        for (int64_t i = 0; i < s->buckets; i++)
            at[i] = s->offset[i * s->pieces + piece];
        for (int64_t k = piece * s->each; k < piece_end(s, piece); k++)
            s->spare[at[bucket_of(s, s->records[k].key)]++] = s->records[k];
    }
    return HYBRID_OK;
}

/* ---- sort a bucket ----------------------------------------------------------------- */

static void sort_few(const hy_record *from, int64_t count, hy_record *to)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t j = i;
        for (; j > 0 && to[j - 1].key > from[i].key; j--)
            to[j] = to[j - 1];
        to[j] = from[i];
    }
}

/* Returns the number of digits into which `bits` bits are cut. It is odd, so that the
   last pass stores to `records`. */
static int digits_of(int bits)
{
    int digits = 1;

    while (digits * DIGIT_BITS < bits)
        digits += 2;
    return digits;
}

/* Sorts a bucket from `from` to `to` by the lower s->shift bits. `from` is
   overwritten. */
static void sort_digits(const sorter *s, hy_record *from, int64_t count, hy_record *to)
{
    const int digits    = digits_of(s->shift);
    const int width     = (s->shift + digits - 1) / digits;
    const uint64_t mask = ((uint64_t)1 << width) - 1;
    uint32_t at[MOST_DIGITS][1 << DIGIT_BITS];

    for (int d = 0; d < digits; d++)
        memset(at[d], 0, (size_t)(mask + 1) * sizeof at[d][0]);
    for (int64_t k = 0; k < count; k++)
        for (int d = 0; d < digits; d++)
            at[d][rank_of(s, from[k].key) >> (d * width) & mask]++;
    for (int d = 0; d < digits; d++) {
        for (uint32_t i = 0, next = 0; i <= mask; i++) {
            const uint32_t equal = at[d][i];
            at[d][i]             = next;
            next += equal;
        }
        for (int64_t k = 0; k < count; k++)
            to[at[d][rank_of(s, from[k].key) >> (d * width) & mask]++] = from[k];
        hy_record *swap = from;
        from            = to;
        to              = swap;
    }
}

static hybrid_status sort_buckets(void *arg, int part, int64_t begin, int64_t end)
{
    const sorter *s = arg;
    (void)part;

    for (int64_t i = begin; i < end; i++) {
        const int64_t first = s->offset[i * s->pieces];
        const int64_t count = s->offset[(i + 1) * s->pieces] - first;
        if (count <= FEW)
            sort_few(s->spare + first, count, s->records + first);
        else if (s->shift == 0)
            memcpy(s->records + first, s->spare + first,
                   (size_t)count * sizeof *s->records);
        else
            sort_digits(s, s->spare + first, count, s->records + first);
    }
    return HYBRID_OK;
}

/* ---- all records ------------------------------------------------------------------- */

static hybrid_status sort(hy_context *ctx, sorter *s)
{
    void *array;

    HY_TRY(hy_array(ctx, s->pieces, sizeof *s->surveys, "keys of entries", &array));
    s->surveys = array;
    HY_TRY(hy_pool_for(ctx->pool, HY_COMPUTE, 0, s->pieces, 1, survey_pieces, s));
    if (!choose_buckets(s))
        return HYBRID_OK;
    HY_TRY(hy_array(ctx, s->buckets * s->pieces + 1, sizeof *s->offset,
                    "offsets of buckets", &array));
    s->offset = array;
    HY_TRY(hy_pool_for(ctx->pool, HY_COMPUTE, 0, s->pieces, 1, count_pieces, s));
    HY_TRY(hy_prefix_sum(ctx, s->offset, s->buckets * s->pieces));
    HY_TRY(hy_pool_for(ctx->pool, HY_COMPUTE, 0, s->pieces, 1, distribute_pieces, s));
    return hy_pool_for(ctx->pool, HY_COMPUTE, 0, s->buckets, 1, sort_buckets, s);
}

int hy_records_alike(const hy_record *records, int64_t count, double value)
{
    uint64_t wanted, own;

    memcpy(&wanted, &value, sizeof wanted);
    for (int64_t k = 0; k < count; k++) {
        memcpy(&own, &records[k].value, sizeof own);
        if (own != wanted)
            return 0;
    }
    return 1;
}

hybrid_status hy_records_sort(hy_context *ctx, hy_record *records, hy_record *spare,
                              int64_t count)
{
    const int64_t each = hy_io_sizes_of(ctx)->records_piece;
    sorter s           = {.records = records,
                          .spare   = spare,
                          .count   = count,
                          .each    = each,
                          .pieces  = hy_pieces_of(count, each)};

    const hybrid_status status = sort(ctx, &s);
    hy_array_free(ctx, s.offset);
    hy_array_free(ctx, s.surveys);
    return status;
}
