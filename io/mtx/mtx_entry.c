/* io/mtx/mtx_entry.c - reads the lines of entries in a Matrix Market file. */
#include <math.h>

#include "base/data/value_type.h"
#include "io/mtx/mtx.h"

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

/* Reads an index from 1 to `size` at `p`, and stores it less 1. Returns the next word, or
   NULL and sets `why`. */
static const char *read_any_index(const char *p, const char *what, int64_t size,
                                  int32_t *out, char *why)
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

/* Reads an index as read_any_index() does, quickly for up to seven digits. No digits give
   0, which is no valid index. */
static inline const char *read_index(const char *p, const char *what, int64_t size,
                                     int32_t *out, char *why)
{
    const uint64_t x     = hy_load8(p);
    const int n          = hy_count_digits(x);
    const uint64_t value = hy_digits_value(x, n) - 1;

    if (n == 8 || value >= (uint64_t)size || !hy_word_ends(p + n))
        return read_any_index(p, what, size, out, why);
    *out = (int32_t)value;
    return hy_skip_blanks(p + n);
}

/* Reads an ordinary real quickly, and other values by hy_mtx_value(). */
static inline const char *read_value(const hy_mtx_syntax *r, const char *p, double *value,
                                     char *why)
{
    if (r->header->field == HY_MTX_REAL) {
        const char *end = hy_parse_real(p, r->numbers, value);
        if (end && hy_word_ends(end) && isfinite(hy_value_rounded(r->type, *value)))
            return end;
    }
    return hy_mtx_value(p, r->header->field, r->type, r->numbers, value, why);
}

static inline const char *read_entry(void *arg, const char *p, void *item, char *why)
{
    const hy_mtx_syntax *r = arg;
    const hy_mtx_header *h = r->header;
    hy_mtx_entry *e        = item;

    if (!(p = read_index(p, "row", h->rows, &e->row, why)) ||
        !(p = read_index(p, "column", h->cols, &e->col, why)))
        return NULL;
    e->val = 1;
    if (h->field != HY_MTX_PATTERN)
        p = read_value(r, p, &e->val, why);
    if (p && h->symmetry == HY_MTX_SKEW && e->row == e->col && e->val != 0) {
        snprintf(why, HY_WHY_BYTES,
                 "diagonal entry (%d,%d) of a skew-symmetric matrix is not 0", e->row + 1,
                 e->col + 1);
        return NULL;
    }
    return p;
}

void hy_mtx_read_entries(void *arg, hy_mtx_block *block)
{
    hy_block_read(block, sizeof(hy_mtx_entry), '%', read_entry, arg);
}
