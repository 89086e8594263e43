/* partition/parts/b_rows.c - the rows of a B in a file that a range of rows of A
   touches. */
#include "partition/parts/b_rows.h"

#include <stdio.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/threads/pool.h"
#include "base/memory/shortage.h"
#include "partition/parts/listed_rows.h"

enum {
    OFFSETS_GRAIN = 1 << 16,
    COLUMNS_GRAIN = 1 << 16,
    ROW_BYTES     = 4 + 8 + 8 /* bytes in memory for each row of B besides its entries:
                                 row number (4), position in the file (8) and offset
                                 (8) */
};

/* ---- entries of B ---------------------------------------------------------------- */

static int64_t entry_bytes(const hy_b_rows *rows)
{
    return 4 + (int64_t)hy_value_size(rows->source->csr->type);
}

/* Reads the entries of the listed rows, and checks them. */
static hybrid_status read_b(hy_b_range *range, const hy_listed_rows *list)
{
    hy_context *ctx      = range->rows->source->ctx;
    hybrid_csr *B        = &range->B;
    const int64_t nnz    = list->offsets[list->count];
    const int64_t values = (int64_t)hy_align((size_t)nnz * 4);
    const int64_t size   = (int64_t)hy_value_size(B->type);

    HY_TRY(hy_array_reuse(ctx, &range->entries, values + nnz * size, "rows of B"));
    B->nnz = nnz;
    B->col = range->entries.array;
    B->val = nnz > 0 ? (char *)range->entries.array + values : NULL;
    if (nnz == 0) /* a B without entries may have no arrays */
        return HYBRID_OK;
    HY_TRY(hy_listed_rows_read(list, B->col, B->val));
    return hy_csr_check_rows(ctx, B, range->rows->source->name, 0, range->touched.rows);
}

/* ---- rows of A ------------------------------------------------------------------- */

typedef struct renumbering {
    const hy_b_range *range;
    const hybrid_csr *A;
    int64_t begin, first; /* first row of A in the range, and index in A's arrays of its
                             first entry */
} renumbering;

static hybrid_status take_offsets(void *arg, int part, int64_t begin, int64_t end)
{
    const renumbering *n = arg;
    int64_t *to          = n->range->A.row_ptr;

    (void)part;
    for (int64_t i = begin; i < end; i++)
        to[i] = hy_offset(n->A, n->begin + i) - n->first;
    return HYBRID_OK;
}

static hybrid_status renumber(void *arg, int part, int64_t begin, int64_t end)
{
    const renumbering *n = arg;

    (void)part;
    hy_renumber(&n->range->touched, hy_cols(n->A) + n->first + begin, end - begin,
                hy_cols(&n->range->A) + begin);
    return HYBRID_OK;
}

/* Makes range->A: rows [begin, end) of A, with columns renumbered to the rows of
   range->B. Offsets and columns are copied; values are the caller's. */
static hybrid_status make_a(hy_b_range *range, const hybrid_csr *A, int64_t begin,
                            int64_t end)
{
    hy_context *ctx     = range->rows->source->ctx;
    hybrid_csr *part    = &range->A;
    const int64_t first = hy_offset(A, begin);
    renumbering n       = {range, A, begin, first};
    const int64_t cols  = (int64_t)hy_align((size_t)(end - begin + 1) * 8);

    *part      = *A;
    part->rows = end - begin;
    part->cols = range->touched.count;
    part->nnz  = hy_offset(A, end) - first;
    if (first > 0)
        part->val = (char *)A->val + (size_t)first * hy_value_size(A->type);
    part->offset_type = HYBRID_I64;
    HY_TRY(hy_array_reuse(ctx, &range->of_a, cols + part->nnz * 4, "rows of A"));
    part->row_ptr = range->of_a.array;
    part->col     = (char *)range->of_a.array + cols;
    HY_TRY(hy_pool_for(ctx->pool, HY_PACK, 0, part->rows + 1, OFFSETS_GRAIN, take_offsets,
                       &n));
    return hy_pool_for(ctx->pool, HY_PACK, 0, part->nnz, COLUMNS_GRAIN, renumber, &n);
}

/* ---- rows of A whose rows of B fit ----------------------------------------------- */

/* Finds the rows of B that rows [begin, end) of A touch, and where their entries lie in
   the file. */
