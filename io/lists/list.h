/* io/lists/list.h - lists of edges or entries: a line "row column" or "row column value"
   for each, as TSV, CSV or with blanks. */
#ifndef HY_LIST_H
#define HY_LIST_H

#include "io/lists/text_options.h"
#include "io/mtx/line_entries.h"
#include "io/text/text_table.h"

/* The layout of a list of edges or entries. */
typedef struct hy_list {
    char separator;  /* tab, blank, comma or semicolon. A blank stands for blanks and tabs */
    int weights;     /* 1: the third column holds values */
    int has_more;    /* 1: further columns follow, which are not read */
    int has_header;  /* 1: names of columns precede the numbers */
    int has_sizes;   /* 1: a comment tells the sizes */
    int64_t rows, cols; /* sizes from options or from a comment; HY_GUESSED: unknown */
    int64_t base;       /* index of the first row and column, 0 or 1, from options;
                           HY_GUESSED: unknown */
    const char *body;   /* start of the first line of numbers */
} hy_list;

/* Returns 1 if the text in the first window looks like a list of edges or entries. */
int hy_list_is(const hy_input *input);

/* Finds the layout from the first lines of the text; options override what these lines
   show. BAD_FILE. */
hybrid_status hy_list_guess(hy_context *ctx, const hy_input *input,
                            const hy_text_options *options, hy_list *out);

/* Reads a whole list into memory as compressed rows. Free *out with hy_csr_free(). The
   caller closes the input. */
hybrid_status hy_list_read(hy_context *ctx, hy_input *input, hybrid_type type,
                           hybrid_csr *out);

/* A reader of the entries of a list (io/formats/entry_reader.h). */
typedef struct hy_list_reader {
    hy_line_entries entries; /* must be the first member: functions that get a pointer to
                                it use the pointer as one to a hy_list_reader */
    hy_list list;
    hy_text_options options;
} hy_list_reader;

/* Reads the lines of a block, each to a hy_mtx_entry whose indices are as in the file.
   `arg` is a hy_list_reader. */
void hy_list_read_block(void *arg, hy_mtx_block *block);

#endif /* HY_LIST_H */
