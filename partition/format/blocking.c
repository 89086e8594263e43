/* partition/format/blocking.c - visits the r x c blocks of a chunk one after another. */
#include "partition/format/blocking.h"

#include <string.h>

#include "partition/format/gather.h"

enum { PACK_ENTRIES = 1 << 15 }; /* target for the entries of one worker at a time */

hybrid_status hy_blocking_for(const hy_blocking *b, int64_t items, hy_loop_fn fn,
                              void *arg)
{
    const int64_t each = b->job->chunk->features.nnz / (items + 1) + 1;
    return hy_pool_for(b->job->problem->ctx->pool, HY_PACK, 0, items,
                       1 + PACK_ENTRIES / each, fn, arg);
}

int32_t hy_blocking_before(const hy_blocking *b)
{
    return (int32_t)(b->job->chunk->row_begin - b->first * b->shape.rows);
}

int64_t hy_blocking_total(const hy_blocking *b)
{
    int64_t blocks = 0;

    for (int64_t k = 0; k < b->rows; k++)
        blocks += b->count[k];
    return blocks;
}

hybrid_status hy_blocking_too_large(const hy_blocking *b, size_t bytes, size_t room)
{
    const hy_chunk *chunk = b->job->chunk;

    return hy_fail(b->job->problem->ctx, HYBRID_UNSUPPORTED,
                   "%s: rows %lld to %lld take %zu bytes in blocks of %d x %d, and the "
                   "plan has room for %zu: choose other blocks",
                   b->job->variant->name, (long long)chunk->row_begin,
                   (long long)chunk->row_end - 1, bytes, b->shape.rows, b->shape.cols,
                   room);
}

/* ---- walking ----------------------------------------------------------------- */

/* Returns 1 if all rows of the block row are in the chunk and have their entries in the
   same columns, with at least one entry each. */
static int are_same(const hy_block_walk *w)
{
    const int32_t *col = w->b->A->col;
    const int64_t n    = w->end[0] - w->at[0];

    for (int i = 1; i < w->b->shape.rows; i++)
        if (w->end[i] - w->at[i] != n ||
            memcmp(col + w->at[i], col + w->at[0], (size_t)n * sizeof *col) != 0)
            return 0;
    return n > 0;
}

void hy_block_walk_start(const hy_blocking *b, int64_t block_row, hy_block_walk *w)
{
    const hy_chunk *chunk = b->job->chunk;
    const int64_t row     = (b->first + block_row) * b->shape.rows;

    w->b     = b;
    w->at[0] = w->end[0] = 0;
    for (int i = 0; i < b->shape.rows; i++) {
        const int inside = row + i >= chunk->row_begin && row + i < chunk->row_end;
        w->at[i]         = inside ? hy_offset(b->A, row + i) : 0;
        w->end[i]        = inside ? hy_offset(b->A, row + i + 1) : 0;
        w->shift[i]      = w->at[i] - w->at[0];
    }
    w->heads = are_same(w) ? 1 : b->shape.rows;
    for (int i = 0; i < w->heads; i++)
        w->head[i] = w->at[i] < w->end[i] ? hy_block_col(b, w->at[i]) : HY_WALK_END;
}

static hybrid_status count_blocks(void *arg, int part, int64_t begin, int64_t end)
{
    const hy_blocking *b = arg;
    hy_block_walk walk;
    int32_t col;

    (void)part;
    for (int64_t k = begin; k < end; k++) {
        int64_t blocks = 0;
        hy_block_walk_start(b, k, &walk);
        while (hy_block_next(&walk, &col))
            blocks++;
        b->count[k] = blocks;
    }
    return HYBRID_OK;
}

/* ---- storing ----------------------------------------------------------------- */

/* Stores one full row of a block, n entries, with n known to the compiler. Adding 0 turns
   -0, which marks elements without an entry, into 0 and changes no other number. */
#define STORE_ALL(n)                                                                     \
    case n:                                                                              \
        for (int j = 0; j < n; j++)                                                      \
            dst[j * stride] = from[j] + 0;                                               \
        break;