static hybrid_status find_b_rows(hy_b_range *range, const hybrid_csr *A, int64_t begin,
                                 int64_t end, hy_listed_rows *list)
{
    hy_context *ctx = range->rows->source->ctx;
    hybrid_csr *B   = &range->B;

    hy_touched_free(ctx, &range->touched);
    HY_TRY(hy_touched_find(ctx, A, begin, end, &range->touched));
    const int64_t count = range->touched.count;
    HY_TRY(hy_array_reuse(ctx, &range->offsets, (2 * count + 1) * 8,
                          "offsets of rows of B"));
    *B             = *range->rows->source->csr;
    B->rows        = count;
    B->nnz         = 0;
    B->offset_type = HYBRID_I64;
    B->row_ptr     = range->offsets.array;
    *list          = (hy_listed_rows){.source  = range->rows->source,
                                      .rows    = range->touched.rows,
                                      .count   = count,
                                      .at      = (int64_t *)range->offsets.array + count + 1,
                                      .offsets = B->row_ptr};
    return hy_listed_rows_find(list);
}

/* Returns the end of the range of rows of A, from `begin` on, that is tried first. The
   range has at most rows->rows rows, which the last call expected to fit, and at least
   one row if A has any left. Unless it is a single row, its entries are so few that the
   touched rows of B, without their own entries, take at most half of the bytes
   allowed. */
static int64_t expected_end(const hy_b_rows *rows, const hybrid_csr *A, int64_t begin)
{
    const int64_t most = hy_max(rows->bytes / ROW_BYTES / 2, 1);
    int64_t end        = hy_min(A->rows, begin + hy_min(rows->rows, most));

    while (end > begin + 1 && hy_offset(A, end) - hy_offset(A, begin) > most)
        end = begin + hy_max(1, (end - begin) / 2);
    return end;
}

/* Returns how many bytes more the range needs for `nnz` entries in place of its own. */
static int64_t more_bytes(const hy_b_range *range, int64_t nnz)
{
    return nnz * entry_bytes(range->rows) - range->entries.bytes;
}

/* Returns 1 if host memory has room for `nnz` entries in place of those of the range.
   Does not free idle memory for them. */
static int has_room(const hy_b_range *range, int64_t nnz)
{
    return more_bytes(range, nnz) <=
           hy_meter_left(&range->rows->source->ctx->memory.meter);
}

static hybrid_status check_room(const hy_b_range *range, int64_t row, int64_t nnz)
{
    hy_context *ctx       = range->rows->source->ctx;
    const hy_meter *meter = &ctx->memory.meter;
    const int64_t bytes   = nnz * entry_bytes(range->rows);
    char facts[128];

    if (hy_memory_has_room(ctx, more_bytes(range, nnz)))
        return HYBRID_OK;
    snprintf(facts, sizeof facts, "row %lld of A needs %lld rows of B at once",
             (long long)row, (long long)range->touched.count);
    const hy_shortage s = {.memory = "host memory",
                           .what   = "entries of rows of B",
                           .bytes  = bytes,
                           .meter  = meter,
                           .spare  = range->entries.bytes,
                           .facts  = facts,
                           .remedy = hy_memory_remedy(&ctx->memory)};
    return hy_short(ctx, HYBRID_NO_MEMORY, &s);
}

/* Tries fewer and fewer rows of A, from range->begin on, until the rows of B that they
   touch fit the bytes allowed, or a single row of A is left. Sets *fits to 0 if the rows
   of B for that row do not fit. Estimates rows->rows for the next range. */
static hybrid_status find_rows_that_fit(hy_b_rows *rows, hy_b_range *range,
                                        hy_listed_rows *list, int *fits)
{
    const hybrid_csr *A = range->from;

    for (range->end = expected_end(rows, A, range->begin);;) {
        HY_TRY(find_b_rows(range, A, range->begin, range->end, list));
        const int64_t count = range->end - range->begin;
        const int64_t bytes =
            list->count * ROW_BYTES + list->offsets[list->count] * entry_bytes(rows);
        const double part = (double)rows->bytes / (double)hy_max(bytes, 1);
        rows->rows        = hy_max(1, (int64_t)((double)count * part * 7 / 8));
        *fits             = bytes <= (count == 1 ? rows->row_bytes : rows->bytes);
        if (count <= 1 || *fits)
            return HYBRID_OK;
        range->end = range->begin + hy_min(rows->rows, count - 1);
    }
}

/* ---- ranges in order --------------------------------------------------------------- */

static void free_range(hy_context *ctx, hy_b_range *range)
{
    hy_touched_free(ctx, &range->touched);
    hy_array_free_reused(ctx, &range->offsets);
    hy_array_free_reused(ctx, &range->entries);
    hy_array_free_reused(ctx, &range->of_a);
}

