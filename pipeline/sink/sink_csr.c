/* pipeline/sink/sink_csr.c - stores a result in CSR. */
#include "pipeline/sink/sink_csr.h"

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "pipeline/sink/indices.h"

enum { STORE_ENTRIES = 1 << 17, STORE_ROWS = 1 << 14 };

static const hy_csr_sink *csr_of(const hy_sink *sink)
{
    return (const hy_csr_sink *)sink;
}

/* ---- memory ---------------------------------------------------------------- */

/* Makes room in C for `count` entries, those of its first `rows` rows. Fails if memory is
   short, or if 32-bit offsets were asked for and cannot count the entries. */
static hybrid_status use_entries(hy_csr_sink *csr, int64_t rows, int64_t count)
{
    hy_context *ctx = csr->sink.ctx;

    if (csr->offset_type == HYBRID_I32 && count > csr->index_max)
        return hy_fail(
            ctx, HYBRID_UNSUPPORTED,
            "rows 0 to %lld of C have %lld entries: 32-bit offsets, which were asked "
            "for, go to %lld; ask for HYBRID_I64 or HYBRID_INDEX_AUTO",
            (long long)rows - 1, (long long)count, (long long)csr->index_max);
    HY_TRY(hy_results_use(ctx, &csr->col, (size_t)count * csr->sink.col_bytes));
    return hy_results_use(ctx, &csr->val, (size_t)count * hy_value_size(csr->type));
}

/* Sets the size of C that error sentences name, for max(expected, total) entries. */
static void expect(hy_csr_sink *csr, int64_t expected)
{
    const size_t each    = csr->sink.col_bytes + hy_value_size(csr->type);
    const size_t entries = (size_t)hy_max(expected, csr->total);
    const size_t total =
        (size_t)(csr->rows + 1) * csr->sink.offset_bytes + entries * each;
    hy_span *spans[] = {&csr->row_ptr, &csr->col, &csr->val};

    for (int i = 0; i < 3; i++) {
        spans[i]->what   = csr->known ? "C" : "C, whose size is estimated";
        spans[i]->total  = total;
        spans[i]->remedy = csr->remedy;
    }
}

static hybrid_status copy_known(void *arg, int part, int64_t begin, int64_t end)
{
    const hy_csr_sink *csr = arg;

    (void)part;
    hy_offsets_put(csr->offset_type, csr->row_ptr.ptr, begin, csr->known + begin,
                   end - begin, 0);
    return HYBRID_OK;
}

/* Fills the offsets of a result whose size is known, and makes room for its entries. */
static hybrid_status fill_known(hy_csr_sink *csr)
{
    HY_TRY(use_entries(csr, csr->rows, csr->known[csr->rows]));
    return hy_pool_for(csr->sink.ctx->pool, HY_PLACE, 0, csr->rows + 1, STORE_ROWS,
                       copy_known, csr);
}

static hybrid_status reserve_arrays(hy_csr_sink *csr, int64_t bound, int64_t expected)
{
    hy_context *ctx      = csr->sink.ctx;
    const size_t offsets = (size_t)(csr->rows + 1) * csr->sink.offset_bytes;
    const size_t size    = hy_value_size(csr->type);
    const int64_t zero   = 0;

    HY_TRY(hy_results_reserve(ctx, offsets, "C", &csr->row_ptr));
    HY_TRY(hy_results_reserve(ctx, (size_t)bound * csr->sink.col_bytes, "C", &csr->col));
    HY_TRY(hy_results_reserve(ctx, (size_t)bound * size, "C", &csr->val));
    expect(csr, expected);
    HY_TRY(hy_results_use(ctx, &csr->row_ptr, offsets));
    hy_offsets_put(csr->offset_type, csr->row_ptr.ptr, 0, &zero, 1, 0);
    return csr->known ? fill_known(csr) : HYBRID_OK;
}

static void release(hy_csr_sink *csr)
{
    hy_span *spans[] = {&csr->row_ptr, &csr->col, &csr->val};
    for (int i = 0; i < 3; i++) {
        hy_results_release(csr->sink.ctx, spans[i]->ptr);
        *spans[i] = (hy_span){0};
    }
}

