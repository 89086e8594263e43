/* io/mtx/mtx_build.c - builds compressed rows from entries in any order.

   Entries are first distributed to buckets of neighbouring rows; each piece of the input
   knows the place of its entries in a bucket. Then one worker sorts a bucket by row, by
   counting, and each row by column, in memory of its own. It stores the bucket at its
   final place if there are no duplicates. If there are, the buckets move together at the
   end. Both steps keep equal entries in the order of the file, so the sums of duplicates
   do not depend on the number of threads. */
#include "io/mtx/mtx.h"

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/memory/pages.h"
#include "base/threads/pool.h"
#include "base/memory/results.h"
#include "io/text/io_sizes.h"

enum { MAX_BUCKETS = 1024, PIECE_ENTRIES = 1 << 18, RUN = 16 };
/* Number of rows that a bucket should have at most: counting and zeroing empty rows takes
   time, too. MAX_BUCKETS may force more rows. */
enum { BUCKET_ROWS = 1 << 20 };

typedef struct entry {
    int32_t row, col;
    double val;
} entry;

/* Memory of one worker to sort a bucket; it grows with the buckets. */
typedef struct room {
    entry *entry;
    int64_t count;
} room;

typedef struct builder {
    hy_context *ctx;
    hy_entries *in;
    hy_mtx_symmetry symmetry;
    hybrid_type type;
    int64_t rows;
    int shift; /* the bucket of a row is row >> shift */
    int64_t buckets, pieces;
    int64_t *offset; /* buckets * pieces + 1 elements: index in `loose` at which the
                        entries of a piece in a bucket start */
    entry *loose;    /* all entries, bucket after bucket; within a bucket in the order of
                        the file */
    room *rooms; /* array with an element for each part of a loop (worker inside it) */
    int64_t *row_ptr; /* rows + 1 elements: ends or lengths of rows, at last the offsets
                         of the result */
    hybrid_csr *out;
} builder;

/* ---- distribute to buckets ------------------------------------------------------ */

static void choose_buckets(builder *b)
{
    const int64_t bucket = hy_io_sizes_of(b->ctx)->bucket;
    const int64_t wanted = hy_max(b->in->count / bucket, b->rows / BUCKET_ROWS);
    const int64_t limit  = hy_min(hy_max(wanted, 1), MAX_BUCKETS);

    b->shift = 0;
    while ((b->rows - 1) >> b->shift >= limit)
        b->shift++;
    b->buckets = b->rows > 0 ? ((b->rows - 1) >> b->shift) + 1 : 0;
    b->pieces  = (b->in->count + PIECE_ENTRIES - 1) / PIECE_ENTRIES;
}

static hybrid_status count_pieces(void *arg, int part, int64_t begin, int64_t end)
{
    const builder *b     = arg;
    const hy_entries *in = b->in;
    const int mirrored   = b->symmetry != HY_MTX_GENERAL;
    int64_t count[MAX_BUCKETS];
    (void)part;

    for (int64_t piece = begin; piece < end; piece++) {
        const int64_t stop = hy_min((piece + 1) * PIECE_ENTRIES, in->count);
        memset(count, 0, sizeof count);
        for (int64_t k = piece * PIECE_ENTRIES; k < stop; k++) {
            count[in->row[k] >> b->shift]++;
            if (mirrored && in->row[k] != in->col[k])
                count[in->col[k] >> b->shift]++;
        }
        for (int64_t i = 0; i < b->buckets; i++)
            b->offset[i * b->pieces + piece] = count[i];
    }
    return HYBRID_OK;
}

static hybrid_status distribute_pieces(void *arg, int part, int64_t begin, int64_t end)
{
    const builder *b     = arg;
    const hy_entries *in = b->in;
    const int mirrored   = b->symmetry != HY_MTX_GENERAL;
    const double sign    = b->symmetry == HY_MTX_SKEW ? -1 : 1;
    int64_t at[MAX_BUCKETS];
    (void)part;

    for (int64_t piece = begin; piece < end; piece++) {
        const int64_t stop = hy_min((piece + 1) * PIECE_ENTRIES, in->count);
        for (int64_t i = 0; i < b->buckets; i++)
            at[i] = b->offset[i * b->pieces + piece];
        for (int64_t k = piece * PIECE_ENTRIES; k < stop; k++) {
            const entry e                     = {in->row[k], in->col[k], in->val[k]};
            b->loose[at[e.row >> b->shift]++] = e;
            if (mirrored && e.row != e.col)
                b->loose[at[e.col >> b->shift]++] = (entry){e.col, e.row, sign * e.val};
        }
    }
    return HYBRID_OK;
}

/* ---- sort a bucket -------------------------------------------------------------- */

static int is_sorted(const entry *e, int64_t n)
{
    for (int64_t i = 1; i < n; i++)
        if (e[i].col < e[i - 1].col)
            return 0;
    return 1;
}

