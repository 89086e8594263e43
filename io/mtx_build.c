/* io/mtx_build.c - compressed rows from entries in any order.

   Entries are first distributed to buckets of neighbouring rows, each piece of the input
   knowing where in a bucket its own go; then one worker sorts a bucket by row, counting,
   and each row by column. Both steps keep equal entries in the order of the file, so the
   sums of duplicates do not depend on the number of threads. */
#include "io/mtx.h"

#include <string.h>

#include "base/csr.h"
#include "base/pool.h"
#include "base/results.h"

int64_t hy_build_bucket = 1 << 15;

enum { MAX_BUCKETS = 1024, PIECE_ENTRIES = 1 << 18, RUN = 16 };
enum { BUCKET_ROWS = 1 << 20 }; /* counting and zeroing many empty rows is work, too */

typedef struct builder {
    const hy_entries *in;
    hy_mtx_symmetry symmetry;
    hybrid_type type;
    int64_t rows;
    int shift; /* row >> shift is its bucket */
    int64_t buckets, pieces;
    int64_t *offset;  /* buckets * pieces + 1: where a piece's entries begin */
    hy_entry *loose;  /* by bucket, then in the order of the file */
    hy_entry *sorted; /* by row and column, duplicates summed */
    int64_t *row_ptr; /* rows + 1 */
    hybrid_csr *out;
} builder;

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ---- distribute to buckets ------------------------------------------------------ */

static void choose_buckets(builder *b)
{
    const int64_t wanted = max64(b->in->count / hy_build_bucket, b->rows / BUCKET_ROWS);
    const int64_t limit  = min64(max64(wanted, 1), MAX_BUCKETS);

    b->shift = 0;
    while ((b->rows - 1) >> b->shift >= limit)
        b->shift++;
    b->buckets = b->rows > 0 ? ((b->rows - 1) >> b->shift) + 1 : 0;
    b->pieces  = (b->in->count + PIECE_ENTRIES - 1) / PIECE_ENTRIES;
}

static int is_mirrored(const builder *b, const hy_entry *e)
{
    return b->symmetry != HY_MTX_GENERAL && e->row != e->col;
}

static hybrid_status count_pieces(void *arg, int part, int64_t begin, int64_t end)
{
    const builder *b = arg;
    int64_t count[MAX_BUCKETS];
    (void)part;

    for (int64_t piece = begin; piece < end; piece++) {
        const int64_t stop = min64((piece + 1) * PIECE_ENTRIES, b->in->count);
        memset(count, 0, sizeof count);
        for (int64_t k = piece * PIECE_ENTRIES; k < stop; k++) {
            const hy_entry *e = &b->in->entry[k];
            count[e->row >> b->shift]++;
            if (is_mirrored(b, e))
                count[e->col >> b->shift]++;
        }
        for (int64_t i = 0; i < b->buckets; i++)
            b->offset[i * b->pieces + piece] = count[i];
    }
    return HYBRID_OK;
}

static hybrid_status distribute_pieces(void *arg, int part, int64_t begin, int64_t end)
{
    const builder *b  = arg;
    const double sign = b->symmetry == HY_MTX_SKEW ? -1 : 1;
    int64_t at[MAX_BUCKETS];
    (void)part;

    for (int64_t piece = begin; piece < end; piece++) {
        const int64_t stop = min64((piece + 1) * PIECE_ENTRIES, b->in->count);
        for (int64_t i = 0; i < b->buckets; i++)
            at[i] = b->offset[i * b->pieces + piece];
        for (int64_t k = piece * PIECE_ENTRIES; k < stop; k++) {
            const hy_entry e                  = b->in->entry[k];
            b->loose[at[e.row >> b->shift]++] = e;
            if (is_mirrored(b, &e))
                b->loose[at[e.col >> b->shift]++] =
                    (hy_entry){.row = e.col, .col = e.row, .val = sign * e.val};
        }
    }
    return HYBRID_OK;
}

