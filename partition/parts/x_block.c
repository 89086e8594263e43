/* partition/parts/x_block.c - row blocks of an X in a file, and the entries of A for
   them.

   Columns of A ascend within a row, so the entries that a block needs follow, in each row
   of A, those that the blocks before it needed. */
#include "partition/parts/x_block.h"

#include <string.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/threads/pool.h"

enum {
    SHARE = 12,               /* a block takes at most 1 / SHARE of the budget of host
                                 memory */
    MOST_BYTES    = 64 << 20, /* maximum bytes of a block */
    GRANULE_BYTES = 64 << 10, /* maximum bytes of a granule of a row-major X, unless it is
                                 a single row */
    COLUMN_ROWS = 1 << 10,    /* column-major X: target for the rows of a granule, so that
                                 parts of columns are worth a read; fewer if LEAST_GRANULES
                                 do not fit */
    LEAST_GRANULES = 4,       /* a block has room for at least this many granules, unless
                                 they are single rows */
    PIECE_BYTES = 8 << 20,    /* maximum bytes that are read between two checks for
                                 cancellation */
    ENTRIES_GRAIN = 1 << 16,  /* entries of A that a worker looks at together */
    ROWS_GRAIN    = 1 << 13   /* rows of A that a worker looks at together */
};

int64_t hy_x_block_bytes(const hy_context *ctx)
{
    const int64_t cap = hy_meter_cap(&ctx->memory.meter);

    return cap > 0 ? hy_min(MOST_BYTES, cap / SHARE) : MOST_BYTES;
}

static int64_t row_bytes(const hy_x_block *b)
{
    return b->source->cols * (int64_t)hy_value_size(b->source->dense->type);
}

/* Returns the binary logarithm of the number of rows of a granule. */
static int shift_of(const hy_x_block *b)
{
    const int64_t row   = hy_max(1, row_bytes(b));
    const int64_t bytes = hy_min(GRANULE_BYTES, b->bytes / LEAST_GRANULES);
    const int64_t least = b->source->order == HYBRID_COL_MAJOR
                              ? hy_min(COLUMN_ROWS, b->bytes / LEAST_GRANULES / row)
                              : 1;
    const int64_t rows  = hy_max(least, bytes / row);
    int shift           = 0;

    while (shift < 30 && (int64_t)2 << shift <= rows)
        shift++;
    return shift;
}

void hy_x_block_open(const hy_source *source, const hybrid_csr *A, int64_t bytes,
                     hy_x_block *out)
{
    *out = (hy_x_block){.source = source, .all = A, .bytes = bytes, .X = *source->dense};
    out->shift    = shift_of(out);
    out->granules = (source->rows + ((int64_t)1 << out->shift) - 1) >> out->shift;
    hy_background_open(source->ctx, &out->background);
}

void hy_x_block_close(hy_x_block *b)
{
    hy_context *ctx = b->source->ctx;

    hy_background_close(&b->background);
    for (int i = 0; i < 2; i++)
        hy_array_free_reused(ctx, &b->rows[i].own);
    hy_array_free_reused(ctx, &b->touched);
    hy_array_free_reused(ctx, &b->places);
    hy_array_free_reused(ctx, &b->next);
    hy_array_free_reused(ctx, &b->offsets);
    hy_array_free_reused(ctx, &b->entries);
}

/* ---- which rows A touches ---------------------------------------------------------- */

static hybrid_status touch(void *arg, int part, int64_t begin, int64_t end)
{
    const hy_x_block *b = arg;
    const int32_t *col  = hy_cols(b->all);
    char *touched       = b->touched.array;

    (void)part;
    for (int64_t k = begin; k < end; k++)
        if (!__atomic_load_n(touched + (col[k] >> b->shift), __ATOMIC_RELAXED))
            __atomic_store_n(touched + (col[k] >> b->shift), 1, __ATOMIC_RELAXED);
    return HYBRID_OK;
}

