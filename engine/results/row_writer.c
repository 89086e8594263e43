/* engine/results/row_writer.c - writes rows of a matrix in a thread of their own. */
#include "engine/results/row_writer.h"

#include <string.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/threads/clock.h"

enum {
    MOST_BYTES = 64 << 20, /* maximum bytes of a panel (rows that are written together) */
    LEAST_BYTES = 1 << 18, /* minimum bytes of a panel */
    SHARE       = 16,      /* within these bounds, a panel takes 1 / SHARE of free host
                              memory */
    OFFSETS_SHARE = 4      /* offsets take at most 1 / OFFSETS_SHARE of a panel */
};

int64_t hy_row_writer_bytes(const hybrid_engine *engine)
{
    const int64_t piece = hy_settings_of(engine)->piece_bytes;

    if (piece > 0)
        return piece;
    return hy_max(LEAST_BYTES,
                  hy_min(MOST_BYTES, hy_meter_left(&engine->ctx.memory.meter) / SHARE));
}

/* ---- the thread ------------------------------------------------------------------ */

static int64_t rows_of(const hy_row_panel *panel)
{
    return panel->sparse.rows + panel->dense.rows;
}

/* Writes the panel to the file, and describes that in *event. */
static hybrid_status write_panel(hy_row_writer *w, const hy_row_panel *panel,
                                 hybrid_event *event)
{
    hy_file_writer *file       = w->file;
    const int64_t before       = file->bytes;
    hybrid_event done          = {.stage     = "write",
                                  .variant   = "",
                                  .lane      = "writer",
                                  .chunk     = -1,
                                  .row_begin = file->rows,
                                  .begin_ns  = hy_now_ns(),
                                  .parts     = 1,
                                  .bound     = HYBRID_RESOURCES};
    const hybrid_status status = panel->sparse.rows > 0
                                     ? file->ops->sparse(file, &panel->sparse)
                                     : file->ops->dense(file, &panel->dense);

    done.row_end = done.row_begin + rows_of(panel);
    done.end_ns  = hy_now_ns();
    done.bytes   = file->bytes - before;
    *event       = done;
    hy_progress_wrote(&w->engine->ctx.progress, done.bytes);
    return status;
}

static void *run(void *arg)
{
    hy_row_writer *w = arg;

    hy_message_aside(&w->aside);
    pthread_mutex_lock(&w->lock);
    for (;;) {
        while (!w->written && !w->is_ending)
            pthread_cond_wait(&w->change, &w->lock);
        if (!w->written)
            break;
        const int failed = w->status != HYBRID_OK;
        hybrid_event event;
        pthread_mutex_unlock(&w->lock);
        const hybrid_status status =
            failed ? HYBRID_OK : write_panel(w, w->written, &event);
        pthread_mutex_lock(&w->lock);
        if (!failed) {
            w->status = status;
            w->event  = event;
        }
        w->written = NULL;
        pthread_cond_broadcast(&w->change);
    }
    pthread_mutex_unlock(&w->lock);
    hy_message_aside(NULL);
    return NULL;
}

/* ---- panels ------------------------------------------------------------------------ */

/* Reports to the caller's trace the panel that was written last. */
static void report(hy_row_writer *w)
{
    hybrid_engine *engine = w->engine;

    if (!w->event.stage)
        return;
    w->event.host_bytes = hy_meter_used(&engine->ctx.memory.meter);
    w->event.pass       = engine->passes;
    if (engine->trace)
        engine->trace(engine->trace_user, &w->event);
    w->seconds += (double)(w->event.end_ns - w->event.begin_ns) * 1e-9;
    w->event.stage = NULL;
}

/* Waits until the thread writes no panel. Returns its first error. */
static hybrid_status await(hy_row_writer *w)
{
    pthread_mutex_lock(&w->lock);
    while (w->written)
        hy_progress_wait(&w->engine->ctx.progress, &w->change, &w->lock);
    const hybrid_status status = w->status;
    pthread_mutex_unlock(&w->lock);
    report(w);
    return status == HYBRID_OK ? hy_progress_check(&w->engine->ctx.progress)
                               : hy_fail(&w->engine->ctx, status, "%s", w->aside.text);
}

static void empty(const hy_row_writer *w, hy_row_panel *panel)
{
    const hy_file_shape *shape = &w->file->shape;

    panel->sparse = (hybrid_csr){.cols        = shape->cols,
                                 .offset_type = HYBRID_I64,
                                 .row_ptr     = panel->offsets.array,
                                 .col         = panel->columns.array,
                                 .val         = panel->values.array,
                                 .type        = shape->type,
                                 .col_type    = HYBRID_I32};
    panel->dense  = (hybrid_dense){
         0, shape->cols, shape->cols, HYBRID_ROW_MAJOR, panel->values.array, shape->type};
    if (shape->sparse)
        *(int64_t *)panel->sparse.row_ptr = 0;
}

