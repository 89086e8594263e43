/* io/lists/text_options.h - options after the name of a text, as in
   "graph.tsv::base=1,weights=no".

   Options are "KEY=VALUE", separated by commas. */
#ifndef HY_TEXT_OPTIONS_H
#define HY_TEXT_OPTIONS_H

#include "base/contract/context.h"

/* Value of an option that is not given, unless text_options.c has another default. */
enum { HY_GUESSED = -1 };

typedef struct hy_text_options {
    int64_t type;      /* hybrid_type of the values; f64 if not given */
    int64_t base;      /* least index of rows and columns: 0 or 1 */
    int64_t weights;   /* 1: the third column holds values; 0: all values are 1 */
    int64_t header;    /* 1: the first line holds names of columns */
    int64_t separator; /* character between columns: tab, blank, comma or semicolon */
    int64_t rows, cols;
    int64_t square;    /* 1: the matrix has as many rows as columns */
    int64_t symmetric; /* 1: an entry also stands for its mirror image; 0 if not given */
} hy_text_options;

/* Reads the options in `text`; NULL: there are none. BAD_FILE names the file, the option
   and the values that it may have. If is_list is 0, only "type" is known. */
hybrid_status hy_text_options_read(hy_context *ctx, const char *path, const char *text,
                                   int is_list, hy_text_options *out);

#endif /* HY_TEXT_OPTIONS_H */
