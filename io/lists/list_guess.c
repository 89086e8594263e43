/* io/lists/list_guess.c - finds the layout of a list from its first lines.

   Comments begin with # or %. Two kinds of collections tell the sizes in a comment of
   three numbers: "% rows columns entries" at networkrepository.com and, after a comment
   that begins with sym, asym or bip, "% entries rows columns" at konect.cc. */
#include <strings.h>

#include "io/lists/list.h"

/* ---- names ------------------------------------------------------------------------- */

static int ends_in(const char *path, const char *ending)
{
    const size_t length = strlen(path), tail = strlen(ending);

    return length >= tail && strcasecmp(path + length - tail, ending) == 0;
}

/* Returns 1 if the file's name is usual for another format. Such a file is not taken for
   a list, whatever its text looks like. */
static int has_other_name(const char *path)
{
    static const char *const endings[] = {".mtx",  ".mtx.gz", ".mtx.zst",
                                          ".json", ".npy",    NULL};

    for (const char *const *ending = endings; *ending; ending++)
        if (ends_in(path, *ending))
            return 1;
    return 0;
}

/* Returns 1 if the name is usual for edges with further columns, such as times. Tables of
   four or more columns with another name hold a row of a dense matrix in each line. */
static int may_be_wide(const char *path)
{
    return ends_in(path, ".edges") || ends_in(path, ".edges.gz") ||
           ends_in(path, ".edges.zst");
}

int hy_list_is(const hy_input *input)
{
    const hy_text_table t = hy_text_table_of(input->text, 0);

    return t.separator && !t.has_words && input->text[0] != '{' &&
           !hy_mtx_has_banner(input) && !has_other_name(input->path) &&
           (t.columns <= 3 || may_be_wide(input->path)) &&
           !hy_is_harwell_boeing(input->text);
}

/* ---- sizes in comments ------------------------------------------------------------- */

/* Reads three whole numbers that fill the rest of the line. Returns 0 if the comment has
   other text. */
static int read_three(const char *p, int64_t number[3])
{
    for (int i = 0; i < 3; i++) {
        p = hy_skip_blanks(p);
        if (*p < '0' || *p > '9')
            return 0;
        p = hy_parse_int(p, &number[i]);
    }
    p = hy_skip_blanks(p);
    return *p == '\n';
}

/* Returns 1 if the comment begins as those of konect.cc do. */
static int is_konect(const char *p)
{
    return strncmp(p, "sym", 3) == 0 || strncmp(p, "asym", 4) == 0 ||
           strncmp(p, "bip", 3) == 0;
}

/* Reads the sizes of the matrix from the comments before the first line of numbers. */
static void read_sizes(const hy_input *input, hy_list *list)
{
    const char *end = input->text + input->bytes;
    int konect      = 0;

    for (const char *p = input->text; p < list->body; p = hy_next_line(p, end)) {
        int64_t number[3];
        if (*p != '%')
            continue;
        const char *words = hy_skip_blanks(p + 1);
        konect |= is_konect(words);
        if (!read_three(words, number) || number[konect] > INT32_MAX ||
            number[konect + 1] > INT32_MAX)
            continue;
        list->rows      = number[konect];
        list->cols      = number[konect + 1];
        list->has_sizes = 1;
        return;
    }
}

/* ---- the layout -------------------------------------------------------------------- */

static hybrid_status check(hy_context *ctx, const hy_input *input, const hy_list *list,
                           const hy_text_table *t)
{
    char why[HY_WHY_BYTES];

    if (t->columns >= 2 + list->weights)
        return HYBRID_OK;
    snprintf(why, sizeof why, "the line has %d columns, and %d are needed", t->columns,
             2 + list->weights);
    return hy_mtx_fail(ctx, input, list->body, why);
}

hybrid_status hy_list_guess(hy_context *ctx, const hy_input *input,
                            const hy_text_options *options, hy_list *out)
{
    const char wanted =
        options->separator == HY_GUESSED ? '\0' : (char)options->separator;
    const hy_text_table t = hy_text_table_of(input->text, wanted);

    *out = (hy_list){.separator  = t.separator,
                     .weights    = t.columns > 2,
                     .has_header = t.heading != NULL,
                     .rows       = HY_GUESSED,
                     .cols       = HY_GUESSED,
                     .base       = options->base,
                     .body       = t.first};
    if (!t.separator)
        return hy_mtx_fail(ctx, input, input->text,
                           "no line of numbers follows within the first MiB");
    read_sizes(input, out);
    if (options->header == 1 && !t.heading) {
        out->has_header = 1;
        out->body       = hy_next_line(t.first, input->text + input->bytes);
    } else if (options->header == 0 && t.heading) {
        out->has_header = 0;
        out->body       = t.heading;
    }
    if (options->weights != HY_GUESSED)
        out->weights = (int)options->weights;
    if (options->rows != HY_GUESSED)
        out->rows = options->rows;
    if (options->cols != HY_GUESSED)
        out->cols = options->cols;
    out->has_more = t.columns > 2 + out->weights;
    return check(ctx, input, out, &t);
}
