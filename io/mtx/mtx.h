/* io/mtx/mtx.h - declarations that the files of the Matrix Market reader share. */
#ifndef HY_MTX_H
#define HY_MTX_H

#include <stdio.h>
#include <string.h>

#include "base/contract/context.h"
#include "io/text/io.h"
#include "io/text/number.h"

/* ---- header ------------------------------------------------------------------ */

typedef enum hy_mtx_field { HY_MTX_REAL, HY_MTX_INTEGER, HY_MTX_PATTERN } hy_mtx_field;
typedef enum hy_mtx_symmetry {
    HY_MTX_GENERAL,
    HY_MTX_SYMMETRIC,
    HY_MTX_SKEW
} hy_mtx_symmetry;

typedef struct hy_mtx_header {
    int array; /* 1: dense, one value per line; 0: lines "row column value" */
    hy_mtx_field field;
    hy_mtx_symmetry symmetry;
    int64_t rows, cols; /* each below 2^31 */
    int64_t count;      /* number of announced entries; in an array file: number of stored
                           values */
    const char *body;   /* end of the line with the sizes, where the body begins */
} hy_mtx_header;

hybrid_status hy_mtx_read_header(hy_context *ctx, const hy_input *input,
                                 hy_mtx_header *out);
int hy_mtx_has_banner(const hy_input *input); /* returns 1 if the first word of the text
                                                 is %%MatrixMarket */
/* Fails because the file is dense, and a sparse matrix is wanted. */
hybrid_status hy_mtx_refuse_array(hy_context *ctx, const hy_input *input);

/* ---- words ------------------------------------------------------------------- */

enum { HY_WHY_BYTES = 160 };

static inline const char *hy_skip_blanks(const char *p)
{
    while (*p == ' ' || *p == '\t' || *p == '\r')
        p++;
    return p;
}

/* hy_mtx_word() returns the word at `p`, cut to fit and made printable, for a message. */
typedef struct hy_word {
    char text[32];
} hy_word;
hy_word hy_mtx_word(const char *p);

/* Returns 1 if a word ends at `p`. */
static inline int hy_word_ends(const char *p)
{
    return *p == ' ' || *p == '\t' || *p == '\r' || *p == '\n' || *p == 0;
}

/* Fails with BAD_FILE and "path:line: why", where `at` is in that line, or with
   "path: why" if `at` is NULL. */
hybrid_status hy_mtx_fail(hy_context *ctx, const hy_input *input, const char *at,
                          const char *why);

/* Returns 1 if the value at `p` is infinite because its digits are too large for `type`,
   not because the file says "inf". */
int hy_mtx_overflows(const char *p, double value, hybrid_type type);

/* Returns the end of a sentence about a value that is too large for the type. */
const char *hy_mtx_too_large(hybrid_type type);

/* Reads a value of the given field at `p`, which must fit `type`. Returns the end of the
   value, or NULL and sets `why`. */
const char *hy_mtx_value(const char *p, hy_mtx_field field, hybrid_type type,
                         const hy_numbers *numbers, double *value, char *why);

/* ---- lines, in parallel --------------------------------------------------------- */

/* A block is a piece of the window (the part of the file in memory): the lines that begin
   in [begin, stop). A line holds one item, which is an entry or a value of a dense
   matrix; blank lines and comments hold none. */
typedef struct hy_mtx_block {
    const char *begin, *stop;
    const char *end; /* end of all lines in the window */
    char *items;     /* memory for items */
    int64_t count;   /* number of items that have been read */
    const char *bad; /* first bad line, without leading blanks; NULL: none */
    char why[HY_WHY_BYTES];
} hy_mtx_block;

/* Reads the line at `p`, which has no leading blanks, to `item`. Returns the end of the
   item, or NULL and sets `why`. */
typedef const char *(*hy_line_fn)(void *arg, const char *p, void *item, char *why);

/* Receives `count` items of the file, from item number `first` on. Called by any thread,
   in any order. */
typedef void (*hy_put_fn)(void *arg, const void *items, int64_t count, int64_t first);

typedef struct hy_lines hy_lines;

/* Called when all items of a window (a part of the file) have been put. lines->first[b]
   is then the number of items before block b. */
typedef void (*hy_joined_fn)(void *arg, const hy_lines *lines);

/* Value of hy_lines.announced if the file does not tell the number of its items. */
#define HY_NOT_ANNOUNCED INT64_MAX

/* The body of a file, which is the lines after its header, and the functions that receive
   its items (one in each line). */
struct hy_lines {
    hy_input *input;
    const char *body;  /* start of the lines in the present window (part of the file) */
    int64_t announced; /* number of announced items; HY_NOT_ANNOUNCED: unknown */
    const char *noun;  /* plural name of an item: "entries" */
    size_t item_bytes;
    size_t least_bytes;                       /* minimum bytes of a line with an item */
    void (*read)(void *arg, hy_mtx_block *block); /* reads the lines of a block: calls
                                                     hy_block_read() with a hy_line_fn */
    hy_put_fn put;
    hy_joined_fn joined; /* function called after each window; NULL: none */
    void *arg;           /* first argument of `read`, `put` and `joined` */