/* ---- places ---------------------------------------------------------------- */

static hybrid_status reserve(hy_sink *sink, hy_part *part)
{
    hy_csr_sink *csr      = (hy_csr_sink *)sink;
    const hy_chunk *chunk = part->chunk;
    const int64_t begin   = csr->first_row + chunk->row_begin;
    const int64_t end     = csr->first_row + chunk->row_end;
    const int64_t *known  = csr->known;

    if (!known && begin != csr->next_row)
        return hy_fail(sink->ctx, HYBRID_BAD_STATE,
                       "internal error, please report it: chunk %lld ends out of order",
                       (long long)chunk->id);
    part->nnz = known ? known[end] - known[begin] : part->counted;
    if (!known)
        HY_TRY(use_entries(csr, end, csr->sink.nnz + part->nnz));
    part->offset = known ? known[begin] : csr->sink.nnz;
    if (csr->home == HY_HOMES_DIFFER)
        hy_prefault_place(&csr->prefault, part->offset, part->offset + part->nnz,
                          part->home);
    csr->sink.nnz += part->nnz;
    csr->reserved += end - begin;
    csr->next_row = end;
    return HYBRID_OK;
}

/* Returns the description of a copy of `count` elements from `from` to element `first` of
   a span. */
static hy_landing landing(const hy_span *span, int64_t first, int64_t count, size_t size,
                          const void *from)
{
    const size_t bytes = (size_t)count * size;

    return (hy_landing){.rows  = {.dst       = span->ptr + (size_t)first * size,
                                  .src       = from,
                                  .dst_pitch = bytes,
                                  .src_pitch = bytes,
                                  .bytes     = bytes,
                                  .rows      = 1},
                        .base  = span->ptr,
                        .piece = span->piece};
}

/* Returns copies of columns and values if their place in C is pinned and columns have 32
   bits, else none. Workers store the offsets in any case. */
static hy_direct direct(const hy_sink *sink, const hy_part *part)
{
    const hy_csr_sink *csr = csr_of(sink);
    const size_t size      = hy_value_size(csr->type);
    const size_t begin = (size_t)part->offset, end = begin + (size_t)part->nnz;
    const int pinned = csr->col_type == HYBRID_I32 && end > begin &&
                       hy_results_pinned(&csr->col, begin * 4, end * 4) &&
                       hy_results_pinned(&csr->val, begin * size, end * size);

    if (!pinned)
        return (hy_direct){.count = 0};
    return (hy_direct){
        .to    = {landing(&csr->col, part->offset, part->nnz, 4, part->rows.col),
                  landing(&csr->val, part->offset, part->nnz, size, part->rows.val)},
        .count = 2};
}

/* ---- storing --------------------------------------------------------------- */

typedef struct storing {
    const hy_csr_sink *csr;
    const hy_part *part;
} storing;

static hybrid_status store_row_ptr(void *arg, int part, int64_t begin, int64_t end)
{
    const storing *s       = arg;
    const hy_csr_sink *csr = s->csr;
    const int64_t to       = csr->first_row + s->part->chunk->row_begin + begin + 1;

    (void)part;
    hy_offsets_put(csr->offset_type, csr->row_ptr.ptr, to,
                   s->part->rows.row_ptr + begin + 1, end - begin, s->part->offset);
    return HYBRID_OK;
}

/* Stores entries [from, from + count) of the part, which begin at index `at` of its
   arrays. */
static void store_run(const storing *s, int64_t from, int64_t at, int64_t count)
{
    const size_t size = hy_value_size(s->csr->type);
    const int64_t to  = s->part->offset + from;

    if (count == 0) /* a result without entries may have no arrays */
        return;
    hy_columns_put(s->csr->col_type, s->csr->col.ptr, to, s->part->rows.col + at, count);
    hy_copy_past(s->csr->val.ptr + (size_t)to * size,
                 (const char *)s->part->rows.val + (size_t)at * size,
                 (size_t)count * size);
}

static hybrid_status store_entries(void *arg, int part, int64_t begin, int64_t end)
{
    const storing *s = arg;

    (void)part;
    store_run(s, s->part->first + begin, begin, end - begin);
    return HYBRID_OK;
}

