/* pipeline/turned.c - X and Y in columns, which the device turns. */
#include "pipeline/turned.h"

#include "base/csr.h"
#include "base/extremes.h"

enum {
    ROOM_BYTES   = 16 << 20,
    ROOM_SHARE   = 32,      /* of the budget, one part in so many at most */
    LEAST_ROWS   = 64,      /* of X or Y that a room holds */
    DIRECT_LEAST = 4 << 20, /* of X that is copied from where it is at a time, */
    DIRECT_PARTS = 32       /* but no less than one part in so many of it */
};

/* ---- rooms ------------------------------------------------------------------------- */

size_t hy_turned_room(const hy_backend *backend, const hy_features *f, int64_t x_rows,
                      size_t memory)
{
    const size_t row   = (size_t)f->out_cols * hy_value_size(f->type);
    const size_t all   = hy_align((size_t)hy_greater(f->rows, x_rows) * row);
    const size_t least = hy_smaller(all, LEAST_ROWS * row);
    const size_t most  = hy_smaller(ROOM_BYTES, memory / ROOM_SHARE & ~(size_t)255);
    const size_t room  = hy_smaller(all, most);

    if (!backend->ops->turn || !backend->ops->copy_rows || f->out_cols < 2)
        return 0;
    return room >= least ? room : 0;
}

static int in_columns(const hybrid_dense *matrix)
{
    return matrix->order == HYBRID_COL_MAJOR && matrix->rows > 0;
}

/* Columns of X are copied from where they are: the caller pinned them. */
static int is_direct(const hy_problem *problem)
{
    const hybrid_dense *X = problem->X;
    const size_t size     = hy_value_size(X->type);
    const int64_t all     = (X->cols - 1) * X->ld + X->rows;

    return !problem->x_rows && (size_t)X->ld * size <= HY_MOST_PITCH &&
           hy_pinned(problem->ctx, X->data, (size_t)all * size);
}

/* Bytes of a part of X, no more than the room and, through the ring, a piece have: these
   begin where rows do, so they are of a row at least. 0: X is not turned. */
static size_t part_of_x(const hy_site *site, const hy_problem *problem)
{
    const hybrid_dense *X = problem->X;
    const size_t row      = (size_t)X->cols * hy_value_size(X->type);

    if (!in_columns(X))
        return 0;
    if (is_direct(problem)) /* a chunk's turn comes after HY_LOAD_PIECES of them */
        return hy_smaller(site->turned.room,
                          hy_larger(DIRECT_LEAST, (size_t)X->rows * row / DIRECT_PARTS));
    return site->loader->piece_bytes < row
               ? 0
               : hy_smaller(site->turned.room, site->loader->piece_bytes);
}

/* Blocks that are kept for later plans may have taken its place. */
static hybrid_status get_room(const hy_site *site, hy_buffer *room)
{
    hy_backend *backend = site->backend;
    const size_t bytes  = site->turned.room;

    if (room->ptr)
        return HYBRID_OK;
    const hybrid_status status = backend->ops->alloc(backend, HY_DEVICE, bytes, room);
    if (status != HYBRID_NO_DEVICE_MEMORY)
        return status;
    hy_message_clear(&site->ctx->message);
    backend->ops->trim(backend);
    return backend->ops->alloc(backend, HY_DEVICE, bytes, room);
}

hybrid_status hy_turned_begin(hy_site *site, const hy_problem *problem,
                              const hy_sink *sink)
{
    const int can = site->turned.room > 0 && !problem->in_cols;

    if (problem->op != HY_SPMM) /* B may be on its way already */
        return HYBRID_OK;
    site->turned.turns = can && sink->in_cols && problem->A->rows > 0;
    if (site->turned.turns)
        HY_TRY(get_room(site, &site->turned.buffer));
    if (!site->loader)
        return HYBRID_OK;
    site->loader->turns = can ? part_of_x(site, problem) : 0;
    return site->loader->turns > 0 ? get_room(site, &site->loader->turned) : HYBRID_OK;
}

/* ---- X ----------------------------------------------------------------------------- */

/* Columns of a panel from row `row` on, so many rows, into the room of the device. */
static hy_row_copy columns_of(const hy_loader *loader, const hy_x_panel *x, int64_t row,
                              int64_t rows)
{
    const hybrid_dense *X = loader->problem.X;
    const size_t size     = hy_value_size(X->type);

    return (hy_row_copy){.dst       = loader->turned.ptr,
                         .src       = hy_dense_at(X, row + x->begin * X->ld),
                         .dst_pitch = (size_t)rows * size,
                         .src_pitch = (size_t)X->ld * size,
                         .bytes     = (size_t)rows * size,
                         .rows      = x->cols};
}

