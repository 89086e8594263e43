/* partition/move/source_csr_file.c - source of an A or a B in a file.

   The thread that needs an array reads it, in pieces, when it is needed. The reader
   checks for cancellation before each piece (hy_progress_check()), and reports the bytes
   after it (hy_progress_add_bytes()). */
#include <string.h>

#include "base/contract/image.h"
#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "partition/move/sources.h"
#include "partition/parts/a_part.h"
#include "partition/parts/b_rows.h"

enum { PIECE_BYTES = 8 << 20 };

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

/* Checks that `count` offsets do not fall; out[0] is the offset of row `row`. *last is
   the offset before out[0], and is set to the last of the offsets. */
static hybrid_status check_piece(const hy_matrix_file *file, int64_t row, int64_t count,
                                 const int64_t *out, int64_t *last)
{
    for (int64_t i = 0; i < count; i++) {
        if (out[i] < *last || out[i] > file->csr.nnz)
            return report_row(file, row + i - 1, *last, out[i]);
        *last = out[i];
    }
    return HYBRID_OK;
}

/* Checks out[0], the offset of row `row`: it must be 0 for the first row of the matrix,
   else 0 to nnz. */
static hybrid_status check_first(const hy_matrix_file *file, int64_t row,
                                 const int64_t *out)
{
    if (row == 0)
        return check_end(file, "begin", out[0], 0);
    return out[0] >= 0 && out[0] <= file->csr.nnz ? HYBRID_OK
                                                  : report_row(file, row, out[0], out[1]);
}

/* Reads the offsets of rows [begin, begin + count - 1) and the offset after them; count >
   1. Returns BAD_MATRIX with a message if offsets fall or leave 0..nnz (the message names
   the first such row), or if the first or last offset of the file is not 0 or nnz. */
static hybrid_status read_offsets(const hy_matrix_file *file, int64_t begin,
                                  int64_t count, int64_t *out)
{
    const int is_narrow = file->csr.offset_type == HYBRID_I32;
    const int64_t most  = PIECE_BYTES / 8;
    int64_t last        = 0;

    for (int64_t i = 0; i < count; i += most) {
        const int64_t piece = hy_min(most, count - i);
        HY_TRY(read_numbers(&file->row_ptr, begin + i, piece,
                            (char *)(out + i) + (is_narrow ? piece * 4 : 0)));
        if (is_narrow)
            widen(out + i, piece);
        if (i == 0) {
            HY_TRY(check_first(file, begin, out));
            last = out[0];
        }
        HY_TRY(check_piece(file, begin + i, piece, out + i, &last));
    }
    return begin + count <= file->csr.rows ? HYBRID_OK
                                           : check_end(file, "end", last, file->csr.nnz);
}

/* ---- arrays ------------------------------------------------------------------- */

static hybrid_status fill(const hy_source *self, const hy_rect *rect, const hy_grid *to)
{
    const hy_matrix_file *file = self->matrix_file;

    if (rect->col == HY_CSR_OFFSETS)
        return read_offsets(file, rect->row, rect->rows, (int64_t *)(void *)to->at);
    return read_numbers(rect->col == HY_CSR_COLS ? &file->col : &file->values, rect->row,
                        rect->rows, to->at);
}

/* ---- whole matrix --------------------------------------------------------------- */

static hybrid_status read_arrays(const hy_source *source, const hybrid_csr *A)
{
    HY_TRY(hy_source_array(source, HY_CSR_OFFSETS, 0, A->rows + 1, A->row_ptr));
    HY_TRY(hy_source_array(source, HY_CSR_COLS, 0, A->nnz, A->col));
    HY_TRY(hy_source_array(source, HY_CSR_VALUES, 0, A->nnz, A->val));
    return hy_csr_check(source->ctx, A, source->name);
}

static hybrid_status whole(const hy_source *self, hybrid_csr *own, const hybrid_csr **out)
{
    const hybrid_csr *shape = self->csr;
    hybrid_csr A;

    HY_TRY(
        hy_csr_alloc(self->ctx, shape->rows, shape->cols, shape->nnz, shape->type, &A));
    const hybrid_status status = read_arrays(self, &A);
    if (status != HYBRID_OK) {
        hy_csr_free(self->ctx, &A);
        return status;
    }
    *own = A;
    *out = own;
    return HYBRID_OK;
}

/* ---- the source ------------------------------------------------------------------- */

static hybrid_status describe(const hy_source *self, const char *name, hy_facts *facts)
{
    return hy_matrix_file_describe(self->matrix_file, name, facts);
}

static const hy_source_ops ops = {.fill      = fill,
                                  .whole     = whole,
                                  .describe  = describe,
                                  .next_part = hy_a_parts_read,
                                  .next_rows = hy_b_rows_read};

hy_source hy_source_csr_file(const hy_matrix_file *A)
{
    return (hy_source){.ops         = &ops,
                       .ctx         = A->ctx,
                       .rows        = A->csr.rows,
                       .cols        = A->csr.cols,
                       .csr         = &A->csr,
                       .matrix_file = A,
                       .name        = A->name};
}
