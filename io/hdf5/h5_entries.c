/* io/hdf5/h5_entries.c - reads the entries of a matrix in an HDF5 file, batch by
   batch. */
#include "io/hdf5/h5_entries.h"

#include <string.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"

enum {
    BATCH  = 1 << 16 /* maximum entries of a batch */,
    WINDOW = 1 << 12 /* number of lines (rows or columns) of which pointers are read at
                        once */
};

typedef struct entries {
    hy_h5_lines arrays;
    int64_t at;     /* number of entries read so far */
    int64_t line;   /* stored line of the next entry, an index in `pointers` */
    int64_t window; /* index in `pointers` of the first line in `pointer` and `index` */
    int64_t held;   /* number of lines in `pointer` and `index` */
    int64_t pointer[WINDOW + 1];
    int64_t index[WINDOW]; /* row or column of the matrix that each of these lines is */
    int64_t of_line[BATCH], in_line[BATCH];
    double values[BATCH]; /* values of a batch; if the type is F32, floats in the first
                             half */
    char path[];
} entries;

/* ---- lines with pointers ----------------------------------------------------------- */

static hybrid_status fail_pointers(const hy_entry_reader *self, int64_t line,
                                   int64_t begin, int64_t end)
{
    const entries *e = self->reader;

    return hy_fail(
        self->ctx, HYBRID_BAD_FILE,
        "%s: pointers %lld and %lld of line %lld decrease or are not in 0..%lld", e->path,
        (long long)begin, (long long)end, (long long)line, (long long)self->nnz);
}

/* Reads and checks the pointers of the next WINDOW lines, from line e->line on. */
static hybrid_status next_window(const hy_entry_reader *self)
{
    entries *e            = self->reader;
    const int64_t lines   = e->arrays.pointers.count - 1;
    const int64_t expects = e->line == 0 ? 0 : e->pointer[e->held];

    e->window = e->line;
    e->held   = hy_min(WINDOW, lines - e->line);
    HY_TRY(hy_stored_read(&e->arrays.pointers, e->line, e->held + 1, e->pointer));
    if (e->pointer[0] != expects)
        return fail_pointers(self, e->line, expects, e->pointer[0]);
    for (int64_t i = 0; i < e->held; i++)
        if (e->pointer[i + 1] < e->pointer[i] || e->pointer[i + 1] > self->nnz)
            return fail_pointers(self, e->line + i, e->pointer[i], e->pointer[i + 1]);
    if (e->line + e->held == lines && e->pointer[e->held] != self->nnz)
        return fail_pointers(self, lines - 1, e->pointer[e->held], self->nnz);
    if (e->arrays.lines.ops)
        return hy_stored_read(&e->arrays.lines, e->line, e->held, e->index);
    for (int64_t i = 0; i < e->held; i++)
        e->index[i] = e->line + i;
    return HYBRID_OK;
}

/* Sets e->of_line to the row or column, whichever the lines are, of each of the next
   `count` entries. */
static hybrid_status find_lines(const hy_entry_reader *self, int64_t count)
{
    entries *e = self->reader;

    for (int64_t i = 0; i < count;) {
        if (e->line == e->window + e->held)
            HY_TRY(next_window(self));
        const int64_t l   = e->line - e->window;
        const int64_t end = hy_min(count, e->pointer[l + 1] - e->at);
        for (; i < end; i++)
            e->of_line[i] = e->index[l];
        if (i < count || e->pointer[l + 1] == e->at + count)
            e->line++;
    }
    return HYBRID_OK;
}

/* ---- batches ----------------------------------------------------------------------- */

static hybrid_status check_index(const hy_entry_reader *self, int64_t k, int64_t index,
                                 int64_t size, const char *what)
{
    const entries *e = self->reader;

    if (index >= 0 && index < size)
        return HYBRID_OK;
    return hy_fail(self->ctx, HYBRID_BAD_FILE,
                   "%s: entry %lld: %s %lld is not in 0..%lld", e->path, (long long)k,
                   what, (long long)index, (long long)size - 1);
}

