/* io/mtx/mtx.h - what the files of the Matrix Market reader share. */
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
    int array; /* dense: one value a line; else "row column value" */
    hy_mtx_field field;
    hy_mtx_symmetry symmetry;
    int64_t rows, cols; /* < 2^31 */
    int64_t count;      /* entries announced; of an array, those to be stored */
    const char *body;   /* the line after the sizes */
} hy_mtx_header;

hybrid_status hy_mtx_read_header(hy_context *ctx, const hy_input *input,
                                 hy_mtx_header *out);

/* ---- words ------------------------------------------------------------------- */

enum { HY_WHY_BYTES = 160 };

static inline const char *hy_skip_blanks(const char *p)
{
    while (*p == ' ' || *p == '\t' || *p == '\r')
        p++;
    return p;
}

/* The word at `p`, cut and made printable, for a sentence. */
typedef struct hy_word {
    char text[32];
} hy_word;
hy_word hy_mtx_word(const char *p);

/* 1 if a word ends at `p`. */
static inline int hy_word_ends(const char *p)
{
    return *p == ' ' || *p == '\t' || *p == '\r' || *p == '\n' || *p == 0;
}

/* BAD_FILE "path:line: why", where `at` is somewhere in that line; NULL: "path: why". */
hybrid_status hy_mtx_fail(hy_context *ctx, const hy_input *input, const char *at,
                          const char *why);

/* A value of the given field at `p` that fits `type`. Returns where it ends, or NULL
   and says why. */
const char *hy_mtx_value(const char *p, hy_mtx_field field, hybrid_type type,
                         const hy_numbers *numbers, double *value, char *why);

/* ---- lines, in parallel --------------------------------------------------------- */

/* Lines that begin in [begin, stop), and the items that they hold, one each. Blank lines
   and comments hold none. */
typedef struct hy_mtx_block {
    const char *begin, *stop;
    const char *end; /* of all lines there are */
    char *items;     /* `count` read */
    int64_t count;
    const char *bad; /* NULL, or the first bad line, behind its blanks; */
    char why[HY_WHY_BYTES];
} hy_mtx_block;

/* Read the line at `p`, which begins without blanks, to `item`. Returns where what was
   expected ends, or NULL and says why it is not there. */
typedef const char *(*hy_line_fn)(void *arg, const char *p, void *item, char *why);

/* Where items go: `count` of them, the first one being number `first` of the file. Called
   from any thread, in any order. */
typedef void (*hy_put_fn)(void *arg, const void *items, int64_t count, int64_t first);

typedef struct hy_lines hy_lines;

/* All items of a window have been put: those before its block b are first[b]. */
typedef void (*hy_joined_fn)(void *arg, const hy_lines *lines);

/* The body of a file, and what becomes of it. */
struct hy_lines {
    hy_input *input;
    const char *body;  /* of the window that is read */
    int64_t announced; /* items */
    const char *noun;  /* what a line holds: "entries" */
    size_t item_bytes;
    size_t least_bytes;                       /* of a line that holds an item */
    void (*read)(void *arg, hy_mtx_block *block); /* hy_block_read() of a hy_line_fn */
    hy_put_fn put;
    hy_joined_fn joined; /* NULL is fine */
    void *arg;           /* of all three */

    const char *end; /* of the lines in the window: the last may go on in the next */
    int64_t before;  /* items in earlier windows */
    int64_t blocks;
    int64_t *first; /* blocks + 1: items before the block */
};

/* Bytes of a block; tests make it small. */
extern size_t hy_lines_block_bytes;

/* Items that put() may be given: no more than announced, nor than lines fit the body if
   it is all there. */
int64_t hy_lines_most(const hy_lines *lines);

/* Read all lines, window by window, and complain, naming the first bad line, if one is
   bad or there are fewer or more than announced. */
hybrid_status hy_lines_read(hy_context *ctx, hy_lines *lines);
/* After that: where the line that holds item `index` begins; NULL if its window is gone.
 */
const char *hy_lines_at(const hy_lines *lines, int64_t index);
void hy_lines_close(hy_context *ctx, hy_lines *lines);

/* The line after the one that holds `p`; `end` if there is none. */
static inline const char *hy_next_line(const char *p, const char *end)
{
    const char *newline = (const char *)memchr(p, '\n', (size_t)(end - p));
    return newline ? newline + 1 : end;
}

/* Inlined, so that `fn` is. */
static inline __attribute__((always_inline)) void
hy_block_read(hy_mtx_block *block, size_t item_bytes, hy_line_fn fn, void *arg)
{
    const char *end = block->end;
    char *item      = block->items;

    for (const char *p = block->begin, *q; p < block->stop; p = q + 1) {
        q = p = hy_skip_blanks(p);
        if (*p == '\n' || p == end)
            continue;
        if (*p == '%') {
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

/* ---- entries -------------------------------------------------------------------- */

/* In the order of the file. */
typedef struct hy_entries {
    int64_t count;
    int32_t *row; /* an array; the other two are results */
    int32_t *col;
    double *val;
    int ascend; /* by row and then column, each only once */
} hy_entries;

/* Entries in a bucket that one worker sorts, at least; tests make it small. */
extern int64_t hy_build_bucket;

/* Expand by symmetry, sort by row and column, sum duplicates in the order of the file.
   `entries` are freed as soon as they are not needed, or become the result. */
hybrid_status hy_mtx_build(hy_context *ctx, const hy_mtx_header *header,
                           hy_entries *entries, hybrid_type type, hybrid_csr *out);
/* The same for those that ascend, of a file that is not symmetric. */
hybrid_status hy_mtx_build_ascending(hy_context *ctx, const hy_mtx_header *header,
                                     hy_entries *entries, hybrid_type type,
                                     hybrid_csr *out);
void hy_entries_free(hy_context *ctx, hy_entries *entries); /* zeroed is fine */

/* Matrix Market array file of which the header has been read. */
hybrid_status hy_mtx_read_array(hy_context *ctx, hy_input *input,
                                const hy_mtx_header *header, hybrid_type type,
                                hybrid_dense *out);

#endif /* HY_MTX_H */