    const char *end; /* end of the last complete line in the window */
    int64_t before;  /* number of items in earlier windows */
    int64_t blocks;
    size_t block_bytes; /* bytes of each block but the last (hy_io_sizes) */
    int64_t *first; /* blocks + 1 numbers: first[b] items lie before block b */
};

/* Returns an upper bound on the number of items that put() receives: the announced number
   or, if the window holds the rest of the file, the number of shortest lines for which
   the rest is long enough, whichever is smaller. */
int64_t hy_lines_max(const hy_lines *lines);

/* Reads all lines, window by window. BAD_FILE names the first bad line, or says that
   there are fewer or more items than announced. */
hybrid_status hy_lines_read(hy_context *ctx, hy_lines *lines);

/* Read all lines in steps, instead of hy_lines_read(): hy_lines_read_window() reads the
   lines of the present window, and hy_lines_next() moves to the next window, unless the
   present one is the last. */
hybrid_status hy_lines_read_window(hy_context *ctx, hy_lines *lines);
hybrid_status hy_lines_next(hy_context *ctx, hy_lines *lines);

/* Returns an upper bound on the number of items in the lines of the present window. */
int64_t hy_lines_window_max(const hy_lines *lines);

/* Returns the start of the line that holds item `index`; NULL if the window of that line
   is no longer in memory. Valid after hy_lines_read(). */
const char *hy_lines_at(const hy_lines *lines, int64_t index);
void hy_lines_close(hy_context *ctx, hy_lines *lines);

/* Returns the start of the line after the one that holds `p`; `end` if there is none. */
static inline const char *hy_next_line(const char *p, const char *end)
{
    const char *newline = (const char *)memchr(p, '\n', (size_t)(end - p));
    return newline ? newline + 1 : end;
}

/* Reads the lines of a block with `fn`. Lines that begin with % or with `comment` hold no
   item. Inlined, so that `fn` is inlined, too. */
static inline __attribute__((always_inline)) void
hy_block_read(hy_mtx_block *block, size_t item_bytes, char comment, hy_line_fn fn,
              void *arg)
{
    const char *end = block->end;
    char *item      = block->items;

    for (const char *p = block->begin, *q; p < block->stop; p = q + 1) {
        q = p = hy_skip_blanks(p);
        if (*p == '\n' || p == end)
            continue;
        if (*p == '%' || *p == comment) {
            q = hy_next_line(p, end) - 1;
            continue;
        }
        q = fn(arg, p, item, block->why);
        if (q) {
            q = hy_skip_blanks(q);
            if (*q != '\n' && q != end) {
                snprintf(block->why, HY_WHY_BYTES,
                         "unexpected '%s' at the end of the line", hy_mtx_word(q).text);
                q = NULL;
            }
        }
        if (!q) {
            block->bad = p;
            break;
        }
        item += item_bytes;
    }
    block->count = (item - block->items) / (int64_t)item_bytes;
}

/* ---- an entry ---------------------------------------------------------------------- */

typedef struct hy_mtx_entry {
    int32_t row, col; /* counted from 0 */
    double val;
} hy_mtx_entry;

/* Context of the functions that read a line with an entry. Values must fit `type`. */
typedef struct hy_mtx_syntax {
    const hy_mtx_header *header;
    hybrid_type type;
    hy_numbers *numbers;
} hy_mtx_syntax;

/* Reads the lines of a block, each to a hy_mtx_entry. `arg` is a hy_mtx_syntax, or a
   struct that begins with one. */
void hy_mtx_read_entries(void *arg, hy_mtx_block *block);

/* Returns the minimum bytes of a line with an entry. */
static inline size_t hy_mtx_least_bytes(const hy_mtx_header *header)
{
    return header->field == HY_MTX_PATTERN ? sizeof "1 1" : sizeof "1 1 1";
}

/* ---- entries -------------------------------------------------------------------- */

/* Entries of a matrix, in the order of the file. */
typedef struct hy_entries {
    int64_t count;
    int32_t *row; /* allocated by hy_array(); col and val by hy_results_array(), so that
                     they can become part of the result */
    int32_t *col;
    double *val;
    int ascend; /* 1: entries ascend by row and then column, without repeats */
} hy_entries;

/* Builds compressed rows: expands symmetric files, sorts by row and column, and sums
   duplicates in the order of the file. `entries` are freed as early as possible or become
   the result. */
hybrid_status hy_mtx_build(hy_context *ctx, const hy_mtx_header *header,
                           hy_entries *entries, hybrid_type type, hybrid_csr *out);
/* Builds compressed rows from entries that ascend, of a file that is not symmetric. */
hybrid_status hy_mtx_build_ascending(hy_context *ctx, const hy_mtx_header *header,
                                     hy_entries *entries, hybrid_type type,
                                     hybrid_csr *out);
void hy_entries_free(hy_context *ctx, hy_entries *entries); /* accepts a zeroed struct */

/* Reads the values of a Matrix Market array file, whose header has been read. */
hybrid_status hy_mtx_read_array(hy_context *ctx, hy_input *input,
                                const hy_mtx_header *header, hybrid_type type,
                                hybrid_dense *out);

#endif /* HY_MTX_H */
