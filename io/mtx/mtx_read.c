/* io/mtx/mtx_read.c - reads Matrix Market coordinate files.

   Lines are read in parallel to entries "row column value" in the order of the file.
   There is room for the announced entries, but no more than the file is long enough for,
   if its length is known. */
#include "io/lists/list.h"
#include "io/mtx/mtx.h"

#include <stdlib.h>

#include "base/memory/pages.h"
#include "base/memory/results.h"

typedef struct reader {
    hy_mtx_syntax syntax; /* must be the first member: hy_mtx_read_entries() gets a
                             pointer to the reader (hy_lines.arg), and uses it as a
                             pointer to a hy_mtx_syntax */
    hy_entries *out;
    int descend;      /* 1: some entries do not ascend by row and then column */
    int below, above; /* 1: there are entries below (above) the diagonal */
} reader;

/* ---- entries of a block ------------------------------------------------------------ */

static uint64_t key(int32_t row, int32_t col)
{
    return (uint64_t)row << 32 | (uint32_t)col;
}

/* Sets *flag to 1 if `holds` is not 0. Any thread may call it. Flags are read after the
   loop. */
static void note(int *flag, int holds)
{
    if (holds)
        __atomic_store_n(flag, 1, __ATOMIC_RELAXED);
}

static void put_entries(void *arg, const void *items, int64_t count, int64_t first)
{
    reader *r             = arg;
    const hy_mtx_entry *e = items;
    const hy_entries *out = r->out;
    int descend = 0, below = 0, above = 0;

    for (int64_t k = 0; k < count; k++) {
        out->row[first + k] = e[k].row;
        out->col[first + k] = e[k].col;
        out->val[first + k] = e[k].val;
        below |= e[k].col < e[k].row;
        above |= e[k].col > e[k].row;
    }
    for (int64_t k = 1; k < count; k++)
        descend |= key(e[k].row, e[k].col) <= key(e[k - 1].row, e[k - 1].col);
    note(&r->descend, descend);
    note(&r->below, below);
    note(&r->above, above);
}

/* Sets r->descend if the entries of neighbouring blocks or windows do not ascend. */
static void compare_blocks(void *arg, const hy_lines *lines)
{
    reader *r            = arg;
    const hy_entries *in = r->out;

    for (int64_t b = 0; b < lines->blocks; b++) {
        const int64_t k = lines->first[b];
        note(&r->descend,
             k > 0 && k < lines->first[lines->blocks] &&
                 key(in->row[k], in->col[k]) <= key(in->row[k - 1], in->col[k - 1]));
    }
}

/* ---- an entry and its mirror ------------------------------------------------------- */