/* Gathers the range rows->gathering, from its first row of A on. If the rows of B for
   this row do not fit, or have no room beside the other range, gathers them only if
   may_exceed is 1; otherwise the range ends where it begins. */
static hybrid_status gather(hy_b_rows *rows, int may_exceed)
{
    hy_b_range *range = rows->gathering;
    hy_listed_rows list;
    int fits;

    HY_TRY(find_rows_that_fit(rows, range, &list, &fits));
    const int64_t nnz = list.offsets[list.count];
    const int is_row  = range->end == range->begin + 1;
    if (!may_exceed && (!fits || (is_row && !has_room(range, nnz)))) {
        range->end = range->begin;
        return HYBRID_OK;
    }
    if (is_row)
        HY_TRY(check_room(range, rows->first + range->begin, nnz));
    HY_TRY(read_b(range, &list));
    return make_a(range, range->from, range->begin, range->end);
}

static hybrid_status gather_next(void *arg)
{
    return gather(arg, 0);
}

static hybrid_status gather_alone(void *arg)
{
    return gather(arg, 1);
}

static hy_b_range *other_range(hy_b_rows *rows)
{
    return rows->ranges + (rows->gathering == rows->ranges);
}

/* Returns the maximum bytes of host memory that are in use once the range is gathered,
   which has rows of A from `begin` on. */
static int64_t used_then(const hy_b_rows *rows, const hy_b_range *range,
                         const hybrid_csr *A, int64_t begin)
{
    const hybrid_csr *B = rows->source->csr;
    const int64_t end   = expected_end(rows, A, begin);
    const int64_t of_a =
        (end - begin) * 8 + (hy_offset(A, end) - hy_offset(A, begin)) * 4;
    const int64_t of_b =
        hy_min(rows->bytes, B->rows * ROW_BYTES + B->nnz * entry_bytes(rows));
    const int64_t has = range->offsets.bytes + range->entries.bytes + range->of_a.bytes;

    return hy_meter_used(&rows->source->ctx->memory.meter) + hy_max(0, of_b + of_a - has);
}

/* Starts to gather rows of A from `begin` on. */
static void start(hy_b_rows *rows, const hybrid_csr *A, int64_t first, int64_t begin)
{
    hy_b_range *range = other_range(rows);

    range->rows     = rows;
    range->from     = A;
    range->begin    = begin;
    range->end      = begin;
    rows->first     = first;
    rows->gathering = range;
    rows->used      = used_then(rows, range, A, begin);
    hy_background_start(&rows->background, gather_next, rows);
}

/* Gathers the first row of A of the range, with no other range in memory. */
static hybrid_status put_alone(hy_b_rows *rows)
{
    free_range(rows->source->ctx, other_range(rows));
    hy_background_start(&rows->background, gather_alone, rows);
    return hy_background_wait(&rows->background);
}

static int is_alone(const hy_b_rows *rows)
{
    return rows->gathering->entries.bytes > rows->row_bytes;
}

void hy_b_rows_open(const hy_source *source, int64_t bytes, int64_t row_bytes,
                    hy_b_rows *out)
{
    *out = (hy_b_rows){
        .source = source, .bytes = bytes, .row_bytes = row_bytes, .rows = INT32_MAX};
    hy_background_open(source->ctx, &out->background);
}

void hy_b_rows_close(hy_b_rows *rows)
{
    hy_background_close(&rows->background);
    for (int i = 0; i < 2; i++)
        free_range(rows->source->ctx, rows->ranges + i);
}

hybrid_status hy_b_rows_read(hy_b_rows *rows, const hybrid_csr *A, int64_t first,
                             int64_t begin, int64_t *end)
{
    if (!rows->has_next) {
        if (rows->gathering && is_alone(rows))
            free_range(rows->source->ctx, rows->gathering);
        start(rows, A, first, begin);
    }
    rows->has_next = 0;
    HY_TRY(hy_background_wait(&rows->background));
    const hy_b_range *range = rows->gathering;
    if (range->end == begin && A->rows > begin)
        HY_TRY(put_alone(rows));
    rows->A        = &range->A;
    rows->B        = &range->B;
    rows->begin_ns = rows->background.begin_ns;
    rows->end_ns   = rows->background.end_ns;
    *end           = range->end;
    rows->has_next = range->end < A->rows && !is_alone(rows);
    rows->used     = 0;
    if (rows->has_next)
        start(rows, A, first, range->end);
    return HYBRID_OK;
}
