/* engine/files/a_part.c - panels of rows of an A that is in a file. */
#include "engine/files/a_part.h"

#include "base/data/csr.h"
#include "base/data/min_max.h"

/* ---- reading one --------------------------------------------------------------------
 */

static int64_t aligned(int64_t bytes)
{
    return (int64_t)hy_align((size_t)bytes);
}

/* Of so many rows and entries, each array on a line of the caches. */
static int64_t panel_bytes(const hy_csr_file *file, int64_t rows, int64_t nnz)
{
    return aligned((rows + 1) * 8) + aligned(nnz * 4) +
           nnz * (int64_t)hy_value_size(file->shape.type);
}

static hybrid_status make_room(const hy_a_parts *p, hy_a_part *panel, int64_t bytes)
{
    return hy_array_reuse(p->file->ctx, &panel->block, bytes, "a panel of rows of A");
}

/* Rows from `begin` on that a panel is expected to hold, as all rows are on average. */
static int64_t expected_rows(const hy_a_parts *p, int64_t begin)
{
    const hybrid_csr *shape = &p->file->shape;
    const double row        = (double)hy_csr_file_bytes(p->file) / (double)shape->rows;
    const int64_t rows      = (int64_t)((double)p->bytes / row);

    return hy_max(1, hy_min(rows, shape->rows - begin));
}

/* Of these rows the first that fit, one at least. */
static int64_t rows_that_fit(const hy_a_parts *p, const int64_t *offset, int64_t rows)
{
    while (rows > 1 && panel_bytes(p->file, rows, offset[rows]) > p->bytes)
        rows = hy_max(1, rows - rows / 8 - 1);
    return rows;
}

/* Reads the offsets of the rows from `begin` on, as many as the panel holds. *first is
   the offset of row `begin`, and is subtracted from all. */
static hybrid_status read_offsets(const hy_a_parts *p, int64_t begin, hy_a_part *panel,
                                  int64_t *first)
{
    int64_t rows = expected_rows(p, begin);

    HY_TRY(make_room(p, panel, hy_max(p->bytes, aligned((rows + 1) * 8))));
    int64_t *offset = panel->block.array;
    HY_TRY(hy_csr_file_offsets(p->file, begin, rows, first, offset));
    rows                = rows_that_fit(p, offset, rows);
    const int64_t nnz   = offset[rows];
    const int64_t bytes = panel_bytes(p->file, rows, nnz);
    if (bytes > panel->block.bytes) { /* one row, and larger than panels are */
        HY_TRY(make_room(p, panel, bytes));
        offset    = panel->block.array;
        offset[0] = 0;
        offset[1] = nnz;
    }
    panel->A             = p->file->shape;
    panel->A.rows        = rows;
    panel->A.nnz         = nnz;
    panel->A.row_ptr     = offset;
    panel->A.offset_type = HYBRID_I64;
    panel->begin         = begin;
    return HYBRID_OK;
}

static hybrid_status read_panel(const hy_a_parts *p, int64_t begin, hy_a_part *panel)
{
    hybrid_csr *A = &panel->A;
    int64_t first;

    HY_TRY(read_offsets(p, begin, panel, &first));
    A->col = (char *)A->row_ptr + aligned((A->rows + 1) * 8);
    A->val = (char *)A->col + aligned(A->nnz * 4);
    HY_TRY(hy_csr_file_cols(p->file, first, A->nnz, A->col));
    return hy_csr_file_vals(p->file, first, A->nnz, A->val);
}

/* ---- the thread ---------------------------------------------------------------------
 */

static void *read_ahead(void *arg)
{
    hy_a_parts *p = arg;

    hy_message_aside(&p->aside);
    p->status = read_panel(p, p->end, p->coming);
    hy_message_aside(NULL);
    pthread_mutex_lock(&p->lock);
    p->is_read = 1;
    pthread_cond_signal(&p->end_of_it);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* The panel after those that were begun. Where there is no thread to be had it is read
 * now.
 */
static void read_next(hy_a_parts *p)
{
    p->coming  = p->coming == p->panels ? p->panels + 1 : p->panels;
    p->status  = HYBRID_OK;
    p->is_read = 0;
    p->reads   = pthread_create(&p->thread, NULL, read_ahead, p) == 0;
    if (!p->reads)
        read_ahead(p);
}

/* Meanwhile the caller is told how far the call is. */
static void await(hy_a_parts *p)
{
    pthread_mutex_lock(&p->lock);
    while (p->reads && !p->is_read)
        hy_progress_wait(&p->file->ctx->progress, &p->end_of_it, &p->lock);
    pthread_mutex_unlock(&p->lock);
    if (p->reads)
        pthread_join(p->thread, NULL);
    p->reads = 0;
}

/* ---- one after the other ------------------------------------------------------------
 */

void hy_a_parts_open(const hy_csr_file *file, int64_t bytes, hy_a_parts *out)
{
    *out = (hy_a_parts){.file = file, .bytes = bytes};
    hy_message_init(&out->aside);
    pthread_mutex_init(&out->lock, NULL);
    hy_progress_cond_init(&out->end_of_it);
}

void hy_a_parts_close(hy_a_parts *p)
{
    await(p);
    for (int i = 0; i < 2; i++)
        hy_array_free_reused(p->file->ctx, &p->panels[i].block);
    hy_message_destroy(&p->aside);
    pthread_cond_destroy(&p->end_of_it);
    pthread_mutex_destroy(&p->lock);
}

hybrid_status hy_a_parts_next(hy_a_parts *p, const hy_a_part **out)
{
    hy_context *ctx    = p->file->ctx;
    const int64_t rows = p->file->shape.rows;

    *out = NULL;
    if (!p->coming && rows > 0)
        read_next(p);
    if (!p->coming || p->end == rows)
        return HYBRID_OK;
    await(p);
    if (p->status != HYBRID_OK)
        return hy_fail(ctx, p->status, "%s", p->aside.text);
    const hy_a_part *come = p->coming;
    p->end += come->A.rows;
    if (p->end < rows)
        read_next(p);
    *out = come;
    return hy_csr_check_rows(ctx, &come->A, p->file->name, come->begin, NULL);
}
