/* io/mtx_lines.c - the lines of a Matrix Market file, read in parallel.

   The body is cut into blocks at ends of lines. A first loop counts the lines that hold
   something, so that the second one knows the number of every line it reads. Of several
   bad lines the first one in the file is reported, whichever worker met which first. */
#include "io/mtx.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/pool.h"

size_t hy_lines_block_bytes = (size_t)1 << 20;

/* The line after the one that holds `p`; `end` if there is none. */
static const char *next_line(const char *p, const char *end)
{
    const char *newline = memchr(p, '\n', (size_t)(end - p));
    return newline ? newline + 1 : end;
}

/* ---- counting -----------------------------------------------------------------------
 */

static hybrid_status count_lines(void *arg, int part, int64_t begin, int64_t end)
{
    const hy_lines *lines = arg;
    (void)part;

    for (int64_t b = begin; b < end; b++) {
        const char *stop = lines->begin[b + 1];
        int64_t count    = 0;
        for (const char *p = lines->begin[b]; p < stop; p = next_line(p, stop)) {
            p = hy_skip_blanks(p);
            count += p < stop && *p != '\n' && *p != '%';
        }
        lines->first[b] = count;
    }
    return HYBRID_OK;
}

/* A line longer than a block is looked through once: the blocks it covers are empty. */
static void cut(hy_lines *lines, const char *body, const char *end)
{
    const char *p = body;

    for (int64_t b = 0; b < lines->blocks; b++) {
        const char *from = body + (size_t)b * hy_lines_block_bytes;
        if (from > p)
            p = next_line(from - 1, end);
        lines->begin[b] = p;
    }
    lines->begin[lines->blocks] = end;
}

hybrid_status hy_lines_open(hy_context *ctx, const hy_source *source, const char *body,
                            hy_lines *out)
{
    const char *end    = source->text + source->bytes;
    const size_t bytes = (size_t)(end - body);
    hybrid_status status;
    void *array;

    *out        = (hy_lines){.source = source};
    out->blocks = (int64_t)(bytes / hy_lines_block_bytes) + 1;
    HY_TRY_ELSE_DONE(
        hy_array(ctx, out->blocks + 1, sizeof *out->begin, "blocks of lines", &array));
    out->begin = array;
    HY_TRY_ELSE_DONE(
        hy_array(ctx, out->blocks + 1, sizeof *out->first, "blocks of lines", &array));
    out->first = array;

    cut(out, body, end);
    HY_TRY_ELSE_DONE(
        hy_pool_for(ctx->pool, HY_COMPUTE, 0, out->blocks, 1, count_lines, out));
    for (int64_t b = 0; b < out->blocks; b++) {
        const int64_t count = out->first[b];
        out->first[b]       = out->count;
        out->count += count;
    }
    out->first[out->blocks] = out->count;
    return HYBRID_OK;
done:
    hy_lines_close(ctx, out);
    return status;
}

void hy_lines_close(hy_context *ctx, hy_lines *lines)
{
    hy_array_free(ctx, lines->begin);
    hy_array_free(ctx, lines->first);
    *lines = (hy_lines){0};
}

const char *hy_lines_at(const hy_lines *lines, int64_t index)
{
    int64_t b = 0;

    while (lines->first[b + 1] <= index)
        b++;
    const char *p = lines->begin[b], *stop = lines->begin[b + 1];
    for (int64_t left = index - lines->first[b];; p = next_line(p, stop)) {
        p = hy_skip_blanks(p);
        if (*p != '\n' && *p != '%' && left-- == 0)
            return p;
    }
}

/* ---- reading ------------------------------------------------------------------------
 */

typedef struct reading {
    const hy_lines *lines;
    int64_t announced;
    const char *noun;
    hy_line_fn fn;
    void *arg;
    pthread_mutex_t lock;
    const char *bad; /* the first bad line found so far; NULL = none */
    char why[HY_WHY_BYTES];
} reading;

static int is_before_bad(reading *r, const char *p)
{
    pthread_mutex_lock(&r->lock);
    const int before = !r->bad || p < r->bad;
    pthread_mutex_unlock(&r->lock);
    return before;
}

static void set_bad(reading *r, const char *p, const char *why)
{
    pthread_mutex_lock(&r->lock);
    if (!r->bad || p < r->bad) {
        r->bad = p;
        snprintf(r->why, HY_WHY_BYTES, "%s", why);
    }
    pthread_mutex_unlock(&r->lock);
}

/* Read a line that counts; returns its end, or NULL and says why it is bad. */
static const char *read_line(reading *r, int64_t index, const char *p, const char *stop,
                             char *why)
{
    if (index >= r->announced) {
        snprintf(why, HY_WHY_BYTES, "there are more than the %lld %s announced",
                 (long long)r->announced, r->noun);
        return NULL;
    }
    p = r->fn(r->arg, index, p, why);
    if (!p)
        return NULL;
    p = hy_skip_blanks(p);
    if (*p == '\n' || p == stop)
        return p;
    snprintf(why, HY_WHY_BYTES, "unexpected '%s' at the end of the line",
             hy_mtx_word(p).text);
    return NULL;
}

static void read_block(reading *r, int64_t b)
{
    const char *stop = r->lines->begin[b + 1];
    int64_t index    = r->lines->first[b];
    char why[HY_WHY_BYTES];

    for (const char *p = r->lines->begin[b], *end; p < stop; p = end + 1) {
        p = end = hy_skip_blanks(p);
        if (*p == '%') {
            end = next_line(p, stop) - 1;
        } else if (*p != '\n' && p < stop) {
            end = read_line(r, index++, p, stop, why);
            if (!end) {
                const int binary = memchr(p, 0, (size_t)(next_line(p, stop) - p)) != NULL;
                set_bad(r, p, binary ? "the line holds a zero byte" : why);
                return;
            }
        }
    }
}

static hybrid_status read_blocks(void *arg, int part, int64_t begin, int64_t end)
{
    reading *r = arg;
    (void)part;

    for (int64_t b = begin; b < end; b++)
        if (is_before_bad(r, r->lines->begin[b]))
            read_block(r, b);
    return HYBRID_OK;
}

hybrid_status hy_lines_read(hy_context *ctx, const hy_lines *lines, int64_t announced,
                            const char *noun, hy_line_fn fn, void *arg)
{
    const hy_source *source = lines->source;
    reading r               = {.lines = lines, .announced = announced, .noun = noun};
    hybrid_status status;

    r.fn  = fn;
    r.arg = arg;
    pthread_mutex_init(&r.lock, NULL);
    status = hy_pool_for(ctx->pool, HY_COMPUTE, 0, lines->blocks, 1, read_blocks, &r);
    pthread_mutex_destroy(&r.lock);
    if (status != HYBRID_OK)
        return status;

    if (!r.bad && lines->count < announced) {
        r.bad = source->text + source->bytes - 1; /* its last line */
        snprintf(r.why, sizeof r.why, "the file ends after %lld of the %lld %s announced",
                 (long long)lines->count, (long long)announced, noun);
    }
    return r.bad ? hy_mtx_fail(ctx, source, r.bad, r.why) : HYBRID_OK;
}
