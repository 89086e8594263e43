/* io/text/text_table.c - recognises text with numbers in columns, and Harwell-Boeing
   files. */
#include "io/text/text_table.h"

#include <string.h>

/* ---- lines ------------------------------------------------------------------------- */

static const char *line_end(const char *p)
{
    return p + strcspn(p, "\r\n");
}

static const char *next_line(const char *p)
{
    p += strcspn(p, "\n");
    return *p ? p + 1 : p;
}

static int is_text(const char *p, const char *end)
{
    for (; p < end; p++)
        if ((unsigned char)*p < ' ' && *p != '\t')
            return 0;
    return 1;
}

/* Returns the start of the first line from `p` on that is neither blank nor a comment; ""
   if there is none. */
static const char *first_line(const char *p)
{
    while (*p && (*p == '#' || *p == '%' || p + strspn(p, " \t") == line_end(p)))
        p = next_line(p);
    return p;
}

/* ---- fields ------------------------------------------------------------------------ */

static int is_number(const char *p, const char *end)
{
    int digits = 0;

    for (; p < end; p++) {
        if (*p >= '0' && *p <= '9')
            digits++;
        else if (!strchr("+-.eE ", *p))
            return 0;
    }
    return digits > 0;
}

/* Counts the fields of a line, and the fields that are numbers. Consecutive blanks are
   one separator. */
static void count_fields(const char *p, char separator, int *fields, int *numbers)
{
    const char *end = line_end(p);

    *fields = *numbers = 0;
    for (;;) {
        p += separator == ' ' ? strspn(p, " ") : 0;
        if (separator == ' ' && p == end)
            return;
        const char *stop = memchr(p, separator, (size_t)(end - p));
        stop             = stop ? stop : end;
        ++*fields;
        *numbers += is_number(p, stop);
        if (stop == end)
            return;
        p = stop + 1;
    }
}

static char find_separator(const char *p)
{
    static const char separators[] = "\t,; ";
    const char *end                = line_end(p);

    for (const char *s = separators; *s; s++)
        if (memchr(p, *s, (size_t)(end - p)))
            return *s;
    return 0;
}

int hy_is_comments(const char *text)
{
    return (*text == '#' || *text == '%') && *first_line(text) == '\0';
}

hy_text_table hy_text_table_of(const char *text, char separator)
{
    const hy_text_table none = {.separator = 0};
    const char *line         = first_line(text);
    hy_text_table t = {.separator = separator ? separator : find_separator(line)};
    int numbers;

    if (!t.separator || !is_text(line, line_end(line)))
        return none;
    count_fields(line, t.separator, &t.columns, &numbers);
    if (numbers == 0) {
        t.heading = line;
        line      = first_line(next_line(line));
        count_fields(line, t.separator, &t.columns, &numbers);
    }
    t.first     = line;
    t.has_words = numbers < t.columns;
    return numbers > 0 && t.columns > 1 && is_text(line, line_end(line)) ? t : none;
}

/* ---- Harwell-Boeing ---------------------------------------------------------------- */

/* Returns 1 for a type such as RUA: one letter of each of the three sets, and a blank. */
static int is_type(const char *p)
{
    static const char *const letters[] = {"RCPIQrcpiq", "SUHZRsuhzr", "AEae", " "};

    for (int i = 0; i < 4; i++)
        if (p[i] == '\0' || !strchr(letters[i], p[i]))
            return 0;
    return 1;
}

int hy_is_harwell_boeing(const char *text)
{
    const char *counts = next_line(text), *type = next_line(counts);
    int fields, numbers;

    if (!is_text(text, line_end(text)) || !is_type(type))
        return 0;
    count_fields(counts, ' ', &fields, &numbers);
    return numbers >= 4 && numbers == fields;
}
