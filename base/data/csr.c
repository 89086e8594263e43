/* base/data/csr.c - allocates, sums and transposes compressed sparse rows. */
#include "base/data/csr.h"
#include "base/memory/device_results.h"

#include <string.h>

#include "base/threads/pool.h"
#include "base/memory/results.h"
#include "base/memory/shortage.h"

enum { SUM_GRAIN = 1 << 16, SERIAL_BLOCKS = 16 };

/* ---- memory ------------------------------------------------------------------ */

hybrid_status hy_csr_alloc(hy_context *ctx, int64_t rows, int64_t cols, int64_t nnz,
                           hybrid_type type, hybrid_csr *out)
{
    hybrid_csr A         = {.rows        = rows,
                            .cols        = cols,
                            .nnz         = nnz,
                            .offset_type = HYBRID_I64,
                            .type        = type,
                            .col_type    = HYBRID_I32,
                            .space       = HYBRID_SPACE_HOST};
    hybrid_status status = HYBRID_OK;

    if (rows < 0 || rows > INT64_MAX / 16)
        return hy_memory_full(ctx, "row offsets", INT64_MAX, "");
    HY_TRY_ELSE_DONE(hy_results_array(ctx, rows + 1, 8, "row offsets", &A.row_ptr));
    HY_TRY_ELSE_DONE(hy_results_array(ctx, nnz, 4, "column indices", &A.col));
    HY_TRY_ELSE_DONE(hy_results_array(ctx, nnz, hy_value_size(type), "values", &A.val));
    *out = A;
done:
    if (status != HYBRID_OK) {
        hy_results_release(ctx, A.row_ptr);
        hy_results_release(ctx, A.col);
    }
    return status;
}

void hy_csr_free(hy_context *ctx, hybrid_csr *matrix)
{
    void *const arrays[] = {matrix->row_ptr, matrix->col, matrix->val};

    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        if (matrix->space == HYBRID_SPACE_DEVICE)
            hy_device_result_free(ctx, arrays[i]);
        else
            hy_results_release(ctx, arrays[i]);
    memset(matrix, 0, sizeof *matrix);
}

/* ---- prefix sum: sum each block, then add up each block from its start ----------- */

typedef struct summing {
    int64_t *count;
    int64_t *block; /* sum of each block of the array; later the sum of all blocks before
                       it */
    int64_t n;
} summing;

static int64_t block_end(const summing *s, int64_t b)
{
    const int64_t end = (b + 1) * SUM_GRAIN;
    return end < s->n ? end : s->n;
}

static hybrid_status sum_blocks(void *arg, int part, int64_t begin, int64_t end)
{
    const summing *s = arg;

    (void)part;
    for (int64_t b = begin; b < end; b++) {
        int64_t sum = 0;
        for (int64_t i = b * SUM_GRAIN; i < block_end(s, b); i++)
            sum += s->count[i];
        s->block[b] = sum;
    }
    return HYBRID_OK;
}

static int64_t sum_from(int64_t *count, int64_t begin, int64_t end, int64_t sum)
{
    for (int64_t i = begin; i < end; i++) {
        const int64_t c = count[i];
        count[i]        = sum;
        sum += c;
    }
    return sum;
}

static hybrid_status fill_blocks(void *arg, int part, int64_t begin, int64_t end)
{
    const summing *s = arg;

    (void)part;
    for (int64_t b = begin; b < end; b++)
        sum_from(s->count, b * SUM_GRAIN, block_end(s, b), s->block[b]);
    return HYBRID_OK;
}

hybrid_status hy_prefix_sum(hy_context *ctx, int64_t *count, int64_t n)
{
    const int64_t blocks = (n + SUM_GRAIN - 1) / SUM_GRAIN;
    summing s            = {count, NULL, n};
    void *memory;

    if (blocks <= SERIAL_BLOCKS) {
        count[n] = sum_from(count, 0, n, 0);
        return HYBRID_OK;
    }
    HY_TRY(hy_array(ctx, blocks, sizeof(int64_t), "sums of blocks", &memory));
    s.block = memory;
    hybrid_status status =
        hy_pool_for(ctx->pool, HY_COMPUTE, 0, blocks, 1, sum_blocks, &s);
    const int64_t total = sum_from(s.block, 0, blocks, 0);
    if (status == HYBRID_OK)
        status = hy_pool_for(ctx->pool, HY_COMPUTE, 0, blocks, 1, fill_blocks, &s);
    count[n] = total;
    hy_array_free(ctx, memory);
    return status;
}

/* ---- transpose ------------------------------------------------------------------

   The rows of A are cut into bands of equal nnz. Each band counts its entries in each
   column. The sums of these counts over the bands, in order, tell where the entries of a
   band and column start in T, the transpose. Rows of T are therefore in the order of A's
   rows, whatever the timing of threads. There is one band per worker, or fewer, so that
   the number of counts (bands times columns) stays near nnz. */

enum { BANDS = 64, SERIAL_NNZ = 1 << 16, COLUMN_GRAIN = 1 << 14 };

typedef struct transposing {
    const hybrid_csr *A;
    hybrid_csr *T;
    int64_t *next; /* bands x cols elements: first the number of entries of the band in
                      the column, later the position in T of the next such entry */
    int64_t row[BANDS + 1];
    int bands;
} transposing;