hybrid_status hy_row_writer_cut(hy_row_writer *w)
{
    if (rows_of(w->filling) == 0)
        return HYBRID_OK;
    HY_TRY(await(w));
    pthread_mutex_lock(&w->lock);
    w->written = w->filling;
    pthread_cond_broadcast(&w->change);
    pthread_mutex_unlock(&w->lock);
    w->filling = w->filling == w->panels ? w->panels + 1 : w->panels;
    empty(w, w->filling);
    return HYBRID_OK;
}

/* ---- rows ---------------------------------------------------------------------------
 */

/* Copies values, and converts them if the types differ. */
static void copy_values(void *to, hybrid_type to_type, const void *from,
                        hybrid_type from_type, int64_t count)
{
    if (to_type == from_type) {
        if (count > 0) /* an array without values may be NULL, which memcpy() refuses */
            memcpy(to, from, (size_t)count * hy_value_size(to_type));
        return;
    }
    for (int64_t k = 0; k < count; k++)
        hy_value_put(to_type, to, k, hy_value_at(from_type, from, k));
}

static int64_t room_for_rows(const hy_row_writer *w)
{
    return hy_max(1, w->bytes / OFFSETS_SHARE / 8 - 1);
}

/* Returns how many of the rows [first, rows->rows) fit into the rest of the panel. */
static int64_t rows_that_fit(const hy_row_writer *w, const hybrid_csr *rows,
                             int64_t first)
{
    const hy_row_panel *panel = w->filling;
    const int64_t *offset     = rows->row_ptr;
    const int64_t most        = offset[first] + panel->entries - panel->sparse.nnz;
    int64_t low               = first; /* rows [first, low) fit the panel */
    int64_t high = hy_min(rows->rows, first + room_for_rows(w) - panel->sparse.rows) + 1;

    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (offset[middle] <= most)
            low = middle;
        else
            high = middle;
    }
    return low - first;
}

/* Gives the empty panel room for `entries` entries. */
static hybrid_status make_room(hy_row_writer *w, int64_t entries)
{
    hy_row_panel *panel = w->filling;
    hy_context *ctx     = &w->engine->ctx;
    const int64_t size  = (int64_t)hy_value_size(w->file->shape.type);

    HY_TRY(hy_array_reuse(ctx, &panel->columns, entries * 4, "columns of the result"));
    HY_TRY(hy_array_reuse(ctx, &panel->values, entries * size, "values of the result"));
    panel->entries = entries;
    empty(w, panel);
    return HYBRID_OK;
}

static void append(hy_row_writer *w, const hybrid_csr *rows, int64_t first, int64_t count)
{
    hybrid_csr *to        = &w->filling->sparse;
    const int64_t *offset = (const int64_t *)rows->row_ptr + first;
    int64_t *ends         = (int64_t *)to->row_ptr + to->rows + 1;
    const int64_t move    = to->nnz - offset[0];
    const int64_t entries = offset[count] - offset[0];

    for (int64_t i = 0; i < count; i++)
        ends[i] = offset[i + 1] + move;
    if (entries > 0) {
        memcpy((int32_t *)to->col + to->nnz, (const int32_t *)rows->col + offset[0],
               (size_t)entries * 4);
        copy_values(
            (char *)to->val + to->nnz * (int64_t)hy_value_size(to->type), to->type,
            (const char *)rows->val + offset[0] * (int64_t)hy_value_size(rows->type),
            rows->type, entries);
    }
    to->rows += count;
    to->nnz += entries;
}

hybrid_status hy_row_writer_sparse(hy_row_writer *w, const hybrid_csr *rows)
{
    const int64_t *offset = rows->row_ptr;

    for (int64_t i = 0; i < rows->rows;) {
        const int64_t count = rows_that_fit(w, rows, i);
        append(w, rows, i, count);
        i += count;
        if (i == rows->rows)
            break;
        HY_TRY(hy_row_writer_cut(w));
        if (offset[i + 1] - offset[i] > w->filling->entries)
            HY_TRY(make_room(w, offset[i + 1] - offset[i]));
    }
    return HYBRID_OK;
}

