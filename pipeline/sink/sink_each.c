/* pipeline/sink/sink_each.c - passes rows of C to a function of the caller. */
#include "pipeline/sink/sink_each.h"

#include <string.h>

#include "base/data/csr.h"
#include "base/threads/pool.h"

enum { COPY_ENTRIES = 1 << 17 }; /* target for the entries that one task copies */

/* ---- a part that is assembled ---------------------------------------------------- */

static void free_room(hy_each_sink *each)
{
    hy_array_free(each->sink.ctx, each->col);
    hy_array_free(each->sink.ctx, each->val);
    each->col = each->val = NULL;
    each->room            = 0;
}

/* Makes the arrays large enough for `nnz` entries, and drops their contents if they must
   grow. */
static hybrid_status get_room(hy_each_sink *each, int64_t nnz)
{
    hy_context *ctx    = each->sink.ctx;
    const int64_t room = hy_each_sink_room(nnz);

    if (nnz <= each->room)
        return HYBRID_OK;
    free_room(each);
    HY_TRY(hy_array(ctx, room, 4, "columns of rows", &each->col));
    HY_TRY(hy_array(ctx, room, hy_value_size(each->type), "values of rows", &each->val));
    each->room = room;
    return HYBRID_OK;
}

typedef struct copying {
    const hy_each_sink *each;
    const hy_part *part;
} copying;

/* Copies `count` entries, from index `at` of the part's arrays to index `to` of the
   assembled part. */
static void copy_run(const copying *c, int64_t to, int64_t at, int64_t count)
{
    const size_t size   = hy_value_size(c->each->type);
    const hy_rows *rows = &c->part->rows;

    memcpy((int32_t *)c->each->col + to, rows->col + at, (size_t)count * 4);
    memcpy((char *)c->each->val + (size_t)to * size,
           (const char *)rows->val + (size_t)at * size, (size_t)count * size);
}

static hybrid_status copy_entries(void *arg, int piece, int64_t begin, int64_t end)
{
    const copying *c = arg;

    (void)piece;
    copy_run(c, c->part->first + begin, begin, end - begin);
    return HYBRID_OK;
}

static hybrid_status copy_rows(void *arg, int piece, int64_t begin, int64_t end)
{
    const copying *c    = arg;
    const hy_rows *rows = &c->part->rows;

    (void)piece;
    for (int64_t i = begin; i < end; i++)
        copy_run(c, rows->row_ptr[i], rows->row_at[i],
                 rows->row_ptr[i + 1] - rows->row_ptr[i]);
    return HYBRID_OK;
}

static int64_t rows_of(const hy_part *part)
{
    return part->chunk->row_end - part->chunk->row_begin;
}

static hybrid_status put_together(hy_each_sink *each, const hy_part *part)
{
    hy_pool *pool      = each->sink.ctx->pool;
    const int64_t rows = rows_of(part);
    copying c          = {each, part};

    HY_TRY(get_room(each, part->nnz));
    if (!part->rows.row_at)
        return hy_pool_for(pool, HY_PLACE, 0, part->count, COPY_ENTRIES, copy_entries,
                           &c);
    const int64_t grain = 1 + COPY_ENTRIES / (1 + part->count / rows);
    return hy_pool_for(pool, HY_PLACE, 0, rows, grain, copy_rows, &c);
}

/* ---- the sink ---------------------------------------------------------------------- */

static hybrid_status reserve(hy_sink *sink, hy_part *part)
{
    hy_each_sink *each = (hy_each_sink *)sink;

    if (each->first_row + part->chunk->row_begin != each->next_row)
        return hy_fail(sink->ctx, HYBRID_BAD_STATE,
                       "internal error, please report it: chunk %lld ends out of order",
                       (long long)part->chunk->id);
    part->nnz      = part->counted;
    part->offset   = each->sink.nnz;
    each->next_row = each->first_row + part->chunk->row_end;
    each->sink.nnz += part->nnz;
    return HYBRID_OK;
}

static hy_direct direct(const hy_sink *sink, const hy_part *part)
{
    (void)sink;
    (void)part;
    return (hy_direct){.count = 0};
}

static hybrid_status hand(const hy_each_sink *each, const hy_part *part, int32_t *col,
                          void *val)
{
    const int64_t begin   = each->first_row + part->chunk->row_begin;
    const hybrid_csr rows = {.rows        = rows_of(part),
                             .cols        = each->cols,
                             .nnz         = part->nnz,
                             .offset_type = HYBRID_I64,
                             .row_ptr     = part->rows.row_ptr,
                             .col         = col,
                             .val         = val,
                             .type        = each->type,
                             .col_type    = HYBRID_I32,
                             .space       = HYBRID_SPACE_HOST};
    int *calling          = &each->sink.ctx->progress.calling;

    if (!each->fn)
        return each->take(each->user, begin, &rows);
    *calling         = 1;
    const int answer = each->fn(each->user, begin, &rows);
    *calling         = 0;

    if (answer == 0)
        return HYBRID_OK;
    return hy_fail(each->sink.ctx, HYBRID_CANCELLED,
                   "the caller's function returned %d for rows %lld to %lld of C", answer,
                   (long long)begin, (long long)(begin + rows.rows - 1));
}

static hybrid_status store(hy_sink *sink, const hy_part *part)
{
    hy_each_sink *each = (hy_each_sink *)sink;
    const int whole    = part->count == part->nnz && !part->rows.row_at;

    if (whole || part->nnz == 0)
        return hand(each, part, part->rows.col, part->rows.val);
    HY_TRY(put_together(each, part));
    /* the function is called when the last piece of the part has arrived */
    return part->first + part->count < part->nnz ? HYBRID_OK
                                                 : hand(each, part, each->col, each->val);
}

static hybrid_status finish(hy_sink *sink)
{
    hy_each_sink *each = (hy_each_sink *)sink;

    free_room(each);
    if (each->next_row == each->end_row)
        return HYBRID_OK;
    return hy_fail(sink->ctx, HYBRID_BAD_STATE,
                   "internal error, please report it: %lld of %lld rows were computed",
                   (long long)each->next_row, (long long)each->end_row);
}

static void abort_rows(hy_sink *sink)
{
    free_room((hy_each_sink *)sink);
}

static void begin(hy_sink *sink, int64_t first, int64_t end, int64_t expected)
{
    hy_each_sink *each = (hy_each_sink *)sink;

    (void)expected;
    each->first_row = first;
    each->end_row   = end;
}

static const hy_sink_ops ops = {
    .by_caller = 1,
    .begin     = begin,
    .reserve   = reserve,
    .direct    = direct,
    .store     = store,
    .finish    = finish,
    .abort     = abort_rows,
};

void hy_each_sink_open(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B,
                       hybrid_each_fn fn, void *user, hy_each_sink *out)
{
    *out = (hy_each_sink){.sink    = {.ops          = &ops,
                                      .ctx          = ctx,
                                      .in_order     = 1,
                                      .counts       = 1,
                                      .offset_bytes = 8,
                                      .col_bytes    = 4},
                          .cols    = B->cols,
                          .type    = A->type,
                          .fn      = fn,
                          .user    = user,
                          .end_row = A->rows};
}

void hy_take_sink_open(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B,
                       hy_take_fn take, void *user, hy_each_sink *out)
{
    hy_each_sink_open(ctx, A, B, NULL, user, out);
    out->take = take;
}
