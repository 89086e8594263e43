/* io/petsc/row_lengths.c - row offsets of a file that holds the length of each row.

   The offset of a row is the sum of all lengths before it. The offset of every STEP-th
   row is kept, so that a reading begins at most STEP rows earlier. */
#include "io/petsc/row_lengths.h"

#include <string.h>

#include "base/data/min_max.h"

enum { STEP = 4096 }; /* rows between two offsets that are kept */

typedef struct row_lengths {
    hy_stored lengths;
    int64_t nnz;
    int64_t *offset; /* offset[i] is the offset of row i * STEP */
    char *name;
} row_lengths;

static hybrid_status bad_length(const row_lengths *r, int64_t row, int64_t length,
                                int64_t left)
{
    return hy_fail(r->lengths.ctx, HYBRID_BAD_MATRIX,
                   "%s: row %lld: a length of %lld is negative, or exceeds the %lld "
                   "entries that are left",
                   r->name, (long long)row, (long long)length, (long long)left);
}

/* Adds the lengths of rows [row, row + count), at most STEP, to *sum. Before each is
   added, writes *sum to `to`, unless that is NULL. */
static hybrid_status add_lengths(const row_lengths *r, int64_t row, int64_t count,
                                 int64_t *sum, int64_t *to)
{
    int64_t length[STEP];

    HY_TRY(hy_stored_read(&r->lengths, row, count, length));
    for (int64_t i = 0; i < count; i++) {
        if (to)
            to[i] = *sum;
        if (length[i] < 0 || length[i] > r->nnz - *sum)
            return bad_length(r, row + i, length[i], r->nnz - *sum);
        *sum += length[i];
    }
    return HYBRID_OK;
}

/* A block of STEP rows is read from its first row on, because the file has lengths only.
   The offset behind the last row is nnz. */
static hybrid_status read_offsets(const hy_stored *self, int64_t first, int64_t count,
                                  void *to)
{
    const row_lengths *r = self->reader;
    const int64_t rows   = r->lengths.count;
    int64_t *out         = to;

    for (int64_t row = first, end = first + count; row < end;) {
        const int64_t block = row / STEP * STEP;
        const int64_t stop  = hy_min(hy_min(block + STEP, rows), end);
        int64_t sum         = r->offset[row / STEP];
        if (row == rows) {
            *out = r->nnz;
            break;
        }
        HY_TRY(add_lengths(r, block, row - block, &sum, NULL));
        HY_TRY(add_lengths(r, row, stop - row, &sum, out));
        out += stop - row;
        row = stop;
    }
    return HYBRID_OK;
}

static void close_lengths(hy_stored *self)
{
    row_lengths *r = self->reader;

    hy_stored_close(&r->lengths);
    hy_array_free(self->ctx, r);
}

static const hy_stored_ops ops = {.read = read_offsets, .close = close_lengths};

static hybrid_status sum_lengths(hy_context *ctx, row_lengths *r)
{
    const int64_t rows = r->lengths.count;
    int64_t sum        = 0;

    r->offset[0] = 0;
    for (int64_t row = 0; row < rows; row += STEP) {
        HY_TRY(hy_progress_check(&ctx->progress));
        HY_TRY(add_lengths(r, row, hy_min(STEP, rows - row), &sum, NULL));
        r->offset[row / STEP + 1] = sum;
    }
    if (sum != r->nnz)
        return hy_fail(ctx, HYBRID_BAD_MATRIX,
                       "%s: its rows have %lld entries, and it announces %lld", r->name,
                       (long long)sum, (long long)r->nnz);
    return HYBRID_OK;
}

hybrid_status hy_row_lengths_open(hy_context *ctx, const char *name, hy_stored *lengths,
                                  int64_t nnz, hy_stored *out)
{
    const size_t length = strlen(name) + 1;
    const int64_t kept  = lengths->count / STEP + 2;
    hy_stored offsets = {.ops = &ops, .ctx = ctx, .size = 8, .count = lengths->count + 1};

    hybrid_status status =
        hy_array(ctx, (int64_t)(sizeof(row_lengths) + length) + kept * 8, 1,
                 "offsets of rows in a file", &offsets.reader);
    if (status != HYBRID_OK) {
        hy_stored_close(lengths);
        return status;
    }
    row_lengths *r  = offsets.reader;
    int64_t *offset = (void *)(r + 1);
    *r              = (row_lengths){*lengths, nnz, offset, (char *)(offset + kept)};
    *lengths        = (hy_stored){.ops = NULL};
    memcpy(r->name, name, length);
    status = sum_lengths(ctx, r);
    if (status != HYBRID_OK)
        hy_stored_close(&offsets);
    else
        *out = offsets;
    return status;
}
