/* pipeline/run/on_device.c - operands that the caller has in the memory of the device. */
#include "pipeline/run/on_device.h"

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "pipeline/site/tenant.h"

enum {
    VECTOR = 16 /* bytes to which rows of X must be aligned, because kernels read them
                   in vectors */
};

/* ---- A and B ------------------------------------------------------------------- */

/* Enqueues the conversion of an index array from one type to another. */
static hybrid_status convert(hy_lane *lane, void *to, hybrid_index to_type,
                             const void *from, hybrid_index from_type, int64_t count)
{
    const hy_rebasing r = {.to        = to,
                           .from      = from,
                           .to_type   = to_type,
                           .from_type = from_type,
                           .count     = count};

    return lane->backend->ops->rebase(lane, &r);
}

/* Enqueues the conversion of arrays that kernels cannot read into `room`, and lets
   *matrix refer to the copies: columns are converted to 32 bits and, if `offsets` is 1
   (B), offsets to 64 bits. */
static hybrid_status convert_indices(hy_lane *lane, int offsets, hy_buffer *room,
                                     const hybrid_csr **matrix, hybrid_csr *converted)
{
    const hybrid_csr *A = *matrix;
    const int narrows   = A->col_type == HYBRID_I64 && A->nnz > 0;
    const int widens    = offsets && A->offset_type == HYBRID_I32;
    const size_t first  = widens ? hy_align((size_t)(A->rows + 1) * 8) : 0;
    const size_t bytes  = first + (narrows ? (size_t)A->nnz * 4 : 0);

    if (bytes == 0)
        return HYBRID_OK;
    HY_TRY(hy_tenants_alloc(lane->backend, bytes,
                            "offsets or columns in the type that kernels read", room));
    *converted = *A;
    *matrix    = converted;
    if (widens) {
        converted->row_ptr     = room->ptr;
        converted->offset_type = HYBRID_I64;
        HY_TRY(convert(lane, room->ptr, HYBRID_I64, A->row_ptr, HYBRID_I32, A->rows + 1));
    }
    if (!narrows)
        return HYBRID_OK;
    converted->col      = (char *)room->ptr + first;
    converted->col_type = HYBRID_I32;
    return convert(lane, converted->col, HYBRID_I32, A->col, HYBRID_I64, A->nnz);
}

/* ---- X ------------------------------------------------------------------------- */

/* Returns X, as a row-major matrix with ld 1 if X is column-major and has one column. */
static hybrid_dense in_rows(const hybrid_dense *X)
{
    hybrid_dense rows = *X;

    if (X->order == HYBRID_COL_MAJOR && X->cols == 1) {
        rows.order = HYBRID_ROW_MAJOR;
        rows.ld    = 1;
    }
    return rows;
}

/* Returns 1 if kernels can read X where the caller has it. If rows have gaps, rows must
   consist of whole vectors, because nothing may be read behind the last row. */
static int lies_as_kernels_read(const hy_image *image, const hybrid_dense *X)
{
    const size_t size = hy_value_size(X->type);

    return image->form == HY_FORM_ROWS && X->order == HYBRID_ROW_MAJOR &&
           (uintptr_t)X->data % VECTOR == 0 && (size_t)X->ld <= UINT32_MAX / size &&
           (X->ld == X->cols || ((size_t)X->cols * size) % VECTOR == 0);
}

/* Returns the description of a copy of X from element (row, col) on; the caller adds the
   destination and the number of columns. */
static hy_combining from_x(const hybrid_dense *X, int64_t row, int64_t col)
{
    const int rows = X->order == HYBRID_ROW_MAJOR;

    return (hy_combining){
        .from     = hy_dense_at(X, rows ? row * X->ld + col : row + col * X->ld),
        .from_row = rows ? X->ld : 1,
        .from_col = rows ? 1 : X->ld,
        .rows     = X->rows - row,
        .alpha    = 1,
        .type     = X->type};
}

static hybrid_status place_rows(hy_lane *lane, void *room, const hy_image *image,
                                const hybrid_dense *X)
{
    const hy_region r  = hy_image_region(image, 0);
    const int64_t near = r.cols - r.tail;
    char *base         = room;
    hy_combining lines = from_x(X, 0, 0);
    hy_combining tails = from_x(X, 0, near);

    lines.to     = base + hy_image_row_at(image, &r, 0);
    lines.to_row = lines.filled = r.ld;
    lines.to_col = tails.to_col = 1;
    lines.cols                  = near;
    HY_TRY(lane->backend->ops->combine(lane, &lines));
    if (r.tail == 0)
        return HYBRID_OK;
    tails.to     = base + hy_image_tail_at(image, &r, 0);
    tails.to_row = tails.filled = r.tail_ld;
    tails.cols                  = r.tail;
    return lane->backend->ops->combine(lane, &tails);
}

static hybrid_status place_slabs(hy_lane *lane, void *room, const hybrid_dense *X)
{
    const size_t size = hy_value_size(X->type);

    for (int64_t row = 0; row < X->rows; row += HY_X_SLAB) {
        hy_combining c = from_x(X, row, 0);
        c.rows         = hy_min(HY_X_SLAB, X->rows - row);
        c.cols = c.filled = X->cols;
        c.to              = (char *)room + (size_t)(row * X->cols) * size;
        c.to_row          = 1;
        c.to_col          = c.rows;
        HY_TRY(lane->backend->ops->combine(lane, &c));
    }
    return HYBRID_OK;
}

static hybrid_status begin_x(hy_lane *lane, hy_converted *converted, hy_problem *problem)
{
    const hy_image *image = &problem->image;
    hybrid_dense *X       = &converted->x;

    *X                              = in_rows(problem->X);
    problem->source.on_device.dense = lies_as_kernels_read(image, X) ? X : NULL;
    if (problem->source.on_device.dense)
        return HYBRID_OK;
    HY_TRY(hy_tenants_alloc(lane->backend, hy_align(hy_image_room(image)),
                            "X in the order that kernels read", &converted->second));
    problem->image_memory = converted->second;
    return image->form == HY_FORM_ROWS ? place_rows(lane, converted->second.ptr, image, X)
                                       : place_slabs(lane, converted->second.ptr, X);
}

hybrid_status hy_on_device_begin(hy_lane *lane, hy_converted *converted,
                                 hy_problem *problem)
{
    hy_on_device *a = &problem->a_source.on_device, *second = &problem->source.on_device;

    if (a->csr)
        HY_TRY(convert_indices(lane, 0, &converted->columns, &a->csr, &converted->a));
    if (second->csr)
        return convert_indices(lane, 1, &converted->second, &second->csr, &converted->b);
    return second->dense ? begin_x(lane, converted, problem) : HYBRID_OK;
}

void hy_on_device_end(hy_backend *backend, hy_converted *converted)
{
    backend->ops->free(backend, &converted->second);
    backend->ops->free(backend, &converted->columns);
}
