/* io/mtx/line_entries.c - delivers the entries of a text. All lines of a window (the part
   of the text that is in memory) are read at once, in parallel, and their entries are
   delivered in batches. */
#include "io/mtx/line_entries.h"

#include <string.h>

#include "base/data/min_max.h"
#include "base/threads/pool.h"

enum { PIECE = 1 << 15 }; /* entries that a worker converts at once */

/* ---- a window ---------------------------------------------------------------------- */

/* Extends the least and the greatest indices of all entries so far by those of `count`
   further entries. */
static void note_extent(hy_line_entries *r, const hy_mtx_entry *e, int64_t count)
{
    int64_t least = INT64_MAX, row = -1, col = -1;

    for (int64_t k = 0; k < count; k++) {
        least = hy_min(least, hy_min(e[k].row, e[k].col));
        row   = hy_max(row, e[k].row);
        col   = hy_max(col, e[k].col);
    }
    hy_lower_to(&r->least, least);
    hy_raise_to(&r->rows, row + 1);
    hy_raise_to(&r->cols, col + 1);
}

static void put_entries(void *arg, const void *items, int64_t count, int64_t first)
{
    hy_line_entries *r = arg;
    hy_mtx_entry *to   = r->memory.array;

    memcpy(to + (first - r->lines.before), items, (size_t)count * sizeof *to);
    if (r->end)
        note_extent(r, items, count);
}

/* Reads all lines of the next window (part of the text in memory) to r->memory. */
static hybrid_status read_window(hy_entry_reader *self, hy_line_entries *r)
{
    hy_lines *lines = &r->lines;

    if (r->is_begun)
        HY_TRY(hy_lines_next(self->ctx, lines));
    r->is_begun = 1;
    HY_TRY(hy_array_reuse(self->ctx, &r->memory,
                          hy_lines_window_max(lines) * (int64_t)sizeof(hy_mtx_entry),
                          "entries of a file"));
    HY_TRY(hy_lines_read_window(self->ctx, lines));
    r->at    = 0;
    r->count = lines->first[lines->blocks] - lines->before;
    if (!r->end)
        return HYBRID_OK;
    self->rows = r->rows;
    self->cols = r->cols;
    return r->input.last ? r->end(self, r) : HYBRID_OK;
}

/* ---- batches ----------------------------------------------------------------------- */

typedef struct conversion {
    const hy_mtx_entry *from;
    hy_entry *to;
    int64_t shift;
} conversion;

static hybrid_status convert(void *arg, int part, int64_t begin, int64_t end)
{
    const conversion *c = arg;
    (void)part;

    for (int64_t k = begin; k < end; k++)
        c->to[k] = (hy_entry){c->from[k].row + c->shift, c->from[k].col + c->shift,
                              c->from[k].val};
    return HYBRID_OK;
}

static hybrid_status next(hy_entry_reader *self, int64_t most, hy_entry *to,
                          int64_t *count)
{
    hy_line_entries *r = self->reader;

    while (r->at == r->count && !(r->is_begun && r->input.last))
        HY_TRY(read_window(self, r));
    *count       = hy_min(most, r->count - r->at);
    conversion c = {(const hy_mtx_entry *)r->memory.array + r->at, to, r->shift};
    r->at += *count;
    return hy_pool_for(self->ctx->pool, HY_COMPUTE, 0, *count, PIECE, convert, &c);
}

static void close_reader(hy_entry_reader *self)
{
    hy_line_entries *r = self->reader;

    hy_lines_close(self->ctx, &r->lines);
    hy_numbers_close(self->ctx, r->syntax.numbers);
    hy_array_free_reused(self->ctx, &r->memory);
    hy_input_close(self->ctx, &r->input);
    hy_array_free(self->ctx, r);
}

hybrid_status hy_line_entries_open(hy_context *ctx, size_t bytes, hy_entry_reader *out)
{
    static const hy_entry_reader_ops ops = {.next = next, .close = close_reader};
    void *memory;

    HY_TRY(hy_array(ctx, 1, bytes, "a reader of entries", &memory));
    hy_line_entries *r = memset(memory, 0, bytes);
    r->syntax.header   = &r->header;
    r->least           = INT64_MAX;
    r->lines           = (hy_lines){.input      = &r->input,
                                    .noun       = "entries",
                                    .item_bytes = sizeof(hy_mtx_entry),
                                    .put        = put_entries,
                                    .arg        = r};
    *out = (hy_entry_reader){.ops = &ops, .ctx = ctx, .nnz = -1, .reader = r};
    return hy_numbers_open(ctx, &r->syntax.numbers);
}
