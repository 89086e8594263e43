/* io/numbers/entry_arrays.c - entries of a sparse matrix whose file holds arrays. */
#include "io/numbers/entry_arrays.h"

#include <string.h>

#include "base/data/min_max.h"
#include "base/data/value_type.h"

enum { PIECE = 8192 }; /* numbers of each array that are read at once */

/* CSR and CSC are compressed: the lines are rows or columns, and each entry has an index
   within its line. */
typedef struct entry_arrays {
    hy_entry_arrays from;
    int64_t at;                        /* index of the next entry */
    int64_t line;                      /* compressed: line of the next entry */
    int64_t lines;                     /* compressed: number of lines */
    const char *name_of_line;          /* compressed: "row" or "column" */
    const hy_stored *offsets, *index;  /* compressed: the arrays of `from` with offsets,
                                          and with indices within lines */
    int64_t offsets_at, offsets_count; /* compressed: `col_piece` holds `offsets_count`
                                          offsets, the first of which is number
                                          `offsets_at` */
    int64_t row_piece[PIECE], col_piece[PIECE];
    double value_piece[PIECE];
    char name[];
} entry_arrays;

static hybrid_status check_index(const hy_entry_reader *self, const char *what,
                                 int64_t entry, int64_t index, int64_t limit)
{
    const entry_arrays *e = self->reader;

    if (index >= 0 && index < limit)
        return HYBRID_OK;
    return hy_fail(self->ctx, HYBRID_BAD_MATRIX,
                   "%s: entry %lld: %s %lld is not in 0..%lld", e->name, (long long)entry,
                   what, (long long)index, (long long)limit - 1);
}

/* ---- COO --------------------------------------------------------------------------- */

static hybrid_status next_coo(hy_entry_reader *self, int64_t most, hy_entry *to,
                              int64_t *count)
{
    entry_arrays *e = self->reader;
    const int64_t n = hy_min(hy_min(most, PIECE), self->nnz - e->at);

    *count = 0;
    HY_TRY(hy_progress_check(&self->ctx->progress));
    HY_TRY(hy_stored_read(&e->from.row, e->at, n, e->row_piece));
    HY_TRY(hy_stored_read(&e->from.col, e->at, n, e->col_piece));
    HY_TRY(hy_stored_read(&e->from.values, e->at, n, e->value_piece));
    for (int64_t i = 0; i < n; i++) {
        to[i] = (hy_entry){e->row_piece[i], e->col_piece[i],
                           hy_value_at(e->from.type, e->value_piece, i)};
        HY_TRY(check_index(self, "row", e->at + i, to[i].row, self->rows));
        HY_TRY(check_index(self, "column", e->at + i, to[i].col, self->cols));
    }
    e->at += n;
    *count = n;
    return HYBRID_OK;
}

/* ---- CSR and CSC ------------------------------------------------------------------- */

/* Sets *end to the offset behind the line, and checks it. */
static hybrid_status line_end(const hy_entry_reader *self, int64_t line, int64_t *end)
{
    entry_arrays *e = self->reader;

    if (line + 1 >= e->offsets_at + e->offsets_count) {
        const int64_t n = hy_min(PIECE, e->lines - line);
        HY_TRY(hy_stored_read(e->offsets, line + 1, n, e->col_piece));
        e->offsets_at    = line + 1;
        e->offsets_count = n;
    }
    *end = e->col_piece[line + 1 - e->offsets_at];
    if (*end >= e->at && *end <= self->nnz && (line + 1 < e->lines || *end == self->nnz))
        return HYBRID_OK;
    return hy_fail(self->ctx, HYBRID_BAD_MATRIX,
                   "%s: %s %lld: its offsets decrease or do not end with the number of "
                   "entries, %lld",
                   e->name, e->name_of_line, (long long)line, (long long)self->nnz);
}

/* Makes *to from number `i` of the pieces of indices and values, and from the current
   line. */
static hybrid_status take_entry(const hy_entry_reader *self, int64_t i, hy_entry *to)
{
    const entry_arrays *e = self->reader;
    const int64_t index   = e->row_piece[i];

    if (e->index == &e->from.row) {
        *to = (hy_entry){index, e->line, hy_value_at(e->from.type, e->value_piece, i)};
        return check_index(self, "row", e->at, index, self->rows);
    }
    *to = (hy_entry){e->line, index, hy_value_at(e->from.type, e->value_piece, i)};
    return check_index(self, "column", e->at, index, self->cols);
}

/* Checks the offsets of lines behind the last entry. */
static hybrid_status check_last_lines(const hy_entry_reader *self)
{
    entry_arrays *e = self->reader;

    for (int64_t end; e->line < e->lines; e->line++)
        HY_TRY(line_end(self, e->line, &end));
    return HYBRID_OK;
}

