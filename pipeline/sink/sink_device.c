/* pipeline/sink/sink_device.c - stores results in the memory of the device that
   computes. */
#include "pipeline/sink/sink_device.h"

#include "base/data/csr.h"
#include "base/memory/device_results.h"

/* ---- Y --------------------------------------------------------------------------- */

static hybrid_status land_dense(hy_sink *sink, hy_lane *lane, const hy_part *part)
{
    const hy_update *u    = &((hy_dense_sink *)sink)->update;
    const hybrid_dense *Y = u->Y;
    const hy_chunk *c     = part->chunk;
    const int in_rows     = Y->order == HYBRID_ROW_MAJOR;
    const int part_rows   = part->order == HYBRID_ROW_MAJOR;
    const int64_t rows = c->row_end - c->row_begin, cols = c->col_end - c->col_begin;
    const int64_t at             = in_rows ? c->row_begin * Y->ld + c->col_begin
                                           : c->row_begin + c->col_begin * Y->ld;
    const hy_combining combining = {.to       = hy_dense_at(Y, at),
                                    .from     = part->rows.val,
                                    .to_row   = in_rows ? Y->ld : 1,
                                    .to_col   = in_rows ? 1 : Y->ld,
                                    .from_row = part_rows ? cols : 1,
                                    .from_col = part_rows ? 1 : rows,
                                    .rows     = rows,
                                    .cols     = cols,
                                    .filled   = cols,
                                    .alpha    = u->alpha,
                                    .beta     = u->beta,
                                    .type     = Y->type};

    return lane->backend->ops->combine(lane, &combining);
}

static hy_direct no_copies(const hy_sink *sink, const hy_part *part)
{
    (void)sink;
    (void)part;
    return (hy_direct){.count = 0};
}

/* Never called, because results in device memory are not copied to the host. */
static hybrid_status store_nothing(hy_sink *sink, const hy_part *part)
{
    return hy_fail(sink->ctx, HYBRID_BAD_STATE,
                   "internal error, please report it: chunk %lld brings a part to host "
                   "memory, and its result is on a device",
                   (long long)part->chunk->id);
}

static void abort_dense(hy_sink *sink)
{
    (void)sink;
}

static const hy_sink_ops dense = {
    .reserve = hy_dense_reserve,
    .direct  = no_copies,
    .land    = land_dense,
    .store   = store_nothing,
    .finish  = hy_dense_finish,
    .abort   = abort_dense,
};

void hy_device_dense_sink_open(hy_context *ctx, const hy_update *update,
                               hy_dense_sink *out)
{
    *out = hy_dense_sink_of(ctx, &dense, update, update->Y->rows);
}

/* ---- C --------------------------------------------------------------------------- */

/* Entries of one part of C, until all parts are copied together. */
typedef struct hy_device_piece {
    struct hy_device_piece *next;
    int64_t row, nnz, offset; /* first row and number of entries of the part; index of its
                                 first entry in C */
    void *col, *val;          /* 32-bit columns and values, in device memory */
} piece;

static hy_device_csr_sink *csr_of(hy_sink *sink)
{
    return (hy_device_csr_sink *)sink;
}

static hybrid_status check_offsets(const hy_device_csr_sink *csr, int64_t rows)
{
    if (csr->shape.offsets != HYBRID_I32 || csr->sink.nnz <= csr->shape.index_max)
        return HYBRID_OK;
    return hy_fail(csr->sink.ctx, HYBRID_UNSUPPORTED,
                   "rows 0 to %lld of C have %lld entries: 32-bit offsets, which were "
                   "asked for, go to %lld; ask for HYBRID_I64 or HYBRID_INDEX_AUTO",
                   (long long)rows - 1, (long long)csr->sink.nnz,
                   (long long)csr->shape.index_max);
}

static hybrid_status add_piece(hy_device_csr_sink *csr, const hy_part *part)
{
    hy_context *ctx = csr->sink.ctx;
    void *memory;

    HY_TRY(hy_array(ctx, 1, sizeof(piece), "a part of C", &memory));
    piece *p = memory;
    *p = (piece){.row = part->chunk->row_begin, .nnz = part->nnz, .offset = part->offset};
    *csr->end = p;
    csr->end  = &p->next;
    HY_TRY(hy_device_result_new(ctx, csr->device, p->nnz, 4, "columns of C", &p->col));
    return hy_device_result_new(ctx, csr->device, p->nnz, hy_value_size(csr->shape.type),
                                "values of C", &p->val);
}