int64_t hy_csr_row_at(const hybrid_csr *A, int64_t wanted)
{
    int64_t begin = 0, end = A->rows;

    while (begin < end) {
        const int64_t middle = begin + (end - begin) / 2;
        if (hy_offset(A, middle) < wanted)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

static void cut_bands(transposing *t, int threads)
{
    const hybrid_csr *A = t->A;
    const int64_t most  = A->nnz < SERIAL_NNZ ? 1 : 1 + A->nnz / A->cols;

    t->bands = threads < BANDS ? threads : BANDS;
    if (most < t->bands)
        t->bands = (int)most;
    for (int b = 1; b < t->bands; b++)
        t->row[b] = hy_csr_row_at(A, A->nnz / t->bands * b);
    t->row[0]        = 0;
    t->row[t->bands] = A->rows;
}

static hybrid_status count_bands(void *arg, int part, int64_t begin, int64_t end)
{
    const transposing *t = arg;
    const hybrid_csr *A  = t->A;

    (void)part;
    for (int64_t b = begin; b < end; b++) {
        int64_t *count     = t->next + b * A->cols;
        const int64_t last = hy_offset(A, t->row[b + 1]);
        memset(count, 0, (size_t)A->cols * 8);
        for (int64_t k = hy_offset(A, t->row[b]); k < last; k++)
            count[hy_cols(A)[k]]++;
    }
    return HYBRID_OK;
}

/* For columns [begin, end), adds up the numbers of entries of all bands (ranges of
   rows). */
static hybrid_status sum_bands(void *arg, int part, int64_t begin, int64_t end)
{
    const transposing *t = arg;
    int64_t *sum         = t->T->row_ptr;

    (void)part;
    for (int64_t j = begin; j < end; j++) {
        sum[j] = 0;
        for (int64_t b = 0; b < t->bands; b++)
            sum[j] += t->next[b * t->A->cols + j];
    }
    return HYBRID_OK;
}

/* Computes where each band starts in each row of T. */
static hybrid_status start_bands(void *arg, int part, int64_t begin, int64_t end)
{
    const transposing *t   = arg;
    const int64_t *row_ptr = t->T->row_ptr;

    (void)part;
    for (int64_t j = begin; j < end; j++) {
        int64_t at = row_ptr[j];
        for (int64_t b = 0; b < t->bands; b++) {
            int64_t *next       = &t->next[b * t->A->cols + j];
            const int64_t count = *next;
            *next               = at;
            at += count;
        }
    }
    return HYBRID_OK;
}

static void put_row(const transposing *t, int64_t *next, int64_t i)
{
    const hybrid_csr *A = t->A;
    const int64_t end   = hy_offset(A, i + 1);

    for (int64_t k = hy_offset(A, i); k < end; k++) {
        const int64_t at  = next[hy_cols(A)[k]]++;
        hy_cols(t->T)[at] = (int32_t)i;
        hy_value_copy(A->type, t->T->val, at, A->val, k);
    }
}

static hybrid_status fill_bands(void *arg, int part, int64_t begin, int64_t end)
{
    const transposing *t = arg;

    (void)part;
    for (int64_t b = begin; b < end; b++)
        for (int64_t i = t->row[b]; i < t->row[b + 1]; i++)
            put_row(t, t->next + b * t->A->cols, i);
    return HYBRID_OK;
}

static hybrid_status fill_transpose(hy_context *ctx, transposing *t)
{
    hy_pool *pool      = ctx->pool;
    const int64_t cols = t->A->cols;

    HY_TRY(hy_pool_for(pool, HY_COMPUTE, 0, t->bands, 1, count_bands, t));
    HY_TRY(hy_pool_for(pool, HY_COMPUTE, 0, cols, COLUMN_GRAIN, sum_bands, t));
    HY_TRY(hy_prefix_sum(ctx, t->T->row_ptr, cols));
    HY_TRY(hy_pool_for(pool, HY_COMPUTE, 0, cols, COLUMN_GRAIN, start_bands, t));
    return hy_pool_for(pool, HY_COMPUTE, 0, t->bands, 1, fill_bands, t);
}

hybrid_status hy_csr_transpose(hy_context *ctx, const hybrid_csr *A, hybrid_csr *T)
{
    hybrid_csr out = {0};
    transposing t  = {.A = A, .T = &out};
    void *memory   = NULL;
    hybrid_status status;

    if (A->rows > INT32_MAX)
        return hy_fail(ctx, HYBRID_BAD_MATRIX,
                       "a matrix of %lld rows cannot be transposed, because its "
                       "transpose would have more than 2^31-1 columns",
                       (long long)A->rows);
    cut_bands(&t, hy_pool_threads(ctx->pool));
    HY_TRY_ELSE_DONE(hy_csr_alloc(ctx, A->cols, A->rows, A->nnz, A->type, &out));
    if (A->nnz == 0) {
        memset(out.row_ptr, 0, (size_t)(A->cols + 1) * 8);
    } else {
        HY_TRY_ELSE_DONE(hy_array(ctx, t.bands * A->cols, sizeof(int64_t),
                                  "counts of columns", &memory));
        t.next = memory;
        HY_TRY_ELSE_DONE(fill_transpose(ctx, &t));
    }
    *T = out;
done:
    hy_array_free(ctx, memory);
    if (status != HYBRID_OK)
        hy_csr_free(ctx, &out);
    return status;
}
