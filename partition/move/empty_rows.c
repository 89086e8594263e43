/* partition/move/empty_rows.c - computes rows of Y for empty rows of A. */
#include "partition/move/storing.h"

#include "base/data/value_type.h"

enum { STORE_BYTES = 256 << 10 }; /* bytes of Y that one worker writes at a time */

/* Computes y = alpha*0 + beta*y for `count` elements, rounded like rows that have
   entries. */
#define DEFINE_SCALE(is, T, suffix, ...)                                                 \
    static void scale_##suffix(const hy_update *u, T *y, int64_t count)                  \
    {                                                                                    \
        for (int64_t i = 0; i < count; i++)                                              \
            y[i] = (T)(u->alpha * 0.0 + u->beta * (double)y[i]);                         \
    }

HY_VALUE_TYPES(DEFINE_SCALE)

static void scale(const hy_update *u, void *y, int64_t count)
{
    HY_CALL_BY_TYPE(u->Y->type, scale, u, y, count);
}

/* A cache line filled with alpha*0, which is the value of an empty row of Y if beta is
   0. */
#define MEMBER(is, T, suffix, ...) T suffix[HY_LINE / sizeof(T)];
typedef union line {
    char bytes[HY_LINE];
    HY_VALUE_TYPES(MEMBER)
} line;

static line line_of(const hy_update *u)
{
    const int64_t count = HY_LINE / (int64_t)hy_value_size(u->Y->type);
    line l;

    for (int64_t i = 0; i < count; i++)
        hy_value_put(u->Y->type, l.bytes, i, u->alpha * 0.0);
    return l;
}

/* Indices of the empty rows among the 64 rows of Y that a word of the bitmap stands
   for. */
typedef struct lines {
    int32_t of[64];
    int64_t count;
} lines;

static lines empty_in(const hy_empty_rows *e, int64_t word)
{
    const int64_t left = e->update->Y->rows - word * 64;
    uint64_t empty     = ~e->others->bits[word];
    lines l            = {.count = 0};

    if (left < 64)
        empty &= ((uint64_t)1 << left) - 1;
    for (; empty != 0; empty &= empty - 1)
        l.of[l.count++] = (int32_t)(word * 64 + __builtin_ctzll(empty));
    return l;
}

/* Fills all elements of the rows with the value in `value`. Contiguous rows are stored as
   one range. */
static void set_rows(const hy_update *u, const line *value, const lines *rows)
{
    const hybrid_dense *Y = u->Y;
    const size_t size     = hy_value_size(Y->type);
    const size_t bytes = (size_t)Y->cols * size, step = (size_t)Y->ld * size;
    hy_range ranges[64];
    size_t count = 0;

    for (int64_t i = 0; i < rows->count; i++) {
        const size_t at = (size_t)rows->of[i] * step;
        if (count > 0 && ranges[count - 1].end == at)
            count--;
        else
            ranges[count].begin = at;
        ranges[count++].end = at + bytes;
    }
    hy_fill_past(Y->data, ranges, count, value->bytes);
}

static void scale_rows(const hy_update *u, const lines *rows)
{
    for (int64_t i = 0; i < rows->count; i++)
        scale(u, hy_dense_at(u->Y, rows->of[i] * u->Y->ld), u->Y->cols);
}

/* Stores the empty rows that words [begin, end) of the bitmap stand for: those with a
   clear bit. */
static hybrid_status store_words(void *arg, int part, int64_t begin, int64_t end)
{
    const hy_empty_rows *e = arg;
    const hy_update *u     = e->update;
    const line value       = line_of(u);

    (void)part;
    for (int64_t w = begin; w < end; w++) {
        const lines rows = empty_in(e, w);
        if (u->beta != 0)
            scale_rows(u, &rows);
        else
            set_rows(u, &value, &rows);
    }
    return HYBRID_OK;
}

void hy_empty_rows_begin(hy_empty_rows *rows, hy_pool *pool, const hy_update *update,
                         const hy_touched *others)
{
    const hybrid_dense *Y = update->Y;
    const int64_t word    = 64 * Y->cols * (int64_t)hy_value_size(Y->type);

    rows->update = update;
    rows->others = others;
    hy_pool_begin(&rows->loop, pool, HY_COMPUTE, 0, others->words,
                  1 + STORE_BYTES / (1 + word), store_words, rows);
}

hybrid_status hy_empty_rows_end(hy_empty_rows *rows)
{
    return hy_pool_end(&rows->loop);
}