static hybrid_status next_compressed(hy_entry_reader *self, int64_t most, hy_entry *to,
                                     int64_t *count)
{
    entry_arrays *e     = self->reader;
    const int64_t n     = hy_min(hy_min(most, PIECE), self->nnz - e->at);
    const int64_t begin = e->at;

    *count = 0;
    HY_TRY(hy_progress_check(&self->ctx->progress));
    if (n == 0)
        return check_last_lines(self);
    HY_TRY(hy_stored_read(e->index, begin, n, e->row_piece));
    HY_TRY(hy_stored_read(&e->from.values, begin, n, e->value_piece));
    while (e->at < begin + n) {
        int64_t end;
        if (e->line == e->lines) /* the matrix has no lines */
            return check_index(self, e->name_of_line, e->at, e->line, e->lines);
        HY_TRY(line_end(self, e->line, &end));
        for (; e->at < hy_min(end, begin + n); e->at++)
            HY_TRY(take_entry(self, e->at - begin, &to[e->at - begin]));
        e->line += e->at == end;
    }
    *count = n;
    return HYBRID_OK;
}

/* ---- functions for formats --------------------------------------------------------- */

static void close_arrays(hy_entry_arrays *arrays)
{
    hy_stored_close(&arrays->row);
    hy_stored_close(&arrays->col);
    hy_stored_close(&arrays->values);
}

static void close_reader(hy_entry_reader *self)
{
    entry_arrays *e = self->reader;

    close_arrays(&e->from);
    hy_array_free(self->ctx, e);
}

static const hy_entry_reader_ops coo_ops = {.next = next_coo, .close = close_reader};
static const hy_entry_reader_ops compressed_ops = {.next  = next_compressed,
                                                   .close = close_reader};

static hybrid_status open_reader(hy_context *ctx, hy_entry_arrays *arrays,
                                 const hy_entry_reader_ops *ops, hy_entry_reader *out)
{
    const size_t length = strlen(arrays->name) + 1;
    void *memory;

    const hybrid_status status = hy_array(ctx, 1, sizeof(entry_arrays) + length,
                                          "pieces of the arrays of a file", &memory);
    if (status != HYBRID_OK) {
        close_arrays(arrays);
        return status;
    }
    entry_arrays *e = memory;
    e->from         = *arrays;
    e->at = e->line = e->offsets_at = e->offsets_count = 0;
    memcpy(e->name, arrays->name, length);
    *out = (hy_entry_reader){.ops    = ops,
                             .ctx    = ctx,
                             .rows   = arrays->rows,
                             .cols   = arrays->cols,
                             .nnz    = arrays->values.count,
                             .type   = arrays->type,
                             .reader = e};
    return HYBRID_OK;
}

hybrid_status hy_entry_reader_coo(hy_context *ctx, hy_entry_arrays *arrays,
                                  hy_entry_reader *out)
{
    return open_reader(ctx, arrays, &coo_ops, out);
}

/* Opens a reader of compressed lines, and checks the first offset. */
static hybrid_status open_compressed(hy_context *ctx, hy_entry_arrays *arrays,
                                     int by_rows, hy_entry_reader *out)
{
    const char *name = by_rows ? "row" : "column";
    int64_t first    = 0;

    hybrid_status status =
        hy_stored_read(by_rows ? &arrays->row : &arrays->col, 0, 1, &first);
    if (status == HYBRID_OK && first != 0)
        status =
            hy_fail(ctx, HYBRID_BAD_MATRIX, "%s: %s offsets begin with %lld instead of 0",
                    arrays->name, name, (long long)first);
    if (status != HYBRID_OK) {
        close_arrays(arrays);
        return status;
    }
    HY_TRY(open_reader(ctx, arrays, &compressed_ops, out));
    entry_arrays *e = out->reader;
    e->lines        = by_rows ? arrays->rows : arrays->cols;
    e->name_of_line = name;
    e->offsets      = by_rows ? &e->from.row : &e->from.col;
    e->index        = by_rows ? &e->from.col : &e->from.row;
    return HYBRID_OK;
}

hybrid_status hy_entry_reader_csc(hy_context *ctx, hy_entry_arrays *arrays,
                                  hy_entry_reader *out)
{
    return open_compressed(ctx, arrays, 0, out);
}

hybrid_status hy_entry_reader_csr(hy_context *ctx, hy_entry_arrays *arrays,
                                  hy_entry_reader *out)
{
    return open_compressed(ctx, arrays, 1, out);
}