static hybrid_status reserve_csr(hy_sink *sink, hy_part *part)
{
    hy_device_csr_sink *csr = csr_of(sink);
    const hy_chunk *chunk   = part->chunk;

    if (chunk->row_begin != csr->next_row)
        return hy_fail(sink->ctx, HYBRID_BAD_STATE,
                       "internal error, please report it: chunk %lld ends out of order",
                       (long long)chunk->id);
    part->nnz    = part->counted;
    part->offset = csr->sink.nnz;
    csr->sink.nnz += part->nnz;
    csr->next_row = chunk->row_end;
    HY_TRY(check_offsets(csr, chunk->row_end));
    return add_piece(csr, part);
}

static hybrid_status copy(hy_lane *lane, void *to, const void *from, int64_t count,
                          size_t size)
{
    return count == 0 ? HYBRID_OK
                      : lane->backend->ops->copy(lane, to, from, (size_t)count * size);
}

/* Enqueues the copies of a part's entries to its own arrays, and of its offsets to the
   offsets of C. Two neighbouring parts both write the offset between them, with the same
   value. */
static hybrid_status land_csr(hy_sink *sink, hy_lane *lane, const hy_part *part)
{
    hy_device_csr_sink *csr   = csr_of(sink);
    const hy_chunk *chunk     = part->chunk;
    const hy_rebasing offsets = {.to        = csr->row_ptr + chunk->row_begin,
                                 .from      = part->rows.row_ptr,
                                 .to_type   = HYBRID_I64,
                                 .from_type = HYBRID_I64,
                                 .count     = chunk->row_end - chunk->row_begin + 1,
                                 .base      = -part->offset};
    const piece *p            = csr->first;

    csr->lane = lane;
    while (p->row != chunk->row_begin)
        p = p->next;
    HY_TRY(lane->backend->ops->rebase(lane, &offsets));
    HY_TRY(copy(lane, p->col, part->rows.col, p->nnz, 4));
    return copy(lane, p->val, part->rows.val, p->nnz, hy_value_size(csr->shape.type));
}

/* ---- C from all parts ------------------------------------------------------------ */

/* Enqueues the conversion of `count` numbers from `from_type` to `type`. */
static hybrid_status convert(hy_lane *lane, void *to, hybrid_index type, const void *from,
                             hybrid_index from_type, int64_t count)
{
    const hy_rebasing r = {
        .to = to, .from = from, .to_type = type, .from_type = from_type, .count = count};

    return count == 0 ? HYBRID_OK : lane->backend->ops->rebase(lane, &r);
}

/* Sets the single offset of a C without rows to 0. Does nothing for another C, because
   its parts bring all offsets. */
static hybrid_status begin_offsets(const hy_device_csr_sink *csr, hy_lane *lane)
{
    const hy_combining zero = {
        .to = csr->row_ptr, .rows = 1, .cols = 1, .filled = 1, .type = HYBRID_F64};

    return csr->shape.rows > 0 ? HYBRID_OK : lane->backend->ops->combine(lane, &zero);
}

static hybrid_status fill(const hy_device_csr_sink *csr, hy_lane *lane, hybrid_csr *C)
{
    const size_t size = hy_value_size(C->type), index = hy_index_size(C->col_type);

    HY_TRY(begin_offsets(csr, lane));
    if (C->row_ptr != csr->row_ptr)
        HY_TRY(convert(lane, C->row_ptr, C->offset_type, csr->row_ptr, HYBRID_I64,
                       C->rows + 1));
    for (const piece *p = csr->first; p; p = p->next) {
        if (C->col != p->col)
            HY_TRY(convert(lane, (char *)C->col + (size_t)p->offset * index, C->col_type,
                           p->col, HYBRID_I32, p->nnz));
        if (C->val != p->val)
            HY_TRY(copy(lane, (char *)C->val + (size_t)p->offset * size, p->val, p->nnz,
                        size));
    }
    return HYBRID_OK;
}

static hybrid_status fill_and_wait(const hy_device_csr_sink *csr, hybrid_csr *C)
{
    const hy_backend_ops *ops = csr->device->ops;
    hybrid_status status;
    hy_mark *mark = NULL;
    hy_lane *own = NULL, *lane = csr->lane;

    HY_TRY_ELSE_DONE(ops->mark_new(csr->device, &mark));
    if (!lane)
        HY_TRY_ELSE_DONE(ops->lane_open(csr->device, "result", 0, &own));
    lane = lane ? lane : own;
    HY_TRY_ELSE_DONE(fill(csr, lane, C));
    HY_TRY_ELSE_DONE(ops->mark_set(lane, mark));
    HY_TRY_ELSE_DONE(ops->host_wait(mark));
done:
    if (status != HYBRID_OK && lane) /* the lane may still write to the arrays that are
                                        freed next */
        ops->lane_drain(lane);
    ops->lane_close(own);
    ops->mark_free(mark);
    return status;
}