/* Functions that store the rows of a block: its entries, and -0.0 for other elements. */
#define STORE(T)                                                                         \
    static inline void store_all_##T(const T *from, int n, T *dst, int64_t stride)       \
    {                                                                                    \
        switch (n) {                                                                     \
            STORE_ALL(1)                                                                 \
            STORE_ALL(2)                                                                 \
            STORE_ALL(3)                                                                 \
            STORE_ALL(4)                                                                 \
            STORE_ALL(5)                                                                 \
            STORE_ALL(6)                                                                 \
            STORE_ALL(7)                                                                 \
            STORE_ALL(8)                                                                 \
        default:                                                                         \
            break;                                                                       \
        }                                                                                \
    }                                                                                    \
    static void store_##T(const hy_block_walk *w, int32_t col, T *dst, int64_t stride)   \
    {                                                                                    \
        const hy_blocking *b = w->b;                                                     \
        const T *val         = b->A->val;                                                \
        const int rows = b->shape.rows, cols = b->shape.cols;                            \
        for (int i = 0; i < rows; i++, dst += cols * stride) {                           \
            int64_t k;                                                                   \
            const int64_t n = hy_block_entries(w, i, &k), end = k + n;                   \
            if (n == cols) {                                                             \
                store_all_##T(val + k, cols, dst, stride);                               \
                continue;                                                                \
            }                                                                            \
            for (int j = 0; j < cols; j++)                                               \
                dst[j * stride] = (T)-0.0;                                               \
            for (; k < end; k++)                                                         \
                dst[(hy_block_col(b, k) - col) * stride] = val[k] + 0;                   \
        }                                                                                \
    }                                                                                    \
    static void store_none_##T(T *dst, int64_t elements, int64_t stride)                 \
    {                                                                                    \
        for (int64_t e = 0; e < elements; e++)                                           \
            dst[e * stride] = (T)-0.0;                                                   \
    }
STORE(float)
STORE(double)
#undef STORE
#undef STORE_ALL

void hy_block_store(const hy_block_walk *w, int32_t col, void *dst, int64_t stride)
{
    if (w->b->size == 4)
        store_float(w, col, dst, stride);
    else
        store_double(w, col, dst, stride);
}

void hy_block_store_none(const hy_blocking *b, void *dst, int64_t stride)
{
    const int64_t elements = b->shape.rows * b->shape.cols;

    if (b->size == 4)
        store_none_float(dst, elements, stride);
    else
        store_none_double(dst, elements, stride);
}

/* ---- opening ----------------------------------------------------------------- */

static void set_shape(hy_blocking *b, int32_t rows, int32_t cols)
{
    const hy_chunk *chunk = b->job->chunk;

    b->shape = (hy_block_shape){rows, cols};
    b->first = chunk->row_begin / rows;
    b->rows  = (chunk->row_end + rows - 1) / rows - b->first;
}

hybrid_status hy_blocking_single(hy_blocking *b)
{
    const int64_t rows = b->job->chunk->features.rows;
    void *array;

    hy_array_free(b->job->problem->ctx, b->count);
    b->count = NULL;
    set_shape(b, 1, 1);
    HY_TRY(hy_array(b->job->problem->ctx, rows + 1, 8, "blocks of rows", &array));
    b->count = array;
    return hy_blocking_for(b, b->rows, count_blocks, b);
}

hybrid_status hy_blocking_open(const hy_job *job, hy_blocking *out)
{
    const hy_chunk *chunk = job->chunk;
    const hy_features *f  = &chunk->features;
    const hybrid_csr *A   = job->problem->A;
    hy_blocking *b        = out;
    void *array;

    *b = (hy_blocking){
        .job = job, .A = A, .x_rows = A->cols, .size = hy_value_size(A->type)};
    HY_TRY(hy_pack_check(job, 0));
    if (hy_job_gathers(job)) {
        HY_TRY(hy_pack_touched(job, &b->touched));
        b->x_rows = b->touched.count;
    }
    if (f->block_cols > b->x_rows && f->nnz > 0 && !hy_block_may_yield(f))
        return hy_fail(
            job->problem->ctx, HYBRID_UNSUPPORTED,
            "%s: rows %lld to %lld read %lld rows of X, fewer than the columns "
            "of a block of %d x %d: choose other blocks",
            job->variant->name, (long long)chunk->row_begin,
            (long long)chunk->row_end - 1, (long long)b->x_rows, f->block_rows,
            f->block_cols);
    if (f->block_rows < 1 || f->block_cols < 1 || f->block_cols > b->x_rows)
        return hy_blocking_single(b);
    set_shape(b, f->block_rows, f->block_cols);
    HY_TRY(hy_array(job->problem->ctx, b->rows + 1, 8, "blocks of rows", &array));
    b->count = array;
    return hy_blocking_for(b, b->rows, count_blocks, b);
}

void hy_blocking_close(hy_blocking *b)
{
    hy_context *ctx = b->job->problem->ctx;

    hy_touched_free(ctx, &b->touched);
    hy_array_free(ctx, b->count);
    b->count = NULL;
}
