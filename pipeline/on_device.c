/* pipeline/on_device.c - operands in the memory of the device that computes. */
#include "pipeline/on_device.h"

#include "base/csr.h"
#include "base/extremes.h"
#include "pipeline/room.h"

enum { VECTOR = 16 /* bytes: where rows of X begin that kernels read in vectors */ };

static hy_lane *lane_of(const hy_site *site)
{
    return site->lane_set->lanes[HY_ON_IN];
}

/* ---- B ------------------------------------------------------------------------------
 */

/* Kernels read offsets of 64 bits. */
static hybrid_status begin_b(hy_site *site, hy_problem *problem)
{
    const hybrid_csr *B = problem->device_b;
    const size_t bytes  = (size_t)(B->rows + 1) * 8;

    if (B->offset_type == HYBRID_I64)
        return HYBRID_OK;
    HY_TRY(hy_room_get(site->backend, bytes, &site->second));
    site->b             = *B;
    site->b.offset_type = HYBRID_I64;
    site->b.row_ptr     = site->second.ptr;
    problem->device_b   = &site->b;
    return site->backend->ops->rebase(lane_of(site),
                                      &(hy_rebasing){.to        = site->second.ptr,
                                                     .from      = B->row_ptr,
                                                     .to_type   = HYBRID_I64,
                                                     .from_type = HYBRID_I32,
                                                     .count     = B->rows + 1});
}

/* ---- X ------------------------------------------------------------------------------
 */

/* X as rows, if it is that too: a column without gaps is. */
static hybrid_dense in_rows(const hybrid_dense *X)
{
    hybrid_dense rows = *X;

    if (X->order == HYBRID_COL_MAJOR && X->cols == 1) {
        rows.order = HYBRID_ROW_MAJOR;
        rows.ld    = 1;
    }
    return rows;
}

/* Rows with gaps are whole vectors: the last one ends with the array. */
static int lies_as_kernels_read(const hy_image *image, const hybrid_dense *X)
{
    const size_t size = hy_value_size(X->type);

    return image->form == HY_FORM_ROWS && X->order == HYBRID_ROW_MAJOR &&
           (uintptr_t)X->data % VECTOR == 0 && (size_t)X->ld <= UINT32_MAX / size &&
           (X->ld == X->cols || ((size_t)X->cols * size) % VECTOR == 0);
}

/* X without what is said of where it goes. */
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

static hybrid_status place_rows(const hy_site *site, const hy_image *image,
                                const hybrid_dense *X)
{
    const hy_region r  = hy_image_region(image, 0);
    const int64_t near = r.cols - r.tail;
    char *base         = site->second.ptr;
    hy_combining lines = from_x(X, 0, 0);
    hy_combining tails = from_x(X, 0, near);
    hy_lane *lane      = lane_of(site);

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

static hybrid_status place_slabs(const hy_site *site, const hybrid_dense *X)
{
    const size_t size = hy_value_size(X->type);
    hy_lane *lane     = lane_of(site);

    for (int64_t row = 0; row < X->rows; row += HY_X_SLAB) {
        hy_combining c = from_x(X, row, 0);
        c.rows         = hy_lesser(HY_X_SLAB, X->rows - row);
        c.cols = c.filled = X->cols;
        c.to              = (char *)site->second.ptr + (size_t)(row * X->cols) * size;
        c.to_row          = 1;
        c.to_col          = c.rows;
        HY_TRY(lane->backend->ops->combine(lane, &c));
    }
    return HYBRID_OK;
}

static hybrid_status begin_x(hy_site *site, hy_problem *problem)
{
    const hy_image *image = &problem->image;

    site->x = in_rows(problem->X);
    if (lies_as_kernels_read(image, &site->x)) {
        problem->device_x = &site->x;
        return HYBRID_OK;
    }
    HY_TRY(hy_room_get(site->backend, hy_align(hy_image_room(image)), &site->second));
    problem->shared = site->second;
    return image->form == HY_FORM_ROWS ? place_rows(site, image, &site->x)
                                       : place_slabs(site, &site->x);
}

hybrid_status hy_on_device_begin(hy_site *site, hy_problem *problem)
{
    if (problem->device_b)
        return begin_b(site, problem);
    if (problem->X && problem->X->space == HYBRID_SPACE_DEVICE && problem->A->rows > 0 &&
        problem->X->rows > 0 && problem->X->cols > 0)
        return begin_x(site, problem);
    return HYBRID_OK;
}
