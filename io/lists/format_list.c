/* io/lists/format_list.c - lists of edges or entries as operands of any size.

   Where a file does not tell something, the reader guesses, and notes what it guessed
   (hy_note()). Options after the name override guesses (text_options.h):

     indices begin at 0 if any index is 0, else at 1
     sizes are those in a comment, else the matrix is square and just large enough */
#include "base/data/min_max.h"
#include "io/formats/file_format.h"
#include "io/lists/list.h"

/* ---- the end of the text ----------------------------------------------------------- */

static hybrid_status check_size(const hy_entry_reader *self, const hy_list_reader *r,
                                int64_t most, int64_t size, const char *what)
{
    if (most <= size)
        return HYBRID_OK;
    const int64_t last = most - 1 + self->base;

    return hy_fail(
        self->ctx, HYBRID_BAD_FILE,
        "%s: %s index %lld is beyond the %lld %ss, which are counted from %lld",
        r->entries.input.path, what, (long long)last, (long long)size, what,
        (long long)self->base);
}

static const char *name_of(char separator)
{
    return separator == '\t'  ? "tabs"
           : separator == ',' ? "commas"
           : separator == ';' ? "semicolons"
                              : "blanks";
}

static void note_guesses(const hy_entry_reader *self, const hy_list_reader *r,
                         int is_square)
{
    const hy_list *list = &r->list;

    hy_note(self->ctx,
            "%s: read as a list with %s between columns, %s, indices from %lld on%s and "
            "%lld x %lld elements%s%s; options after the name change this, such as "
            "::base=%d",
            r->entries.input.path, name_of(list->separator),
            list->weights ? "values in the third" : "no values", (long long)self->base,
            list->has_header ? ", a line of names" : "", (long long)self->rows,
            (long long)self->cols,
            list->has_sizes ? " (from a comment)"
            : is_square     ? " (square)"
                            : "",
            list->has_more ? ", and columns that are left out" : "", !self->base);
}

/* Sets the index base and the sizes of *self, once all lines have been read, and writes
   the context's note about what was guessed. Fails if an index is beyond a size, or if a
   matrix that must be square is not. */
static hybrid_status end(hy_entry_reader *self, hy_line_entries *entries)
{
    const hy_list_reader *r = (const hy_list_reader *)entries;
    const hy_list *list     = &r->list;
    const int is_sized      = list->rows != HY_GUESSED || list->cols != HY_GUESSED;
    const int is_square     = r->options.square == 1 || r->options.symmetric == 1 ||
                          (r->options.square == HY_GUESSED && !is_sized);

    self->base         = list->base != HY_GUESSED ? list->base : entries->least != 0;
    const int64_t rows = hy_max(entries->rows - self->base, 0);
    const int64_t cols = hy_max(entries->cols - self->base, 0);
    self->rows         = list->rows != HY_GUESSED ? list->rows : rows;
    self->cols         = list->cols != HY_GUESSED ? list->cols : cols;
    if (is_square && list->rows == HY_GUESSED)
        self->rows = hy_max(self->rows, self->cols);
    if (is_square && list->cols == HY_GUESSED)
        self->cols = self->rows;
    HY_TRY(check_size(self, r, rows, self->rows, "row"));
    HY_TRY(check_size(self, r, cols, self->cols, "column"));
    if (is_square && self->rows != self->cols)
        return hy_fail(self->ctx, HYBRID_BAD_FILE,
                       "%s: a square matrix cannot have %lld rows and %lld columns",
                       entries->input.path, (long long)self->rows, (long long)self->cols);
    note_guesses(self, r, is_square);
    return HYBRID_OK;
}

/* ---- opening ----------------------------------------------------------------------- */

static hybrid_status open_matrix(hy_context *ctx, const hy_opening *opening,
                                 hy_matrix_file *out, hy_entry_reader *entries)
{
    hy_text_options options;
    hy_list list;

    (void)out;
    HY_TRY(hy_text_options_read(ctx, opening->input->path, opening->member, 1, &options));
    HY_TRY(hy_list_guess(ctx, opening->input, &options, &list));
    HY_TRY(hy_line_entries_open(ctx, sizeof(hy_list_reader), entries));
    hy_list_reader *r            = entries->reader;
    r->list                      = list;
    r->options                   = options;
    r->entries.syntax.type       = (hybrid_type)options.type;
    r->entries.input             = hy_input_take(opening->input);
    r->entries.lines.body        = list.body;
    r->entries.lines.announced   = HY_NOT_ANNOUNCED;
    r->entries.lines.least_bytes = sizeof "1 1";
    r->entries.lines.read        = hy_list_read_block;
    r->entries.end               = end;
    entries->type                = (hybrid_type)options.type;
    entries->mirror              = (int)options.symmetric;
    return HYBRID_OK;
}

const hy_file_format hy_format_list = {
    .name = "list", .has_members = 1, .is = hy_list_is, .open = open_matrix};