/* Stores rows with gaps between them, and their offsets. Rows that follow without a gap
   are copied together. */
static hybrid_status store_rows(void *arg, int part, int64_t begin, int64_t end)
{
    const storing *s       = arg;
    const int64_t *row_ptr = s->part->rows.row_ptr;
    const int64_t *row_at  = s->part->rows.row_at;
    int64_t first          = begin;

    HY_TRY(store_row_ptr(arg, part, begin, end));
    for (int64_t i = begin; i < end; i++) {
        const int64_t at_end = row_at[i] + row_ptr[i + 1] - row_ptr[i];
        if (i + 1 < end && row_at[i + 1] == at_end)
            continue;
        store_run(s, row_ptr[first], row_at[first], row_ptr[i + 1] - row_ptr[first]);
        first = i + 1;
    }
    return HYBRID_OK;
}

/* Fails unless the part has as many entries as the known offsets say. */
static hybrid_status check_count(const hy_sink *sink, const hy_part *part)
{
    const hy_chunk *chunk = part->chunk;

    if (part->counted == part->nnz)
        return HYBRID_OK;
    return hy_fail(
        sink->ctx, HYBRID_BAD_STATE,
        "the pattern of A or B changed after the plan was made: rows %lld to %lld of C "
        "have %lld entries, and %lld in the first run; make a new plan",
        (long long)chunk->row_begin, (long long)chunk->row_end - 1,
        (long long)part->counted, (long long)part->nnz);
}

/* Stores the offsets of the part, and checks the number of its entries. Leaves out
   offsets that are known, and those of rows with gaps, which store_rows() stores. */
static hybrid_status store_front(storing *s)
{
    const hy_sink *sink = &s->csr->sink;
    const int64_t rows  = s->part->chunk->row_end - s->part->chunk->row_begin;

    HY_TRY(check_count(sink, s->part));
    if (!sink->counts || s->part->rows.row_at)
        return HYBRID_OK;
    return hy_pool_for(sink->ctx->pool, HY_PLACE, 0, rows, STORE_ROWS, store_row_ptr, s);
}

static hybrid_status store(hy_sink *sink, const hy_part *part)
{
    hy_csr_sink *csr   = (hy_csr_sink *)sink;
    hy_pool *pool      = sink->ctx->pool;
    const int64_t rows = part->chunk->row_end - part->chunk->row_begin;
    storing s          = {csr, part};

    if (part->first == 0)
        HY_TRY(store_front(&s));
    if (part->count > 0)
        HY_TRY(
            hy_prefault_reach(&csr->prefault, part->offset + part->first + part->count));
    if (!part->rows.row_at)
        return hy_pool_for(pool, HY_PLACE, 0, part->count, STORE_ENTRIES, store_entries,
                           &s);
    const int64_t grain = 1 + STORE_ENTRIES / (1 + part->count / rows);
    return hy_pool_for(pool, HY_PLACE, 0, rows, grain, store_rows, &s);
}

/* Decides the index types when all entries are stored, and converts the array that has
   the other type. */
static hybrid_status decide(hy_csr_sink *csr)
{
    hy_context *ctx = csr->sink.ctx;

    if (csr->sink.nnz <= csr->index_max) {
        csr->offset_type = HYBRID_I32;
        return hy_indices_convert(ctx, &csr->row_ptr, csr->rows + 1, HYBRID_I32);
    }
    csr->col_type = HYBRID_I64;
    return hy_indices_convert(ctx, &csr->col, csr->sink.nnz, HYBRID_I64);
}

/* ---- the sink -------------------------------------------------------------- */

