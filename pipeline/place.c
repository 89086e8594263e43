/* pipeline/place.c - C as it grows, row after row. */
#include "pipeline/place.h"

#include <string.h>

#include "base/csr.h"
#include "base/extremes.h"
#include "partition/deltas.h"

enum {
    STORE_ENTRIES = 1 << 17,
    STORE_ROWS    = 1 << 14,
    UNPACK_FRAMES = 32, /* that a worker takes at a time, */
    NEAR_FRAMES   = 4   /* and whose numbers are in its first-level cache */
};

/* ---- the place ------------------------------------------------------------ */

static hybrid_status use_entries(hy_place *place, int64_t count)
{
    HY_TRY(hy_results_use(place->ctx, &place->col, (size_t)count * 4));
    return hy_results_use(place->ctx, &place->val,
                          (size_t)count * hy_value_size(place->type));
}

static hybrid_status copy_known(void *arg, int part, int64_t begin, int64_t end)
{
    const hy_place *place = arg;

    (void)part;
    memcpy((int64_t *)place->row_ptr.ptr + begin, place->known + begin,
           (size_t)(end - begin) * 8);
    return HYBRID_OK;
}

/* All of C is counted beforehand, and its rows start where they did. */
static hybrid_status fill_known(hy_place *place)
{
    HY_TRY(use_entries(place, place->known[place->rows]));
    return hy_pool_for(place->ctx->pool, HY_PLACE, 0, place->rows + 1, STORE_ROWS,
                       copy_known, place);
}

hybrid_status hy_place_open(hy_context *ctx, int64_t rows, int64_t cols, hybrid_type type,
                            int64_t bound, int64_t expected, const int64_t *known,
                            hy_place *place)
{
    hybrid_status status;

    memset(place, 0, sizeof *place);
    place->ctx   = ctx;
    place->rows  = rows;
    place->cols  = cols;
    place->type  = type;
    place->known = known;
    if (known)
        bound = expected = known[rows];
    HY_TRY_ELSE_DONE(hy_results_reserve(ctx, (size_t)(rows + 1) * 8, &place->row_ptr));
    HY_TRY_ELSE_DONE(hy_results_use(ctx, &place->row_ptr, (size_t)(rows + 1) * 8));
    HY_TRY_ELSE_DONE(hy_results_reserve(ctx, (size_t)bound * 4, &place->col));
    HY_TRY_ELSE_DONE(
        hy_results_reserve(ctx, (size_t)bound * hy_value_size(type), &place->val));
    ((int64_t *)place->row_ptr.ptr)[0] = 0;
    if (known)
        HY_TRY_ELSE_DONE(fill_known(place));
    hy_ahead_start(&place->ahead, ctx, &place->col, &place->val, hy_value_size(type),
                   expected < bound ? expected : bound);
done:
    if (status != HYBRID_OK)
        hy_place_close(place);
    return status;
}

void hy_place_close(hy_place *place)
{
    hy_ahead_stop(&place->ahead);
    hy_results_release(place->ctx, place->row_ptr.ptr);
    hy_results_release(place->ctx, place->col.ptr);
    hy_results_release(place->ctx, place->val.ptr);
    memset(&place->row_ptr, 0, sizeof place->row_ptr);
    memset(&place->col, 0, sizeof place->col);
    memset(&place->val, 0, sizeof place->val);
}

int hy_place_turn(const hy_place *place, const hy_job *job)
{
    return place->known || job->chunk->row_begin == place->next_row;
}

hybrid_status hy_place_take(hy_place *place, hy_job *job)
{
    const hy_chunk *chunk = job->chunk;
    const int64_t *known  = place->known;

    if (!hy_place_turn(place, job))
        return hy_fail(place->ctx, HYBRID_BAD_STATE, "chunk %lld ends out of order",
                       (long long)chunk->id);
    job->nnz = known ? known[chunk->row_end] - known[chunk->row_begin] : *job->out_nnz;
    if (!known)
        HY_TRY(use_entries(place, place->nnz + job->nnz));
    job->offset = known ? known[chunk->row_begin] : place->nnz;
    place->nnz += job->nnz;
    place->taken += chunk->row_end - chunk->row_begin;
    place->next_row = chunk->row_end;
    return HYBRID_OK;
}

int hy_place_direct(const hy_place *place, const hy_job *job)
{
    const size_t size  = hy_value_size(place->type);
    const size_t begin = (size_t)job->offset, end = begin + (size_t)job->nnz;

    return end > begin && hy_results_pinned(&place->col, begin * 4, end * 4) &&
           hy_results_pinned(&place->val, begin * size, end * size);
}

int hy_place_pins(const hy_place *place)
{
    return place->ahead.pins > 0;
}

typedef struct storing {
    const hy_place *place;
    const hy_job *job;
    int64_t first; /* entry of the chunk that lies at 0 of its buffers */
    const void *packed;
} storing;