/* ---- sort a bucket -------------------------------------------------------------- */

static int is_sorted(const hy_entry *e, int64_t n)
{
    for (int64_t i = 1; i < n; i++)
        if (e[i].col < e[i - 1].col)
            return 0;
    return 1;
}

static void insertion_sort(hy_entry *e, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        const hy_entry x = e[i];
        int64_t j        = i;
        for (; j > 0 && e[j - 1].col > x.col; j--)
            e[j] = e[j - 1];
        e[j] = x;
    }
}

/* Merge [0, half) and [half, n) of `from` into `to`, equal ones from the left first. */
static void merge(const hy_entry *from, int64_t half, int64_t n, hy_entry *to)
{
    int64_t i = 0, j = half;

    for (int64_t k = 0; k < n; k++)
        to[k] =
            i < half && (j >= n || from[i].col <= from[j].col) ? from[i++] : from[j++];
}

/* Stable, by column; `spare` has room for n. */
static void sort_row(hy_entry *row, hy_entry *spare, int64_t n)
{
    hy_entry *from = row, *to = spare;

    if (is_sorted(row, n))
        return;
    for (int64_t i = 0; i < n; i += RUN)
        insertion_sort(row + i, min64(RUN, n - i));
    for (int64_t width = RUN; width < n; width *= 2) {
        for (int64_t i = 0; i < n; i += 2 * width)
            merge(from + i, min64(width, n - i), min64(2 * width, n - i), to + i);
        hy_entry *swap = from;
        from           = to;
        to             = swap;
    }
    if (from != row)
        memcpy(row, from, (size_t)n * sizeof *row);
}

/* Copy a sorted row down to `to`, summing duplicates; returns what is left of it. */
static int64_t sum_duplicates(const hy_entry *row, int64_t n, hy_entry *to)
{
    int64_t count = 0;

    for (int64_t i = 0; i < n; i++) {
        if (count > 0 && to[count - 1].col == row[i].col)
            to[count - 1].val += row[i].val;
        else
            to[count++] = row[i];
    }
    return count;
}

/* On return row_ptr holds the length of each row, and the bucket's part of `sorted`
   begins with the rows, one behind the other. row_ptr serves as cursor before that. */
static void sort_bucket(const builder *b, int64_t bucket)
{
    const int64_t first = bucket << b->shift;
    const int64_t last  = min64((bucket + 1) << b->shift, b->rows);
    const int64_t begin = b->offset[bucket * b->pieces];
    const int64_t end   = b->offset[(bucket + 1) * b->pieces];
    int64_t *at         = b->row_ptr;

    memset(at + first, 0, (size_t)(last - first) * sizeof *at);
    for (int64_t k = begin; k < end; k++)
        at[b->loose[k].row]++;
    for (int64_t r = first, next = begin; r < last; r++) {
        const int64_t count = at[r];
        at[r]               = next;
        next += count;
    }
    for (int64_t k = begin; k < end; k++)
        b->sorted[at[b->loose[k].row]++] = b->loose[k];

    hy_entry *to = b->sorted + begin;
    for (int64_t r = first, from = begin; r < last; r++) {
        const int64_t stop = at[r]; /* the cursor has reached the end of the row */
        sort_row(b->sorted + from, b->loose + from, stop - from);
        at[r] = sum_duplicates(b->sorted + from, stop - from, to);
        to += at[r];
        from = stop;
    }
}

static hybrid_status sort_buckets(void *arg, int part, int64_t begin, int64_t end)
{
    (void)part;
    for (int64_t i = begin; i < end; i++)
        sort_bucket(arg, i);
    return HYBRID_OK;
}

/* ---- store ---------------------------------------------------------------------- */