static hybrid_status finish(hy_sink *sink)
{
    hy_csr_sink *csr  = (hy_csr_sink *)sink;
    const size_t size = hy_value_size(csr->type);

    hy_prefault_stop(&csr->prefault);
    if (csr->reserved != csr->end_row)
        return hy_fail(
            sink->ctx, HYBRID_BAD_STATE,
            "internal error, please report it: %lld of %lld rows were computed",
            (long long)csr->reserved, (long long)csr->end_row);
    if (csr->end_row < csr->rows) /* the products that follow make the remaining rows */
        return HYBRID_OK;
    if (csr->undecided)
        HY_TRY(decide(csr));
    *csr->result = (hybrid_csr){.rows        = csr->rows,
                                .cols        = csr->cols,
                                .nnz         = csr->sink.nnz,
                                .offset_type = csr->offset_type,
                                .row_ptr     = csr->row_ptr.ptr,
                                .col         = csr->col.ptr,
                                .val         = csr->val.ptr,
                                .type        = csr->type,
                                .col_type    = csr->col_type,
                                .space       = HYBRID_SPACE_HOST};
    hy_results_hand_out(sink->ctx, &csr->row_ptr,
                        (size_t)(csr->rows + 1) * hy_index_size(csr->offset_type));
    hy_results_hand_out(sink->ctx, &csr->col,
                        (size_t)csr->sink.nnz * hy_index_size(csr->col_type));
    hy_results_hand_out(sink->ctx, &csr->val, (size_t)csr->sink.nnz * size);
    return HYBRID_OK;
}

static void abort_result(hy_sink *sink)
{
    hy_csr_sink *csr = (hy_csr_sink *)sink;

    hy_prefault_stop(&csr->prefault);
    release(csr);
}

static void begin(hy_sink *sink, int64_t first, int64_t end, int64_t expected)
{
    hy_csr_sink *csr  = (hy_csr_sink *)sink;
    const int64_t all = csr->sink.nnz + expected;

    csr->first_row = first;
    csr->end_row   = end;
    expect(csr, all);
    hy_prefault_stop(&csr->prefault);
    hy_prefault_start(&csr->prefault, sink->ctx, &csr->col, &csr->val, sink->col_bytes,
                      hy_value_size(csr->type), all, csr->home);
}

static const hy_sink_ops ops = {
    .begin          = begin,
    .reserve        = reserve,
    .direct         = direct,
    .store          = store,
    .accepts_deltas = hy_csr_accepts_deltas,
    .store_deltas   = hy_csr_store_deltas,
    .finish         = finish,
    .abort          = abort_result,
};

/* Sets the index types: those asked for, or with HYBRID_INDEX_AUTO one type for offsets
   and columns, by the number of entries. */
static void choose_types(hy_csr_sink *csr, const hy_csr_shape *shape, int64_t bound)
{
    const hybrid_index both = bound <= shape->index_max ? HYBRID_I32 : HYBRID_I64;

    csr->offset_type = shape->offsets;
    csr->col_type    = shape->columns;
    if (shape->offsets == HYBRID_INDEX_AUTO) {
        csr->undecided   = both == HYBRID_I64 && !shape->known;
        csr->offset_type = both;
        csr->col_type    = csr->undecided ? HYBRID_I32 : both;
    }
    csr->sink.offset_bytes = hy_index_size(csr->offset_type);
    csr->sink.col_bytes    = hy_index_size(csr->col_type);
}

hybrid_status hy_csr_sink_open(hy_context *ctx, const hy_csr_shape *shape,
                               hybrid_csr *result, hy_csr_sink *out)
{
    const int64_t *known   = shape->known;
    const int64_t bound    = known ? known[shape->rows] : shape->bound;
    const int64_t expected = known ? bound : hy_min(shape->expected, bound);

    *out = (hy_csr_sink){
        .sink      = {.ops = &ops, .ctx = ctx, .in_order = !known, .counts = !known},
        .rows      = shape->rows,
        .cols      = shape->cols,
        .type      = shape->type,
        .result    = result,
        .end_row   = shape->rows,
        .known     = known,
        .total     = shape->total,
        .remedy    = shape->remedy,
        .index_max = shape->index_max,
        .home      = shape->home};
    choose_types(out, shape, bound);
    if (known) /* the sink has stored the known offsets itself (fill_known()) */
        out->sink.own_bytes = shape->rows * (int64_t)out->sink.offset_bytes;

    const hybrid_status status = reserve_arrays(out, bound, expected);
    if (status == HYBRID_OK)
        hy_prefault_start(&out->prefault, ctx, &out->col, &out->val, out->sink.col_bytes,
                          hy_value_size(out->type), expected, out->home);
    else
        release(out);
    return status;
}
