/* io/lists/list_lines.c - reads the lines of a list. */
#include <math.h>

#include "io/lists/list.h"

/* Returns 1 if a field ends at `p`. */
static inline int ends(const char *p, char separator)
{
    return hy_word_ends(p) || *p == separator;
}

/* Returns the start of the field after the one that ends at `p`. */
static inline const char *next_field(const char *p, char separator)
{
    p = hy_skip_blanks(p);
    return (separator == ',' || separator == ';') && *p == separator
               ? hy_skip_blanks(p + 1)
               : p;
}

/* ---- indices ----------------------------------------------------------------------- */

static void explain_index(const hy_list *list, const char *p, const char *end,
                          const char *what, int64_t value, int64_t size, char *why)
{
    if (ends(p, list->separator))
        snprintf(why, HY_WHY_BYTES, "the %s index is missing", what);
    else if (!end || !ends(end, list->separator))
        snprintf(why, HY_WHY_BYTES, "%s index '%s' is not an integer", what,
                 hy_mtx_word(p).text);
    else if (value < (list->base > 0))
        snprintf(why, HY_WHY_BYTES, "%s index %lld is below %d", what, (long long)value,
                 list->base > 0);
    else if (size == HY_GUESSED)
        snprintf(why, HY_WHY_BYTES, "%s index %s is beyond the limit of %d", what,
                 hy_mtx_word(p).text, INT32_MAX - 1);
    else
        snprintf(why, HY_WHY_BYTES, "%s index %lld is beyond the %lld %ss", what,
                 (long long)value, (long long)size, what);
}

/* Returns the largest valid index for `size` rows or columns: `size`, or one less if
   indices begin at 0. `size` is HY_GUESSED if it is not known. */
static int64_t largest(const hy_list *list, int64_t size)
{
    return size == HY_GUESSED ? INT32_MAX - 1 : size - (list->base == 0);
}

/* Reads an index that is long or written as a real, as numpy.savetxt() writes it. Returns
   the end of its text, or NULL if there is no index. */
static const char *read_slowly(const hy_list_reader *r, const char *p, int64_t *value)
{
    const char *end = hy_parse_int(p, value);
    double real;

    if (end && ends(end, r->list.separator))
        return end;
    end = hy_parse_real(p, r->entries.syntax.numbers, &real);
    if (!end || !(fabs(real) < 1e15) || real != floor(real))
        return NULL;
    *value = (int64_t)real;
    return end;
}

/* Reads an index. Returns the start of the next field, or NULL and sets `why`. */
static inline const char *read_index(const hy_list_reader *r, const char *p,
                                     const char *what, int64_t size, int32_t *out,
                                     char *why)
{
    const hy_list *list = &r->list;
    const uint64_t x    = hy_load8(p);
    const int n         = hy_count_digits(x);
    int64_t value       = (int64_t)hy_digits_value(x, n);
    const char *end     = p + n;

    if (n == 0 || n == 8 || !ends(end, list->separator))
        end = read_slowly(r, p, &value);
    if (!end || !ends(end, list->separator) || value < (list->base > 0) ||
        value > largest(list, size)) {
        explain_index(list, p, end, what, value, size, why);
        return NULL;
    }
    *out = (int32_t)value;
    return next_field(end, list->separator);
}

/* ---- values ------------------------------------------------------------------------ */

static const char *read_value(const hy_list_reader *r, const char *p, double *value,
                              char *why)
{
    const char separator   = r->list.separator;
    const hybrid_type type = r->entries.syntax.type;
    const char *end        = hy_parse_real(p, r->entries.syntax.numbers, value);

    if (end && ends(end, separator) && !hy_mtx_overflows(p, *value, type))
        return end;
    if (ends(p, separator))
        snprintf(why, HY_WHY_BYTES, "the value is missing");
    else
        snprintf(why, HY_WHY_BYTES, "value '%s' %s", hy_mtx_word(p).text,
                 !end || !ends(end, separator) ? "is not a number"
                                               : hy_mtx_too_large(type));
    return NULL;
}

static inline const char *read_entry(void *arg, const char *p, void *item, char *why)
{
    const hy_list_reader *r = arg;
    const hy_list *list     = &r->list;
    hy_mtx_entry *e         = item;

    if (!(p = read_index(r, p, "row", list->rows, &e->row, why)) ||
        !(p = read_index(r, p, "column", list->cols, &e->col, why)))
        return NULL;
    e->val = 1;
    if (list->weights)
        p = read_value(r, p, &e->val, why);
    return p && list->has_more ? strchrnul(p, '\n') : p;
}

void hy_list_read_block(void *arg, hy_mtx_block *block)
{
    hy_block_read(block, sizeof(hy_mtx_entry), '#', read_entry, arg);
}
