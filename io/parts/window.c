/* io/parts/window.c - a window: successive rows of a matrix in a file, as a matrix.

   The window of an array begins at a later number of the array. From the offsets of a
   sparse matrix, the offset of the window's first row is subtracted. */
#include "io/parts/window.h"

#include <string.h>

#include "base/data/csr.h"

typedef struct window {
    hy_stored inner; /* the array of the whole matrix, which the window owns */
    int64_t first;   /* index in `inner` of the window's first number */
    int64_t base;    /* for offsets only: the first row's offset, subtracted from each
                        number */
} window;

static hybrid_status read_slice(const hy_stored *self, int64_t first, int64_t count,
                                void *to)
{
    const window *w = self->reader;

    return hy_stored_read(&w->inner, w->first + first, count, to);
}

/* Reads offsets of the window and subtracts `base`. An offset below `base` becomes
   negative or larger than all offsets of the window, so that the source of the matrix
   refuses it. */
static hybrid_status read_offsets(const hy_stored *self, int64_t first, int64_t count,
                                  void *to)
{
    const window *w = self->reader;

    HY_TRY(read_slice(self, first, count, to));
    if (self->size == 4)
        for (uint32_t *at = to; count > 0; count--)
            *at++ -= (uint32_t)w->base;
    else
        for (uint64_t *at = to; count > 0; count--)
            *at++ -= (uint64_t)w->base;
    return HYBRID_OK;
}

static void close_window(hy_stored *self)
{
    window *w = self->reader;

    hy_stored_close(&w->inner);
    hy_array_free(self->ctx, w);
}

static const hy_stored_ops slice_ops   = {.read = read_slice, .close = close_window};
static const hy_stored_ops offsets_ops = {.read = read_offsets, .close = close_window};

/* Replaces the array by its numbers [first, first + count). */
static hybrid_status narrow(hy_stored *array, const hy_stored_ops *ops, int64_t first,
                            int64_t count, int64_t base)
{
    void *memory;

    HY_TRY(hy_array(array->ctx, 1, sizeof(window), "a window of an array", &memory));
    window *w     = memory;
    *w            = (window){*array, first, base};
    array->ops    = ops;
    array->count  = count;
    array->reader = w;
    return HYBRID_OK;
}

static hybrid_status read_offset(const hy_matrix_file *file, int64_t row, int64_t *out)
{
    union {
        int32_t narrow;
        int64_t wide;
    } offset;

    HY_TRY(hy_stored_read(&file->row_ptr, row, 1, &offset));
    *out = file->row_ptr.size == 4 ? offset.narrow : offset.wide;
    return HYBRID_OK;
}

static hybrid_status narrow_csr(hy_matrix_file *file, int64_t begin, int64_t end)
{
    hybrid_csr *A = &file->csr;
    int64_t first, last;

    HY_TRY(read_offset(file, begin, &first));
    HY_TRY(read_offset(file, end, &last));
    if (first < 0 || last < first || last > A->nnz)
        return hy_fail(
            file->ctx, HYBRID_BAD_MATRIX,
            "%s: rows %lld..%lld: offsets %lld and %lld decrease or are not in "
            "0..%lld",
            file->name, (long long)begin, (long long)end, (long long)first,
            (long long)last, (long long)A->nnz);
    A->rows = end - begin;
    A->nnz  = last - first;
    HY_TRY(narrow(&file->row_ptr, &offsets_ops, begin, A->rows + 1, first));
    HY_TRY(narrow(&file->col, &slice_ops, first, A->nnz, 0));
    return narrow(&file->values, &slice_ops, first, A->nnz, 0);
}

static hybrid_status narrow_dense(hy_matrix_file *file, int64_t begin, int64_t end)
{
    hybrid_dense *X     = &file->dense;
    const int in_rows   = X->order == HYBRID_ROW_MAJOR;
    const int64_t lines = in_rows ? end - begin : X->cols;
    const int64_t line  = in_rows ? X->cols : end - begin;
    const int64_t count = lines == 0 || line == 0 ? 0 : (lines - 1) * X->ld + line;

    X->rows = end - begin;
    return narrow(&file->values, &slice_ops, in_rows ? begin * X->ld : begin, count, 0);
}

hybrid_status hy_matrix_file_window(hy_matrix_file *file, int64_t begin, int64_t end)
{
    const int64_t rows = file->sparse ? file->csr.rows : file->dense.rows;

    if (begin < 0 || end < begin || end > rows)
        return hy_fail(file->ctx, HYBRID_BAD_FILE,
                       "%s: rows %lld to %lld are wanted, and the matrix has rows 0 to "
                       "%lld",
                       file->name, (long long)begin, (long long)end, (long long)rows);
    if (begin == 0 && end == rows)
        return HYBRID_OK;
    return (file->sparse ? narrow_csr : narrow_dense)(file, begin, end);
}