/* Sets the index types of C: as asked for, or by the number of entries. */
static void choose_types(const hy_device_csr_sink *csr, hybrid_csr *C)
{
    const hybrid_index both =
        csr->sink.nnz <= csr->shape.index_max ? HYBRID_I32 : HYBRID_I64;
    const int decides = csr->shape.offsets == HYBRID_INDEX_AUTO;

    C->offset_type = decides ? both : csr->shape.offsets;
    C->col_type    = decides ? both : csr->shape.columns;
}

/* Makes the arrays of C. Arrays that have the right type and hold all of C, which then
   has one part, are taken as they are. */
static hybrid_status make_arrays(hy_device_csr_sink *csr, hybrid_csr *C)
{
    hy_context *ctx  = csr->sink.ctx;
    const piece *one = csr->first && !csr->first->next ? csr->first : NULL;

    C->row_ptr = C->offset_type == HYBRID_I64 ? csr->row_ptr : NULL;
    C->col     = one && C->col_type == HYBRID_I32 ? one->col : NULL;
    C->val     = one ? one->val : NULL;
    if (!C->row_ptr)
        HY_TRY(hy_device_result_new(ctx, csr->device, C->rows + 1, 4, "row offsets of C",
                                    &C->row_ptr));
    if (!C->col)
        HY_TRY(hy_device_result_new(ctx, csr->device, C->nnz, hy_index_size(C->col_type),
                                    "columns of C", &C->col));
    return C->val ? HYBRID_OK
                  : hy_device_result_new(ctx, csr->device, C->nnz, hy_value_size(C->type),
                                         "values of C", &C->val);
}

/* Frees all arrays that C does not use. If C is NULL, frees all arrays. */
static void release(hy_device_csr_sink *csr, const hybrid_csr *C)
{
    hy_context *ctx = csr->sink.ctx;

    if (!C || C->row_ptr != csr->row_ptr)
        hy_device_result_free(ctx, csr->row_ptr);
    while (csr->first) {
        piece *p   = csr->first;
        csr->first = p->next;
        if (!C || C->col != p->col)
            hy_device_result_free(ctx, p->col);
        if (!C || C->val != p->val)
            hy_device_result_free(ctx, p->val);
        hy_array_free(ctx, p);
    }
    csr->row_ptr = NULL;
}

static void free_arrays(const hy_device_csr_sink *csr, const hybrid_csr *C)
{
    const piece *p = csr->first;

    if (C->row_ptr != csr->row_ptr)
        hy_device_result_free(csr->sink.ctx, C->row_ptr);
    if (!p || C->col != p->col)
        hy_device_result_free(csr->sink.ctx, C->col);
    if (!p || C->val != p->val)
        hy_device_result_free(csr->sink.ctx, C->val);
}

static hybrid_status finish_csr(hy_sink *sink)
{
    hy_device_csr_sink *csr = csr_of(sink);
    hybrid_csr C            = {.rows  = csr->shape.rows,
                               .cols  = csr->shape.cols,
                               .nnz   = csr->sink.nnz,
                               .type  = csr->shape.type,
                               .space = HYBRID_SPACE_DEVICE};
    hybrid_status status;

    if (csr->next_row != csr->shape.rows)
        return hy_fail(
            sink->ctx, HYBRID_BAD_STATE,
            "internal error, please report it: %lld of %lld rows were computed",
            (long long)csr->next_row, (long long)csr->shape.rows);
    choose_types(csr, &C);
    HY_TRY_ELSE_DONE(make_arrays(csr, &C));
    HY_TRY_ELSE_DONE(fill_and_wait(csr, &C));
done:
    if (status != HYBRID_OK) {
        free_arrays(csr, &C);
        return status;
    }
    release(csr, &C);
    *csr->result = C;
    return HYBRID_OK;
}

static void abort_csr(hy_sink *sink)
{
    release(csr_of(sink), NULL);
}

static const hy_sink_ops csr_ops = {
    .reserve = reserve_csr,
    .direct  = no_copies,
    .land    = land_csr,
    .store   = store_nothing,
    .finish  = finish_csr,
    .abort   = abort_csr,
};

hybrid_status hy_device_csr_sink_open(hy_context *ctx, hy_backend *device,
                                      const hy_csr_shape *shape, hybrid_csr *result,
                                      hy_device_csr_sink *out)
{
    void *row_ptr;

    HY_TRY(hy_device_result_new(ctx, device, shape->rows + 1, 8, "row offsets of C",
                                &row_ptr));
    *out = (hy_device_csr_sink){
        .sink    = {.ops = &csr_ops, .ctx = ctx, .in_order = 1, .counts = 1},
        .device  = device,
        .shape   = *shape,
        .result  = result,
        .row_ptr = row_ptr};
    out->end = &out->first;
    return HYBRID_OK;
}
