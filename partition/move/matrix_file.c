/* partition/move/matrix_file.c - a matrix in a file, read in pieces. */
#include "partition/move/matrix_file.h"

#include <string.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"

void hy_matrix_file_close(hy_matrix_file *file)
{
    if (!file->ctx)
        return;
    hy_stored_close(&file->row_ptr);
    hy_stored_close(&file->col);
    hy_stored_close(&file->values);
    hy_array_free(file->ctx, file->name);
    *file = (hy_matrix_file){.ctx = NULL};
}

int64_t hy_csr_file_bytes(const hy_matrix_file *file)
{
    return hy_csr_bytes(file->csr.rows, file->csr.nnz, file->csr.type);
}

enum {
    PIECE_BYTES   = 8 << 20, /* bytes that are read between checks for cancellation */
    PIECE_OFFSETS = PIECE_BYTES / 8
};

/* Reads numbers in pieces. */
static hybrid_status read_numbers(const hy_stored *numbers, int64_t first, int64_t count,
                                  void *to)
{
    const int64_t size = (int64_t)numbers->size, most = PIECE_BYTES / size;
    hy_progress *progress = &numbers->ctx->progress;

    for (int64_t at = 0; at < count; at += most) {
        const int64_t piece = hy_min(most, count - at);
        HY_TRY(hy_progress_check(progress));
        HY_TRY(hy_stored_read(numbers, first + at, piece, (char *)to + at * size));
        hy_progress_add_bytes(progress, piece * size);
    }
    return HYBRID_OK;
}

/* ---- offsets -------------------------------------------------------------------- */

/* Widens 32-bit offsets in place. They are in the second half of `out`, so each is read
   before its bytes are overwritten. */
static void widen(int64_t *out, int64_t count)
{
    const char *narrow = (const char *)out + count * 4;

    for (int64_t i = 0; i < count; i++) {
        int32_t offset;
        memcpy(&offset, narrow + i * 4, 4);
        out[i] = offset;
    }
}

static hybrid_status read_piece(const hy_matrix_file *file, int64_t begin, int64_t count,
                                int64_t *out)
{
    const int is_narrow = file->csr.offset_type == HYBRID_I32;
    char *to            = (char *)out + (is_narrow ? count * 4 : 0);

    HY_TRY(read_numbers(&file->row_ptr, begin, count, to));
    if (is_narrow)
        widen(out, count);
    return HYBRID_OK;
}

static hybrid_status check_end(const hy_matrix_file *file, const char *which, int64_t is,
                               int64_t wanted)
{
    if (is == wanted)
        return HYBRID_OK;
    return hy_fail(file->ctx, HYBRID_BAD_MATRIX,
                   "%s: row offsets %s with %lld instead of %lld", file->name, which,
                   (long long)is, (long long)wanted);
}

static hybrid_status report_row(const hy_matrix_file *file, int64_t row, int64_t offset,
                                int64_t next)
{
    return hy_fail(file->ctx, HYBRID_BAD_MATRIX,
                   "%s: row %lld: offsets %lld and %lld decrease or are not in 0..%lld",
                   file->name, (long long)row, (long long)offset, (long long)next,
                   (long long)file->csr.nnz);
}

/* Checks `count` offsets and subtracts `first` from each; out[0] is the offset of row
   `row`. *last is the offset before these and is set to the last of them. */
static hybrid_status check_piece(const hy_matrix_file *file, int64_t row, int64_t count,
                                 int64_t first, int64_t *out, int64_t *last)
{
    for (int64_t i = 0; i < count; i++) {
        const int64_t before = *last, offset = out[i];
        if (offset < before || offset > file->csr.nnz)
            return report_row(file, row + i - 1, before, offset);
        out[i] = offset - first;
        *last  = offset;
    }
    return HYBRID_OK;
}

/* Checks that the first offset of the matrix is 0, or that of any other row at least 0
   and at most nnz. */
static hybrid_status check_first(const hy_matrix_file *file, int64_t row,
                                 const int64_t *out)
{
    if (row == 0)
        return check_end(file, "begin", out[0], 0);
    return out[0] >= 0 && out[0] <= file->csr.nnz ? HYBRID_OK
                                                  : report_row(file, row, out[0], out[1]);
}

hybrid_status hy_csr_file_offsets(const hy_matrix_file *file, int64_t begin, int64_t rows,
                                  int64_t *first, int64_t *out)
{
    int64_t last = 0;

    for (int64_t i = 0; i <= rows; i += PIECE_OFFSETS) {
        const int64_t count = hy_min(PIECE_OFFSETS, rows + 1 - i);
        HY_TRY(read_piece(file, begin + i, count, out + i));
        if (i == 0) {
            HY_TRY(check_first(file, begin, out));
            *first = last = out[0];
        }
        HY_TRY(check_piece(file, begin + i, count, *first, out + i, &last));
    }
    return begin + rows < file->csr.rows ? HYBRID_OK
                                         : check_end(file, "end", last, file->csr.nnz);
}

/* ---- entries -------------------------------------------------------------------- */

hybrid_status hy_csr_file_cols(const hy_matrix_file *file, int64_t begin, int64_t count,
                               int32_t *out)
{
    return read_numbers(&file->col, begin, count, out);
}

hybrid_status hy_csr_file_vals(const hy_matrix_file *file, int64_t begin, int64_t count,
                               void *out)
{
    return read_numbers(&file->values, begin, count, out);
}

/* ---- whole matrix --------------------------------------------------------------- */

static hybrid_status read_arrays(const hy_matrix_file *file, const hybrid_csr *A)
{
    int64_t first;

    HY_TRY(hy_csr_file_offsets(file, 0, A->rows, &first, A->row_ptr));
    HY_TRY(hy_csr_file_cols(file, 0, A->nnz, A->col));
    HY_TRY(hy_csr_file_vals(file, 0, A->nnz, A->val));
    return hy_csr_check(file->ctx, A, file->name);
}

int64_t hy_csr_file_stored_bytes(const hy_matrix_file *file)
{
    const hybrid_csr *shape = &file->csr;

    return (shape->rows + 1) * (int64_t)hy_offset_size(shape) +
           shape->nnz * (4 + (int64_t)hy_value_size(shape->type));
}

hybrid_status hy_csr_file_read(const hy_matrix_file *file, hybrid_csr *out)
{
    const hybrid_csr *shape = &file->csr;
    hybrid_csr A;

    HY_TRY(
        hy_csr_alloc(file->ctx, shape->rows, shape->cols, shape->nnz, shape->type, &A));
    const hybrid_status status = read_arrays(file, &A);
    if (status != HYBRID_OK)
        hy_csr_free(file->ctx, &A);
    else
        *out = A;
    return status;
}
