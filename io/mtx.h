/* io/mtx.h - what the files of the Matrix Market reader share. */
#ifndef HY_MTX_H
#define HY_MTX_H

#include "base/context.h"
#include "io/io.h"

#include <locale.h>

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

hybrid_status hy_mtx_read_header(hy_context *ctx, const hy_source *source,
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

/* BAD_FILE "path:line: why", where `at` is somewhere in that line. */
hybrid_status hy_mtx_fail(hy_context *ctx, const hy_source *source, const char *at,
                          const char *why);

/* A value of the given field at `p` that fits `type`. Returns where it ends, or NULL
   and says why. */
const char *hy_mtx_value(const char *p, hy_mtx_field field, hybrid_type type, locale_t c,
                         double *value, char *why);

/* ---- lines, in parallel --------------------------------------------------------- */

/* The body cut into blocks at ends of lines. Blank lines and comments do not count. */
typedef struct hy_lines {
    const hy_source *source;
    int64_t blocks;
    int64_t count;      /* lines that count */
    const char **begin; /* blocks + 1 */
    int64_t *first;     /* blocks + 1: lines that count before the block */
} hy_lines;

/* Bytes of a block; tests make it small. */
extern size_t hy_lines_block_bytes;

/* Read line `index`, which begins at `p` without blanks. Returns where what was expected
   ends, or NULL and says why it is not there. Called from any thread. */
typedef const char *(*hy_line_fn)(void *arg, int64_t index, const char *p, char *why);

hybrid_status hy_lines_open(hy_context *ctx, const hy_source *source, const char *body,
                            hy_lines *out);
/* Read `announced` lines and complain, naming the first bad line, if one is bad or there
   are fewer or more. `noun` is what a line holds: "entries". */
hybrid_status hy_lines_read(hy_context *ctx, const hy_lines *lines, int64_t announced,
                            const char *noun, hy_line_fn fn, void *arg);
/* Where the line that counts as number `index` begins. */
const char *hy_lines_at(const hy_lines *lines, int64_t index);
void hy_lines_close(hy_context *ctx, hy_lines *lines); /* zeroed is fine */

/* ---- entries -------------------------------------------------------------------- */

typedef struct hy_entry {
    int32_t row, col;
    double val;
} hy_entry;

typedef struct hy_entries {
    int64_t count;
    hy_entry *entry;
} hy_entries;

/* Entries in a bucket that one worker sorts, at least; tests make it small. */
extern int64_t hy_build_bucket;

/* Expand by symmetry, sort by row and column, sum duplicates in the order of the file.
   `entries` are freed as soon as they are not needed. */
hybrid_status hy_mtx_build(hy_context *ctx, const hy_mtx_header *header,
                           hy_entries *entries, hybrid_type type, hybrid_csr *out);

/* Matrix Market array file of which the header has been read. */
hybrid_status hy_mtx_read_array(hy_context *ctx, const hy_source *source,
                                const hy_mtx_header *header, hybrid_type type,
                                hybrid_dense *out);

#endif /* HY_MTX_H */