hybrid_status hy_turned_load(hy_loader *loader, const hy_x_panel *x, int64_t row,
                             int64_t rows)
{
    const hy_problem *problem = &loader->problem;
    const hy_row_copy columns = columns_of(loader, x, row, rows);
    const hy_load_part part   = {.bytes  = columns.bytes * (size_t)columns.rows,
                                 .direct = is_direct(problem) ? columns.src : NULL,
                                 .row    = row,
                                 .rows   = rows,
                                 .place = problem->window > 0 ? row % problem->window : row,
                                 .x     = *x,
                                 .turned = 1};

    if (!part.direct && part.bytes > loader->piece_bytes) /* it was when the run began */
        return hy_fail(loader->backend->ctx, HYBRID_BAD_STATE,
                       "X was unpinned while it was multiplied");
    return hy_load_part_of(loader, &part);
}

/* `cols` columns of a part, from column `col` of the room on, to rows from `to` on. */
static hybrid_status turn_part(const hy_loader *loader, hy_lane *lane,
                               const hy_load_part *part, int64_t col, int64_t cols,
                               char *to, int64_t ld)
{
    const size_t size        = hy_value_size(loader->problem.X->type);
    const hy_turning turning = {.to   = to,
                                .from = (char *)loader->turned.ptr +
                                        (size_t)(col * part->rows) * size,
                                .to_ld   = ld,
                                .from_ld = part->rows,
                                .lines   = part->rows,
                                .length  = cols,
                                .filled  = ld,
                                .size    = size};

    return lane->backend->ops->turn(lane, &turning);
}

hybrid_status hy_turned_copy(const hy_loader *loader, hy_lane *lane,
                             const hy_load_piece *piece)
{
    const hy_load_part *part  = &piece->part;
    const hy_x_panel *x       = &part->x;
    const int64_t near        = x->cols - x->rest;
    const hy_row_copy columns = columns_of(loader, x, part->row, part->rows);

    HY_TRY(part->direct ? hy_pinned_copy_rows(lane, &columns, columns.src)
                        : lane->backend->ops->copy(lane, loader->turned.ptr, piece->room,
                                                   part->bytes));
    HY_TRY(turn_part(loader, lane, part, 0, near, hy_load_lines(loader, x, part->place),
                     x->ld));
    if (x->rest == 0)
        return HYBRID_OK;
    return turn_part(loader, lane, part, near, x->rest,
                     hy_load_rest(loader, x, part->place), x->rest_ld);
}

/* ---- Y ----------------------------------------------------------------------------- */

/* Copies of two dimensions have only so much from one column to the next. */
int hy_turned_is(const hy_slot *slot)
{
    const hy_chunk *chunk = slot->job.chunk;
    const int64_t rows    = chunk->row_end - chunk->row_begin;

    return slot->site->turned.turns && rows <= HY_MOST_PITCH / 8;
}

/* The chunk's columns where they go to: its place in pinned memory, or in the result, if
   that takes them as they are. */
static hy_row_copy home_of(hy_slot *slot)
{
    hy_job *job           = &slot->job;
    const hy_chunk *chunk = job->chunk;
    const size_t size     = hy_value_size(job->problem->A->type);
    const size_t bytes    = (size_t)(chunk->row_end - chunk->row_begin) * size;
    hy_row_copy home      = {.dst       = job->back.val,
                             .dst_pitch = bytes,
                             .bytes     = bytes,
                             .rows      = chunk->col_end - chunk->col_begin};

    job->turned        = 1;
    const hy_part part = hy_slot_part(slot, &job->out);
    const hy_direct to = slot->sink->ops->direct(slot->sink, &part);

    job->direct = job->stored = to.count > 0;
    if (!job->direct)
        return home;
    home.dst = to.to->rows.dst;
    if (to.to->rows.rows > 1) /* else its columns follow each other there, too */
        home.dst_pitch = to.to->rows.dst_pitch;
    return home;
}

hybrid_status hy_turned_back(hy_slot *slot, hy_lane *lane)
{
    const hy_backend_ops *ops = lane->backend->ops;
    hy_job *job               = &slot->job;
    const hy_row_copy home    = home_of(slot);
    const size_t size         = hy_value_size(job->problem->A->type);
    const int64_t rows = (int64_t)(home.bytes / size), width = home.rows;
    char *room         = slot->site->turned.buffer.ptr;
    const int64_t most = (int64_t)(slot->site->turned.buffer.bytes / size) / width;

    for (int64_t row = 0; row < rows; row += most) {
        const int64_t count    = hy_lesser(most, rows - row);
        const size_t at        = (size_t)row * size;
        const hy_turning turn  = {.to    = room,
                                  .from  = (const char *)job->out.val + at * (size_t)width,
                                  .to_ld = count,
                                  .from_ld = width,
                                  .lines   = width,
                                  .length  = count,
                                  .filled  = count,
                                  .size    = size};
        const hy_row_copy part = {.dst       = (char *)home.dst + at,
                                  .src       = room,
                                  .dst_pitch = home.dst_pitch,
                                  .src_pitch = (size_t)count * size,
                                  .bytes     = (size_t)count * size,
                                  .rows      = width};
        HY_TRY(ops->turn(lane, &turn));
        HY_TRY(job->direct ? hy_pinned_copy_rows(lane, &part, part.dst)
                           : ops->copy_rows(lane, &part));
    }
    return HYBRID_OK;
}