static void append_dense(hy_row_writer *w, const hybrid_dense *rows, int64_t first,
                         int64_t count)
{
    hybrid_dense *to   = &w->filling->dense;
    const int64_t size = (int64_t)hy_value_size(rows->type);
    const int by_rows  = rows->order == HYBRID_ROW_MAJOR;

    for (int64_t i = first; i < first + count; i++, to->rows++)
        for (int64_t j = 0; j < (by_rows ? 1 : rows->cols); j++)
            copy_values(hy_dense_at(to, to->rows * to->ld + j), to->type,
                        (const char *)rows->data +
                            (by_rows ? i * rows->ld : i + j * rows->ld) * size,
                        rows->type, by_rows ? rows->cols : 1);
}

hybrid_status hy_row_writer_dense(hy_row_writer *w, const hybrid_dense *rows)
{
    const int64_t row = rows->cols * (int64_t)hy_value_size(w->file->shape.type);
    const int64_t room =
        hy_max(1, w->bytes / hy_max(row, 1)); /* as in every other call */

    for (int64_t i = 0; i < rows->rows;) {
        if (w->filling->dense.rows == room)
            HY_TRY(hy_row_writer_cut(w));
        const int64_t count = hy_min(rows->rows - i, room - w->filling->dense.rows);
        append_dense(w, rows, i, count);
        i += count;
    }
    return HYBRID_OK;
}

/* ---- opening and closing ------------------------------------------------------------
 */

static hybrid_status allocate(hy_row_writer *w)
{
    const hy_file_shape *shape = &w->file->shape;
    const int64_t size         = (int64_t)hy_value_size(shape->type);
    const int64_t for_entries  = w->bytes - w->bytes / OFFSETS_SHARE;
    const char *what           = "rows of the result";

    for (int i = 0; i < 2; i++) {
        w->filling = w->panels + i;
        if (shape->sparse) {
            HY_TRY(hy_array_reuse(&w->engine->ctx, &w->filling->offsets,
                                  (room_for_rows(w) + 1) * 8, what));
            HY_TRY(make_room(w, for_entries / (4 + size)));
        } else {
            HY_TRY(hy_array_reuse(&w->engine->ctx, &w->filling->values,
                                  hy_max(w->bytes, shape->cols * size), what));
            empty(w, w->filling);
        }
    }
    return HYBRID_OK;
}

/* Returns the bytes of panels that hold all rows, or `most` if that is less. */
static int64_t bytes_needed(const hy_file_shape *shape, int64_t most)
{
    const double value   = (double)hy_value_size(shape->type);
    const double all     = (double)shape->rows * (double)shape->cols;
    const double entries = shape->nnz >= 0 ? (double)shape->nnz : all;
    const double rows    = (double)(shape->rows + 2) * 8 * OFFSETS_SHARE;
    const double needed  = shape->sparse ? rows + 2 * entries * (4 + value) : all * value;

    return needed < (double)most ? (int64_t)needed + 1 : most;
}

hybrid_status hy_row_writer_open(hybrid_engine *engine, hy_file_writer *file,
                                 int64_t bytes, hy_row_writer *out)
{
    *out = (hy_row_writer){
        .engine = engine, .file = file, .bytes = bytes_needed(&file->shape, bytes)};
    hy_message_init(&out->aside);
    pthread_mutex_init(&out->lock, NULL);
    hy_progress_cond_init(&out->change);
    HY_TRY(allocate(out));
    out->is_running = pthread_create(&out->thread, NULL, run, out) == 0;
    if (!out->is_running)
        return hy_fail(&engine->ctx, HYBRID_NO_MEMORY,
                       "cannot start the thread that writes the result");
    return HYBRID_OK;
}

static void end_thread(hy_row_writer *w)
{
    pthread_mutex_lock(&w->lock);
    w->is_ending = 1;
    pthread_cond_broadcast(&w->change);
    pthread_mutex_unlock(&w->lock);
    if (w->is_running)
        pthread_join(w->thread, NULL);
}

hybrid_status hy_row_writer_close(hy_row_writer *w, hybrid_status status)
{
    hy_context *ctx = &w->engine->ctx;

    if (status == HYBRID_OK)
        status = hy_row_writer_cut(w);
    if (status == HYBRID_OK)
        status = await(w);
    end_thread(w);
    for (int i = 0; i < 2; i++) {
        hy_array_free_reused(ctx, &w->panels[i].offsets);
        hy_array_free_reused(ctx, &w->panels[i].columns);
        hy_array_free_reused(ctx, &w->panels[i].values);
    }
    hy_message_destroy(&w->aside);
    pthread_cond_destroy(&w->change);
    pthread_mutex_destroy(&w->lock);
    return status;
}
