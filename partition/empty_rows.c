/* partition/empty_rows.c - rows of Y whose rows of A are empty. */
#include "base/csr.h"
#include "partition/compact.h"

enum { STORE_BYTES = 256 << 10 }; /* of Y that one worker takes at a time, some 0.05 ms */

/* Y = alpha*0 + beta*Y, rounded as what is computed is. */
static void scale(const hy_problem *p, void *y, int64_t count)
{
    const double none = p->alpha * 0.0;

    for (int64_t i = 0; i < count; i++)
        if (p->Y->type == HYBRID_F64)
            ((double *)y)[i] = none + p->beta * ((double *)y)[i];
        else
            ((float *)y)[i] = (float)(none + p->beta * (double)((float *)y)[i]);
}

/* With beta 0 it does not depend on Y: a line full of it. */
typedef union line {
    char bytes[HY_LINE];
    float f32[HY_LINE / 4];
    double f64[HY_LINE / 8];
} line;

static line line_of(const hy_problem *p)
{
    const double none = p->alpha * 0.0;
    line l;

    for (int i = 0; i < HY_LINE / 8 && p->Y->type == HYBRID_F64; i++)
        l.f64[i] = none;
    for (int i = 0; i < HY_LINE / 4 && p->Y->type != HYBRID_F64; i++)
        l.f32[i] = (float)none;
    return l;
}

/* Empty rows of a word. */
typedef struct lines {
    int32_t of[64];
    int64_t count;
} lines;

static lines empty_in(const hy_empty_rows *e, int64_t word)
{
    const int64_t left = e->problem->Y->rows - word * 64;
    uint64_t empty     = ~e->others->bits[word];
    lines l            = {.count = 0};

    if (left < 64)
        empty &= ((uint64_t)1 << left) - 1;
    for (; empty != 0; empty &= empty - 1)
        l.of[l.count++] = (int32_t)(word * 64 + __builtin_ctzll(empty));
    return l;
}

/* Those without a gap between them as one. */
static void set_rows(const hy_problem *p, const line *value, const lines *rows)
{
    const hybrid_dense *Y = p->Y;
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

static void scale_rows(const hy_problem *p, const lines *rows)
{
    for (int64_t i = 0; i < rows->count; i++)
        scale(p, hy_dense_at(p->Y, rows->of[i] * p->Y->ld), p->Y->cols);
}

/* Rows of words [begin, end) of the bits that are set for all others. */
static hybrid_status store_words(void *arg, int part, int64_t begin, int64_t end)
{
    const hy_empty_rows *e = arg;
    const hy_problem *p    = e->problem;
    const line value       = line_of(p);

    (void)part;
    for (int64_t w = begin; w < end; w++) {
        const lines rows = empty_in(e, w);
        if (p->beta != 0)
            scale_rows(p, &rows);
        else
            set_rows(p, &value, &rows);
    }
    return HYBRID_OK;
}

void hy_empty_rows_begin(hy_empty_rows *rows, const hy_problem *problem,
                         const hy_compact *compact)
{
    const hybrid_dense *Y = problem->Y;
    const int64_t word    = 64 * Y->cols * (int64_t)hy_value_size(Y->type);
    const int in_rows     = Y->order == HYBRID_ROW_MAJOR;

    rows->problem = problem;
    rows->others  = &compact->rows;
    hy_pool_begin(&rows->loop, problem->ctx->pool, HY_COMPUTE, 0,
                  in_rows ? rows->others->words : 0, 1 + STORE_BYTES / (1 + word),
                  store_words, rows);
}

hybrid_status hy_empty_rows_end(hy_empty_rows *rows)
{
    return hy_pool_end(&rows->loop);
}