static hybrid_status store_row_ptr(void *arg, int part, int64_t begin, int64_t end)
{
    const storing *s  = arg;
    const int64_t *in = s->job->back.row_ptr;
    int64_t *out      = (int64_t *)s->place->row_ptr.ptr + s->job->chunk->row_begin;

    (void)part;
    for (int64_t i = begin; i < end; i++)
        out[i + 1] = s->job->offset + in[i + 1];
    return HYBRID_OK;
}

/* Entries [from, from + count) of the chunk, which lie at `at` of its buffers. */
static void store_run(const storing *s, int64_t from, int64_t at, int64_t count)
{
    const size_t size = hy_value_size(s->place->type);
    const int64_t to  = s->job->offset + from;

    if (count == 0) /* C may have no entries, and then no arrays */
        return;
    hy_copy_past((int32_t *)s->place->col.ptr + to, s->job->back.col + at,
                 (size_t)count * 4);
    hy_copy_past(s->place->val.ptr + (size_t)to * size,
                 (const char *)s->job->back.val + (size_t)at * size,
                 (size_t)count * size);
}

static hybrid_status store_entries(void *arg, int part, int64_t begin, int64_t end)
{
    const storing *s = arg;

    (void)part;
    store_run(s, s->first + begin, begin, end - begin);
    return HYBRID_OK;
}

/* `count` frames of packed columns, few enough for the first-level cache. */
static void unpack_near(const storing *s, int64_t frame, int64_t count)
{
    const int64_t nnz = s->job->nnz, first = frame * HY_DELTA_FRAME;
    int32_t near[NEAR_FRAMES * HY_DELTA_FRAME];

    for (int64_t k = 0; k < count; k++)
        hy_deltas_unpack(s->packed, nnz, frame + k, near + k * HY_DELTA_FRAME);
    hy_copy_past((int32_t *)s->place->col.ptr + s->job->offset + first, near,
                 (size_t)hy_lesser(count * HY_DELTA_FRAME, nnz - first) * 4);
}

static hybrid_status unpack_frames(void *arg, int part, int64_t begin, int64_t end)
{
    (void)part;
    for (int64_t f = begin; f < end; f += NEAR_FRAMES)
        unpack_near(arg, f, hy_lesser(NEAR_FRAMES, end - f));
    return HYBRID_OK;
}

/* Rows with gaps between them, and where they start; neighbours without a gap go in one
   piece. */
static hybrid_status store_rows(void *arg, int part, int64_t begin, int64_t end)
{
    const storing *s       = arg;
    const int64_t *row_ptr = s->job->back.row_ptr;
    const int64_t *row_at  = s->job->back.row_at;
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

hybrid_status hy_place_store_offsets(const hy_place *place, const hy_job *job)
{
    const int64_t rows = job->chunk->row_end - job->chunk->row_begin;
    storing s          = {place, job, 0, NULL};

    return hy_pool_for(place->ctx->pool, HY_PLACE, 0, rows, STORE_ROWS, store_row_ptr,
                       &s);
}

hybrid_status hy_place_unpack(const hy_place *place, const hy_job *job,
                              const void *packed)
{
    storing s = {place, job, 0, packed};

    return hy_pool_for(place->ctx->pool, HY_PACK, 0, hy_deltas_frames(job->nnz),
                       UNPACK_FRAMES, unpack_frames, &s);
}

hybrid_status hy_place_store(hy_place *place, const hy_job *job, int64_t first,
                             int64_t count)
{
    hy_pool *pool      = place->ctx->pool;
    const int64_t rows = job->chunk->row_end - job->chunk->row_begin;
    storing s          = {place, job, first, NULL};

    HY_TRY(hy_ahead_reach(&place->ahead, job->offset + first + count));
    if (!job->back.row_at)
        return hy_pool_for(pool, HY_PLACE, 0, count, STORE_ENTRIES, store_entries, &s);
    const int64_t grain = 1 + STORE_ENTRIES / (1 + count / rows);
    return hy_pool_for(pool, HY_PLACE, 0, rows, grain, store_rows, &s);
}

hybrid_status hy_place_finish(hy_place *place, hybrid_csr *C)
{
    hy_ahead_stop(&place->ahead);
    if (place->taken != place->rows)
        return hy_fail(place->ctx, HYBRID_BAD_STATE, "%lld of %lld rows were computed",
                       (long long)place->taken, (long long)place->rows);
    *C = (hybrid_csr){.rows        = place->rows,
                      .cols        = place->cols,
                      .nnz         = place->nnz,
                      .offset_type = HYBRID_I64,
                      .row_ptr     = place->row_ptr.ptr,
                      .col         = (int32_t *)(void *)place->col.ptr,
                      .val         = place->val.ptr,
                      .type        = place->type};
    hy_results_hand_out(place->ctx, &place->row_ptr, (size_t)(place->rows + 1) * 8);
    hy_results_hand_out(place->ctx, &place->col, (size_t)place->nnz * 4);
    hy_results_hand_out(place->ctx, &place->val,
                        (size_t)place->nnz * hy_value_size(place->type));
    place->row_ptr.ptr = place->col.ptr = place->val.ptr = NULL;
    return HYBRID_OK;
}