static int compare_keys(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Returns the index of the first entry above the diagonal that has its mirror (row and
   column exchanged) among `keys`; -1 if none has. */
static int64_t find_mirrored(const hy_entries *in, const uint64_t *keys, int64_t count)
{
    for (int64_t k = 0; k < in->count; k++) {
        const uint64_t want = key(in->col[k], in->row[k]);
        if (in->col[k] > in->row[k] &&
            bsearch(&want, keys, (size_t)count, sizeof want, compare_keys))
            return k;
    }
    return -1;
}

/* Fails if an entry and its mirror are both stored. Files store one triangle, so entries
   on both sides of the diagonal are rare, and this may be slow. */
static hybrid_status refuse_mirrors(hy_context *ctx, const hy_lines *lines,
                                    const hy_entries *in)
{
    int64_t count = 0;
    void *array;
    char why[HY_WHY_BYTES];

    HY_TRY(
        hy_array(ctx, in->count, sizeof(uint64_t), "entries below the diagonal", &array));
    uint64_t *keys = array;
    for (int64_t k = 0; k < in->count; k++)
        if (in->col[k] < in->row[k])
            keys[count++] = key(in->row[k], in->col[k]);
    qsort(keys, (size_t)count, sizeof *keys, compare_keys);
    const int64_t bad = find_mirrored(in, keys, count);
    hy_array_free(ctx, array);
    if (bad < 0)
        return HYBRID_OK;

    const int row = in->row[bad] + 1, col = in->col[bad] + 1;
    snprintf(why, sizeof why,
             "entry (%d,%d) and its mirror (%d,%d) are both stored in a symmetric file",
             row, col, col, row);
    return hy_mtx_fail(ctx, lines->input, hy_lines_at(lines, bad), why);
}

/* ---- the file ---------------------------------------------------------------------- */

static hybrid_status open_entries(hy_context *ctx, int64_t count, hy_entries *out)
{
    void *array;

    out->count = count;
    HY_TRY(hy_array(ctx, count, sizeof *out->row, "rows of entries", &array));
    out->row = array;
    hy_pages_wish(array, (size_t)count * sizeof *out->row);
    HY_TRY(hy_results_array(ctx, count, sizeof *out->col, "columns of entries", &array));
    out->col = array;
    HY_TRY(hy_results_array(ctx, count, sizeof *out->val, "values of entries", &array));
    out->val = array;
    return HYBRID_OK;
}

static hybrid_status read_entries(hy_context *ctx, hy_input *input,
                                  const hy_mtx_header *header, hybrid_type type,
                                  hy_entries *out)
{
    const int general = header->symmetry == HY_MTX_GENERAL;
    reader r          = {.syntax = {.header = header, .type = type}, .out = out};
    hy_lines lines    = {.input       = input,
                         .body        = header->body,
                         .announced   = header->count,
                         .noun        = "entries",
                         .item_bytes  = sizeof(hy_mtx_entry),
                         .least_bytes = hy_mtx_least_bytes(header),
                         .read        = hy_mtx_read_entries,
                         .put         = put_entries,
                         .joined      = compare_blocks,
                         .arg         = &r};
    hybrid_status status;

    HY_TRY_ELSE_DONE(hy_numbers_open(ctx, &r.syntax.numbers));
    HY_TRY_ELSE_DONE(open_entries(ctx, hy_lines_max(&lines), out));
    HY_TRY_ELSE_DONE(hy_lines_read(ctx, &lines));
    if (!general && r.below && r.above)
        HY_TRY_ELSE_DONE(refuse_mirrors(ctx, &lines, out));
    out->ascend = general && !r.descend;
done:
    hy_lines_close(ctx, &lines);
    hy_numbers_close(ctx, r.syntax.numbers);
    return status;
}

static hybrid_status read_input(hy_context *ctx, hy_input *input, hybrid_type type,
                                hybrid_csr *out)
{
    hy_mtx_header header;
    hy_entries entries = {0};
    hybrid_status status;

    hy_input_begin(ctx, input);
    HY_TRY_ELSE_DONE(hy_mtx_read_header(ctx, input, &header));
    if (header.array)
        HY_TRY_ELSE_DONE(hy_mtx_refuse_array(ctx, input));
    HY_TRY_ELSE_DONE(read_entries(ctx, input, &header, type, &entries));
    hy_input_close(ctx, input);
    HY_TRY_ELSE_DONE((entries.ascend ? hy_mtx_build_ascending
                                     : hy_mtx_build)(ctx, &header, &entries, type, out));
done:
    hy_entries_free(ctx, &entries);
    hy_input_close(ctx, input);
    return status;
}

hybrid_status hy_read_mtx(hy_context *ctx, const char *path, hybrid_type type,
                          hybrid_csr *out)
{
    hy_input input;

    HY_TRY(hy_input_open(ctx, path, &input));
    if (!hy_list_is(&input))
        return read_input(ctx, &input, type, out);
    const hybrid_status status = hy_list_read(ctx, &input, type, out);
    hy_input_close(ctx, &input);
    return status;
}

hybrid_status hy_read_mtx_memory(hy_context *ctx, const char *name, const void *data,
                                 size_t bytes, hybrid_type type, hybrid_csr *out)
{
    hy_input input;

    HY_TRY(hy_input_copy(ctx, name, data, bytes, &input));
    return read_input(ctx, &input, type, out);
}