static hybrid_status find_touched(hy_x_block *b)
{
    hy_context *ctx    = b->source->ctx;
    const int64_t rows = b->all->rows;

    HY_TRY(hy_array_reuse(ctx, &b->touched, b->granules, "rows of X"));
    HY_TRY(hy_array_reuse(ctx, &b->places, b->granules * 4, "rows of X"));
    HY_TRY(hy_array_reuse(ctx, &b->next, rows * 8, "a part of A"));
    HY_TRY(hy_array_reuse(ctx, &b->offsets, (rows + 1) * 8, "a part of A"));
    if (b->granules > 0)
        memset(b->touched.array, 0, (size_t)b->granules);
    for (int64_t i = 0; i < rows; i++)
        ((int64_t *)b->next.array)[i] = hy_offset(b->all, i);
    return hy_pool_for(ctx->pool, HY_COMPUTE, hy_offset(b->all, 0),
                       hy_offset(b->all, rows), ENTRIES_GRAIN, touch, b);
}

/* ---- reading ----------------------------------------------------------------------- */

static int64_t rows_of_granule(const hy_x_block *b, int64_t granule)
{
    return hy_min((int64_t)1 << b->shift, b->source->rows - (granule << b->shift));
}

/* Chooses the granules of the next block, from granule `begin` on: as many as a block has
   room for. Only touched ones take room, and the first of them is taken in any case. Sets
   `rows` to them, with memory for the touched ones. Reads nothing. */
static hybrid_status choose(const hy_x_block *b, int64_t begin, hy_x_block_rows *rows)
{
    const int64_t bytes = row_bytes(b);
    const char *touched = b->touched.array;
    int64_t g = begin, count = 0;

    for (; g < b->granules; g++) {
        const int64_t more = touched[g] ? rows_of_granule(b, g) : 0;
        if (count > 0 && (count + more) * bytes > b->bytes)
            break;
        count += more;
    }
    rows->begin = begin;
    rows->end   = g;
    rows->X     = *b->source->dense;
    HY_TRY(hy_array_reuse(b->source->ctx, &rows->own, count * bytes, "rows of X"));
    rows->X.rows = count;
    rows->X.ld   = rows->X.order == HYBRID_ROW_MAJOR ? rows->X.cols : count;
    rows->X.data = rows->own.array;
    return HYBRID_OK;
}

/* Reads the rectangle to the block that is being read, whose row `at` is the first row of
   the rectangle. */
static hybrid_status read_piece(const hy_x_block *b, const hy_rect *rect, int64_t at)
{
    const hybrid_dense *X = &b->reading->X;
    const int in_rows     = X->order == HYBRID_ROW_MAJOR;
    const int64_t row = in_rows ? X->ld : 1, col = in_rows ? 1 : X->ld;
    const hy_grid to = {hy_dense_at(X, at * row + rect->col * col), row, col};

    HY_TRY(hy_progress_check(&b->source->ctx->progress));
    return b->source->ops->fill(b->source, rect, &to);
}

/* Reads rows [row, row + count) of X to the block that is being read, from its row `at`
   on. */
static hybrid_status read_run(const hy_x_block *b, int64_t row, int64_t count, int64_t at)
{
    const int64_t size = (int64_t)hy_value_size(b->X.type), cols = b->X.cols;
    const int64_t rows = hy_max(1, PIECE_BYTES / (cols * size));
    const int64_t some = hy_min(cols, PIECE_BYTES / size);

    for (int64_t i = 0; i < count; i += rows)
        for (int64_t j = 0; j < cols; j += some) {
            const hy_rect rect = {row + i, hy_min(rows, count - i), j,
                                  hy_min(some, cols - j)};
            HY_TRY(read_piece(b, &rect, at + i));
        }
    return HYBRID_OK;
}

static hybrid_status read_rows(void *arg)
{
    const hy_x_block *b         = arg;
    const hy_x_block_rows *rows = b->reading;
    const char *touched         = b->touched.array;
    int64_t at                  = 0;

    if (b->X.cols == 0)
        return HYBRID_OK;
    for (int64_t g = rows->begin, end; g < rows->end; g = end + 1) {
        int64_t count = 0;
        for (end = g; end < rows->end && touched[end]; end++)
            count += rows_of_granule(b, end);
        HY_TRY(read_run(b, g << b->shift, count, at));
        at += count;
    }
    return HYBRID_OK;
}

static hybrid_status read_next(hy_x_block *b, int64_t begin)
{
    b->reading = b->reading == b->rows ? b->rows + 1 : b->rows;
    HY_TRY(choose(b, begin, b->reading));
    hy_background_start(&b->background, read_rows, b);
    return HYBRID_OK;
}

/* ---- entries of A ------------------------------------------------------------------ */