static hybrid_status store_buckets(void *arg, int part, int64_t begin, int64_t end)
{
    const builder *b = arg;
    float *f32       = b->out->val;
    double *f64      = b->out->val;
    (void)part;

    for (int64_t i = begin; i < end; i++) {
        const hy_entry *from = b->sorted + b->offset[i * b->pieces];
        const int64_t stop   = b->row_ptr[min64((i + 1) << b->shift, b->rows)];
        for (int64_t k = b->row_ptr[i << b->shift]; k < stop; k++, from++) {
            b->out->col[k] = from->col;
            if (b->type == HYBRID_F64)
                f64[k] = from->val;
            else
                f32[k] = (float)from->val;
        }
    }
    return HYBRID_OK;
}

static hybrid_status store(hy_context *ctx, const builder *b)
{
    hybrid_csr *out   = b->out;
    const int64_t nnz = b->row_ptr[b->rows];
    void *array;

    out->nnz = nnz;
    HY_TRY(hy_results_array(ctx, nnz, sizeof(int32_t), "columns of a matrix", &array));
    out->col = array;
    HY_TRY(
        hy_results_array(ctx, nnz, hy_value_size(b->type), "values of a matrix", &array));
    out->val = array;
    return hy_pool_for(ctx->pool, HY_COMPUTE, 0, b->buckets, 1, store_buckets, (void *)b);
}

/* ---- all together --------------------------------------------------------------- */

static hybrid_status distribute(hy_context *ctx, builder *b, hy_entries *entries)
{
    void *array;

    choose_buckets(b);
    HY_TRY(hy_array(ctx, b->buckets * b->pieces + 1, 8, "offsets of buckets", &array));
    b->offset = array;
    HY_TRY(hy_pool_for(ctx->pool, HY_COMPUTE, 0, b->pieces, 1, count_pieces, b));
    HY_TRY(hy_prefix_sum(ctx, b->offset, b->buckets * b->pieces));

    const int64_t count = b->offset[b->buckets * b->pieces]; /* + 1 below: never NULL */
    HY_TRY(hy_array(ctx, count + 1, sizeof *b->loose, "entries by bucket", &array));
    b->loose = array;
    HY_TRY(hy_pool_for(ctx->pool, HY_COMPUTE, 0, b->pieces, 1, distribute_pieces, b));
    hy_array_free(ctx, entries->entry);
    *entries = (hy_entries){0};
    HY_TRY(hy_array(ctx, count + 1, sizeof *b->sorted, "entries by row", &array));
    b->sorted = array;
    return HYBRID_OK;
}

hybrid_status hy_mtx_build(hy_context *ctx, const hy_mtx_header *header,
                           hy_entries *entries, hybrid_type type, hybrid_csr *out)
{
    hybrid_csr A = {.rows        = header->rows,
                    .cols        = header->cols,
                    .offset_type = HYBRID_I64,
                    .type        = type};
    builder b    = {.in = entries, .symmetry = header->symmetry, .type = type};
    hybrid_status status;
    void *array;

    b.rows = header->rows;
    b.out  = &A;
    HY_TRY_ELSE_DONE(distribute(ctx, &b, entries));
    HY_TRY_ELSE_DONE(hy_results_array(ctx, A.rows + 1, 8, "offsets of a matrix", &array));
    A.row_ptr = b.row_ptr = array;
    HY_TRY_ELSE_DONE(
        hy_pool_for(ctx->pool, HY_COMPUTE, 0, b.buckets, 1, sort_buckets, &b));
    hy_array_free(ctx, b.loose);
    b.loose = NULL;
    HY_TRY_ELSE_DONE(hy_prefix_sum(ctx, b.row_ptr, A.rows));
    HY_TRY_ELSE_DONE(store(ctx, &b));
    *out = A;
done:
    if (status != HYBRID_OK)
        hy_csr_free(ctx, &A);
    hy_array_free(ctx, b.sorted);
    hy_array_free(ctx, b.loose);
    hy_array_free(ctx, b.offset);
    return status;
}
