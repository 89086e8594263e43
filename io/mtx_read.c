/* io/mtx_read.c - Matrix Market coordinate files.

   Lines are read in parallel to entries "row column value" in the order of the file;
   nothing is allocated for what the header claims before the entries were found. */
#include "io/mtx.h"

#include <stdio.h>
#include <stdlib.h>

#include "io/number.h"

typedef struct reader {
    const hy_mtx_header *header;
    hybrid_type type;
    locale_t c; /* C locale: a value has a point, never a comma */
    hy_entry *entry;
} reader;

/* ---- one line ------------------------------------------------------------------------
 */

static void explain_index(const char *p, const char *end, const char *what, int64_t value,
                          int64_t size, char *why)
{
    if (hy_word_ends(p))
        snprintf(why, HY_WHY_BYTES, "the %s index is missing", what);
    else if (!end || !hy_word_ends(end))
        snprintf(why, HY_WHY_BYTES, "%s index '%s' is not an integer", what,
                 hy_mtx_word(p).text);
    else if (value < 1)
        snprintf(why, HY_WHY_BYTES, "%s index %s is below 1", what, hy_mtx_word(p).text);
    else
        snprintf(why, HY_WHY_BYTES, "%s index %s is beyond the %lld %ss", what,
                 hy_mtx_word(p).text, (long long)size, what);
}

/* An index from 1 to `size` at `p`, less 1. Returns the next word or NULL. */
static const char *read_index(const char *p, const char *what, int64_t size, int32_t *out,
                              char *why)
{
    int64_t value   = 0;
    const char *end = hy_parse_int(p, &value);

    if (!end || !hy_word_ends(end) || value < 1 || value > size) {
        explain_index(p, end, what, value, size, why);
        return NULL;
    }
    *out = (int32_t)(value - 1);
    return hy_skip_blanks(end);
}

static const char *read_entry(void *arg, int64_t index, const char *p, char *why)
{
    const reader *r        = arg;
    const hy_mtx_header *h = r->header;
    hy_entry *e            = &r->entry[index];

    if (!(p = read_index(p, "row", h->rows, &e->row, why)) ||
        !(p = read_index(p, "column", h->cols, &e->col, why)))
        return NULL;
    e->val = 1;
    if (h->field != HY_MTX_PATTERN)
        p = hy_mtx_value(p, h->field, r->type, r->c, &e->val, why);
    if (p && h->symmetry == HY_MTX_SKEW && e->row == e->col && e->val != 0) {
        snprintf(why, HY_WHY_BYTES,
                 "diagonal entry (%d,%d) of a skew-symmetric matrix is not 0", e->row + 1,
                 e->col + 1);
        return NULL;
    }
    return p;
}

/* ---- an entry and its mirror ---------------------------------------------------------
 */

static uint64_t key(int32_t row, int32_t col)
{
    return (uint64_t)row << 32 | (uint32_t)col;
}

static int compare_keys(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The first entry above the diagonal of which the mirror is among `keys`; -1 if none. */
static int64_t find_mirrored(const hy_entries *entries, const uint64_t *keys,
                             int64_t count)
{
    for (int64_t k = 0; k < entries->count; k++) {
        const hy_entry *e   = &entries->entry[k];
        const uint64_t want = key(e->col, e->row);
        if (e->col > e->row &&
            bsearch(&want, keys, (size_t)count, sizeof want, compare_keys))
            return k;
    }
    return -1;
}

/* Files store one triangle, so entries on both sides of the diagonal are rare, and time
   does not matter then. */
static hybrid_status refuse_mirrors(hy_context *ctx, const hy_lines *lines,
                                    const hy_entries *entries)
{
    int64_t below = 0, above = 0, count = 0;
    void *array;
    char why[HY_WHY_BYTES];

    for (int64_t k = 0; k < entries->count; k++) {
        below += entries->entry[k].col < entries->entry[k].row;
        above += entries->entry[k].col > entries->entry[k].row;
    }
    if (below == 0 || above == 0)
        return HYBRID_OK;

    HY_TRY(hy_array(ctx, below, sizeof(uint64_t), "entries below the diagonal", &array));
    uint64_t *keys = array;
    for (int64_t k = 0; k < entries->count; k++) {
        const hy_entry *e = &entries->entry[k];
        if (e->col < e->row)
            keys[count++] = key(e->row, e->col);
    }
    qsort(keys, (size_t)count, sizeof *keys, compare_keys);
    const int64_t bad = find_mirrored(entries, keys, count);
    hy_array_free(ctx, array);
    if (bad < 0)
        return HYBRID_OK;

    const int row = entries->entry[bad].row + 1, col = entries->entry[bad].col + 1;
    snprintf(why, sizeof why,
             "entry (%d,%d) and its mirror (%d,%d) are both stored in a symmetric file",
             row, col, col, row);
    return hy_mtx_fail(ctx, lines->source, hy_lines_at(lines, bad), why);
}

/* ---- the file ------------------------------------------------------------------------
 */

static hybrid_status read_entries(hy_context *ctx, const hy_source *source,
                                  const hy_mtx_header *header, hybrid_type type,
                                  hy_entries *out)
{
    hy_lines lines = {0};
    reader r       = {.header = header, .type = type};
    hybrid_status status;
    void *array;

    r.c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!r.c)
        return hy_fail(ctx, HYBRID_NO_MEMORY, "no memory for the C locale");
    HY_TRY_ELSE_DONE(hy_lines_open(ctx, source, header->body, &lines));
    out->count = lines.count < header->count ? lines.count : header->count;
    HY_TRY_ELSE_DONE(
        hy_array(ctx, out->count, sizeof *out->entry, "entries of a file", &array));
    out->entry = r.entry = array;
    HY_TRY_ELSE_DONE(
        hy_lines_read(ctx, &lines, header->count, "entries", read_entry, &r));
    if (header->symmetry != HY_MTX_GENERAL)
        HY_TRY_ELSE_DONE(refuse_mirrors(ctx, &lines, out));
done:
    hy_lines_close(ctx, &lines);
    freelocale(r.c);
    return status;
}

static hybrid_status read_source(hy_context *ctx, hy_source *source, hybrid_type type,
                                 hybrid_csr *out)
{
    hy_mtx_header header;
    hy_entries entries = {0};
    hybrid_status status;

    HY_TRY_ELSE_DONE(hy_mtx_read_header(ctx, source, &header));
    if (header.array)
        HY_TRY_ELSE_DONE(hy_mtx_fail(ctx, source, source->text,
                                     "an array file is dense; a sparse matrix needs the "
                                     "format 'coordinate'"));
    HY_TRY_ELSE_DONE(read_entries(ctx, source, &header, type, &entries));
    hy_source_close(ctx, source);
    HY_TRY_ELSE_DONE(hy_mtx_build(ctx, &header, &entries, type, out));
done:
    hy_array_free(ctx, entries.entry);
    hy_source_close(ctx, source);
    return status;
}

hybrid_status hy_read_mtx(hy_context *ctx, const char *path, hybrid_type type,
                          hybrid_csr *out)
{
    hy_source source;

    HY_TRY(hy_source_open(ctx, path, &source));
    return read_source(ctx, &source, type, out);
}

hybrid_status hy_read_mtx_memory(hy_context *ctx, const char *name, const void *data,
                                 size_t bytes, hybrid_type type, hybrid_csr *out)
{
    hy_source source;

    HY_TRY(hy_source_copy(ctx, name, data, bytes, &source));
    return read_source(ctx, &source, type, out);
}