/* Returns how many entries of row i, from the next one on, have columns before b->end. */
static int64_t count_entries(const hy_x_block *b, int64_t i)
{
    const int32_t *col  = hy_cols(b->all);
    const int64_t first = ((const int64_t *)b->next.array)[i];
    const int64_t end   = hy_offset(b->all, i + 1);
    int64_t k           = first;

    while (k < end && col[k] < b->end)
        k++;
    return k - first;
}

static hybrid_status count_rows(void *arg, int part, int64_t begin, int64_t end)
{
    const hy_x_block *b = arg;
    int64_t *count      = b->offsets.array;

    (void)part;
    for (int64_t i = begin; i < end; i++)
        count[i] = count_entries(b, i);
    return HYBRID_OK;
}

static hybrid_status take_entries(void *arg, int part, int64_t begin, int64_t end)
{
    const hy_x_block *b   = arg;
    const int64_t *offset = b->offsets.array;
    const size_t size     = hy_value_size(b->all->type);
    const int32_t *place = b->places.array, mask = (1 << b->shift) - 1;
    int64_t *next = b->next.array;

    (void)part;
    for (int64_t i = begin; i < end; i++) {
        const int64_t count = offset[i + 1] - offset[i];
        const int32_t *from = hy_cols(b->all) + next[i];
        int32_t *to         = hy_cols(&b->A) + offset[i];
        if (count == 0)
            continue;
        for (int64_t k = 0; k < count; k++)
            to[k] = place[from[k] >> b->shift] + (from[k] & mask);
        memcpy((char *)b->A.val + (size_t)offset[i] * size,
               (const char *)b->all->val + (size_t)next[i] * size, (size_t)count * size);
        next[i] += count;
    }
    return HYBRID_OK;
}

static void place_granules(const hy_x_block *b, const hy_x_block_rows *rows)
{
    const char *touched = b->touched.array;
    int32_t *place      = b->places.array;
    int64_t at          = 0;

    for (int64_t g = rows->begin; g < rows->end; g++) {
        place[g] = (int32_t)at;
        at += touched[g] ? rows_of_granule(b, g) : 0;
    }
}

/* Makes the block's A from the entries of A whose columns are rows of the block. */
static hybrid_status take_a(hy_x_block *b)
{
    hy_context *ctx    = b->source->ctx;
    const int64_t rows = b->all->rows, size = (int64_t)hy_value_size(b->all->type);
    hybrid_csr *A = &b->A;

    HY_TRY(hy_pool_for(ctx->pool, HY_COMPUTE, 0, rows, ROWS_GRAIN, count_rows, b));
    HY_TRY(hy_prefix_sum(ctx, b->offsets.array, rows));
    const int64_t nnz    = ((const int64_t *)b->offsets.array)[rows];
    const int64_t values = (int64_t)hy_align((size_t)nnz * 4);
    HY_TRY(hy_array_reuse(ctx, &b->entries, values + nnz * size, "a part of A"));
    *A             = *b->all;
    A->cols        = b->X.rows;
    A->nnz         = nnz;
    A->offset_type = HYBRID_I64;
    A->row_ptr     = b->offsets.array;
    A->col         = b->entries.array;
    A->val         = nnz > 0 ? (char *)b->entries.array + values : NULL;
    return hy_pool_for(ctx->pool, HY_COMPUTE, 0, rows, ROWS_GRAIN, take_entries, b);
}

/* ---- blocks in order --------------------------------------------------------------- */

hybrid_status hy_x_block_next(hy_x_block *b, hybrid_report *report)
{
    if (!b->reading) {
        HY_TRY(find_touched(b));
        HY_TRY(read_next(b, 0));
    }
    HY_TRY(hy_background_wait(&b->background));
    const hy_x_block_rows *ready = b->reading;
    b->X                         = ready->X;
    b->begin                     = b->end;
    b->end                       = hy_min(b->source->rows, ready->end << b->shift);
    b->begin_ns                  = b->background.begin_ns;
    b->end_ns                    = b->background.end_ns;
    report->prepare_s += (double)(b->end_ns - b->begin_ns) * 1e-9;
    report->host_bytes += ready->X.rows * row_bytes(b);
    place_granules(b, ready);
    if (ready->end < b->granules)
        HY_TRY(read_next(b, ready->end));
    return take_a(b);
}