static void insertion_sort(entry *e, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        const entry x = e[i];
        int64_t j     = i;
        for (; j > 0 && e[j - 1].col > x.col; j--)
            e[j] = e[j - 1];
        e[j] = x;
    }
}

/* Merges [0, half) and [half, n) of `from` into `to`; of equal entries the left one comes
   first. */
static void merge(const entry *from, int64_t half, int64_t n, entry *to)
{
    int64_t i = 0, j = half;

    for (int64_t k = 0; k < n; k++)
        to[k] =
            i < half && (j >= n || from[i].col <= from[j].col) ? from[i++] : from[j++];
}

/* Sorts a row by column, stably. `spare` has room for n entries. */
static void sort_row(entry *row, entry *spare, int64_t n)
{
    entry *from = row, *to = spare;

    if (is_sorted(row, n))
        return;
    for (int64_t i = 0; i < n; i += RUN)
        insertion_sort(row + i, hy_min(RUN, n - i));
    for (int64_t width = RUN; width < n; width *= 2) {
        for (int64_t i = 0; i < n; i += 2 * width)
            merge(from + i, hy_min(width, n - i), hy_min(2 * width, n - i), to + i);
        entry *swap = from;
        from        = to;
        to          = swap;
    }
    if (from != row)
        memcpy(row, from, (size_t)n * sizeof *row);
}

/* Stores a sorted row from entry `at` of `out` on, and sums duplicates. Returns the
   number of entries stored. */
static int64_t store_row(const hybrid_csr *out, const entry *row, int64_t n, int64_t at)
{
    int64_t count = at;

    for (int64_t i = 0; i < n; i++, count++) {
        double sum = row[i].val;
        for (; i + 1 < n && row[i + 1].col == row[i].col; i++)
            sum += row[i + 1].val;
        hy_cols(out)[count] = row[i].col;
        hy_value_put(out->type, out->val, count, sum);
    }
    return count - at;
}

/* Sorts the entries of a bucket by row, in the order of the file. On return row_ptr[i] is
   the end of row i in `sorted`. */
static void sort_rows(const builder *b, int64_t bucket, entry *sorted)
{
    const int64_t first = bucket << b->shift;
    const int64_t last  = hy_min((bucket + 1) << b->shift, b->rows);
    const int64_t begin = b->offset[bucket * b->pieces];
    const int64_t end   = b->offset[(bucket + 1) * b->pieces];
    int64_t *at         = b->row_ptr;

    memset(at + first, 0, (size_t)(last - first) * sizeof *at);
    for (int64_t k = begin; k < end; k++)
        at[b->loose[k].row]++;
    for (int64_t r = first, next = 0; r < last; r++) {
        const int64_t count = at[r];
        at[r]               = next;
        next += count;
    }
    for (int64_t k = begin; k < end; k++)
        sorted[at[b->loose[k].row]++] = b->loose[k];
}

/* Builds the rows of a bucket at the start of its part of the result, one after the
   other. On return row_ptr[i] is the length of row i. */
static void build_bucket(const builder *b, int64_t bucket, entry *sorted)
{
    const int64_t last  = hy_min((bucket + 1) << b->shift, b->rows);
    const int64_t begin = b->offset[bucket * b->pieces];
    int64_t to = begin, from = 0;

    sort_rows(b, bucket, sorted);
    for (int64_t r = bucket << b->shift; r < last; r++) {
        const int64_t stop = b->row_ptr[r];
        sort_row(sorted + from, b->loose + begin + from, stop - from);
        b->row_ptr[r] = store_row(b->out, sorted + from, stop - from, to);
        to += b->row_ptr[r];
        from = stop;
    }
}

static hybrid_status enlarge(const builder *b, room *r, int64_t count)
{
    void *array;

    if (count <= r->count)
        return HYBRID_OK;
    hy_array_free(b->ctx, r->entry);
    *r = (room){0};
    HY_TRY(hy_array(b->ctx, count, sizeof *r->entry, "entries of a bucket", &array));
    *r = (room){array, count};
    return HYBRID_OK;
}

static hybrid_status build_buckets(void *arg, int part, int64_t begin, int64_t end)
{
    const builder *b = arg;

    for (int64_t i = begin; i < end; i++) {
        const int64_t entries = b->offset[(i + 1) * b->pieces] - b->offset[i * b->pieces];
        /* at least 1 element, so that the memory is not NULL */
        HY_TRY(enlarge(b, &b->rooms[part], entries > 0 ? entries : 1));
        build_bucket(b, i, b->rooms[part].entry);
    }
    return HYBRID_OK;
}

/* ---- duplicates ----------------------------------------------------------------- */

typedef struct move {
    const builder *b;
    const hybrid_csr *from;
} move;