static hybrid_status place(const hy_entry_reader *self, int64_t count, hy_entry *to)
{
    const entries *e  = self->reader;
    const int by_cols = e->arrays.by_cols;

    for (int64_t i = 0; i < count; i++) {
        to[i].row   = by_cols ? e->in_line[i] : e->of_line[i];
        to[i].col   = by_cols ? e->of_line[i] : e->in_line[i];
        to[i].value = hy_value_at(self->type, e->values, i);
        HY_TRY(check_index(self, e->at + i, to[i].row, self->rows, "row"));
        HY_TRY(check_index(self, e->at + i, to[i].col, self->cols, "column"));
        if (self->mirror < 0 && to[i].row == to[i].col)
            return hy_fail(self->ctx, HYBRID_BAD_FILE,
                           "%s: entry %lld is on the diagonal of a skew-symmetric matrix",
                           e->path, (long long)e->at + i);
    }
    return HYBRID_OK;
}

/* Reads the next `count` entries, at most BATCH, to `to`. */
static hybrid_status read_batch(const hy_entry_reader *self, int64_t count, hy_entry *to)
{
    entries *e        = self->reader;
    hy_h5_lines *from = &e->arrays;

    HY_TRY(hy_stored_read(&from->indices, e->at, count, e->in_line));
    HY_TRY(hy_stored_read(&from->values, e->at, count, e->values));
    if (from->pointers.ops)
        HY_TRY(find_lines(self, count));
    else
        HY_TRY(hy_stored_read(&from->lines, e->at, count, e->of_line));
    HY_TRY(place(self, count, to));
    e->at += count;
    return HYBRID_OK;
}

/* Checks the pointers of a matrix without entries, or of lines after the last entry. */
static hybrid_status check_rest(const hy_entry_reader *self)
{
    entries *e = self->reader;

    while (e->arrays.pointers.ops && e->window + e->held < e->arrays.pointers.count - 1) {
        e->line = e->window + e->held;
        HY_TRY(next_window(self));
    }
    return HYBRID_OK;
}

static hybrid_status next(hy_entry_reader *self, int64_t most, hy_entry *to,
                          int64_t *count)
{
    const entries *e     = self->reader;
    const int64_t wanted = hy_min(most, self->nnz - e->at);

    for (*count = 0; *count < wanted;) {
        const int64_t batch = hy_min(BATCH, wanted - *count);
        HY_TRY(hy_progress_check(&self->ctx->progress));
        HY_TRY(read_batch(self, batch, to + *count));
        *count += batch;
    }
    return wanted > 0 ? HYBRID_OK : check_rest(self);
}

/* ---- opening and closing ----------------------------------------------------------- */

void hy_h5_lines_close(hy_h5_lines *lines)
{
    hy_stored_close(&lines->pointers);
    hy_stored_close(&lines->lines);
    hy_stored_close(&lines->indices);
    hy_stored_close(&lines->values);
}

static void close_entries(hy_entry_reader *self)
{
    entries *e = self->reader;

    hy_h5_lines_close(&e->arrays);
    hy_array_free(self->ctx, e);
}

hybrid_status hy_h5_entries_open(hy_context *ctx, const char *path, hy_h5_lines *lines,
                                 hy_entry_reader *out)
{
    static const hy_entry_reader_ops ops = {.next = next, .close = close_entries};
    const size_t length                  = strlen(path) + 1;
    void *memory;

    const hybrid_status status = hy_array(ctx, (int64_t)(sizeof(entries) + length), 1,
                                          "a part of a file", &memory);
    if (status != HYBRID_OK) {
        hy_h5_lines_close(lines);
        return status;
    }
    entries *e = memory;
    e->arrays  = *lines;
    e->at = e->line = e->window = e->held = 0;
    memcpy(e->path, path, length);
    out->ops    = &ops;
    out->ctx    = ctx;
    out->reader = e;
    return HYBRID_OK;
}