static hybrid_status move_buckets(void *arg, int part, int64_t begin, int64_t end)
{
    const move *m     = arg;
    const builder *b  = m->b;
    const size_t size = hy_value_size(m->from->type);
    (void)part;

    for (int64_t i = begin; i < end; i++) {
        const int64_t from = b->offset[i * b->pieces];
        const int64_t to   = b->row_ptr[i << b->shift];
        const size_t count =
            (size_t)(b->row_ptr[hy_min((i + 1) << b->shift, b->rows)] - to);
        if (count == 0)
            continue;
        memcpy(hy_cols(b->out) + to, hy_cols(m->from) + from, count * 4);
        memcpy((char *)b->out->val + (size_t)to * size,
               (const char *)m->from->val + (size_t)from * size, count * size);
    }
    return HYBRID_OK;
}

static hybrid_status open_result(builder *b, int64_t nnz)
{
    hybrid_csr *out = b->out;
    out->nnz        = nnz;
    out->col        = NULL;
    out->val        = NULL;
    HY_TRY(hy_results_array(b->ctx, nnz, 4, "columns of a matrix", &out->col));
    return hy_results_array(b->ctx, nnz, hy_value_size(b->type), "values of a matrix",
                            &out->val);
}

/* Moves the buckets, which have become shorter, to a result of the right size. */
static hybrid_status close_gaps(builder *b)
{
    const hybrid_csr from = *b->out;
    const move m          = {b, &from};

    hybrid_status status = open_result(b, b->row_ptr[b->rows]);
    if (status == HYBRID_OK)
        status = hy_pool_for(b->ctx->pool, HY_COMPUTE, 0, b->buckets, 1, move_buckets,
                             (void *)&m);
    hy_results_release(b->ctx, from.col);
    hy_results_release(b->ctx, from.val);
    return status;
}

/* ---- the whole matrix ---------------------------------------------------------- */

void hy_entries_free(hy_context *ctx, hy_entries *entries)
{
    hy_array_free(ctx, entries->row);
    hy_results_release(ctx, entries->col);
    hy_results_release(ctx, entries->val);
    *entries = (hy_entries){0};
}

static hybrid_status distribute(builder *b)
{
    hy_context *ctx = b->ctx;
    void *array;

    choose_buckets(b);
    HY_TRY(hy_array(ctx, b->buckets * b->pieces + 1, 8, "offsets of buckets", &array));
    b->offset = array;
    HY_TRY(hy_pool_for(ctx->pool, HY_COMPUTE, 0, b->pieces, 1, count_pieces, b));
    HY_TRY(hy_prefix_sum(ctx, b->offset, b->buckets * b->pieces));

    /* 1 is added below, so that no array is NULL */
    const int64_t count = b->offset[b->buckets * b->pieces];
    HY_TRY(hy_array(ctx, count + 1, sizeof *b->loose, "entries by bucket", &array));
    b->loose = array;
    hy_pages_wish(array, (size_t)count * sizeof *b->loose);
    HY_TRY(hy_pool_for(ctx->pool, HY_COMPUTE, 0, b->pieces, 1, distribute_pieces, b));
    hy_entries_free(ctx, b->in); /* first, so that the result can use their memory */
    return open_result(b, count);
}

static hybrid_status build(builder *b)
{
    hy_context *ctx   = b->ctx;
    const int threads = hy_pool_threads(ctx->pool);
    void *array;

    HY_TRY(distribute(b));
    HY_TRY(hy_results_array(ctx, b->rows + 1, 8, "offsets of a matrix", &array));
    b->out->row_ptr = b->row_ptr = array;
    HY_TRY(hy_array(ctx, threads, sizeof *b->rooms, "workers' memory", &array));
    b->rooms = array;
    memset(array, 0, (size_t)threads * sizeof *b->rooms);
    HY_TRY(hy_pool_for(ctx->pool, HY_COMPUTE, 0, b->buckets, 1, build_buckets, b));
    HY_TRY(hy_prefix_sum(ctx, b->row_ptr, b->rows));
    return b->row_ptr[b->rows] < b->out->nnz ? close_gaps(b) : HYBRID_OK;
}

hybrid_status hy_mtx_build(hy_context *ctx, const hy_mtx_header *header,
                           hy_entries *entries, hybrid_type type, hybrid_csr *out)
{
    hybrid_csr A = {.rows        = header->rows,
                    .cols        = header->cols,
                    .offset_type = HYBRID_I64,
                    .type        = type,
                    .col_type    = HYBRID_I32,
                    .space       = HYBRID_SPACE_HOST};
    builder b    = {.ctx      = ctx,
                    .in       = entries,
                    .symmetry = header->symmetry,
                    .type     = type,
                    .rows     = header->rows,
                    .out      = &A};

    const hybrid_status status = build(&b);
    if (status == HYBRID_OK)
        *out = A;
    else
        hy_csr_free(ctx, &A);
    for (int i = 0; b.rooms && i < hy_pool_threads(ctx->pool); i++)
        hy_array_free(ctx, b.rooms[i].entry);
    hy_array_free(ctx, b.rooms);
    hy_array_free(ctx, b.loose);
    hy_array_free(ctx, b.offset);
    return status;
}
