/* io/mtx/mtx_lines.c - reads the lines of a Matrix Market file, in parallel and once.

   A window is the part of the file that is in memory. Only whole lines of a window are
   read; the rest begins the next window. The body of a window is cut into blocks, and a
   line belongs to the block in which it begins. The number of items before a block is
   known once all earlier blocks have been read. Blocks are begun in order and take
   equally long, so this is mostly the case when the block itself has been read. Otherwise
   its items are set aside and put in place at the end.

   The first bad line in the file is reported, whichever bad line a worker meets first. */
#include "io/mtx/mtx.h"

#include <pthread.h>

#include "base/threads/pool.h"
#include "io/text/io_sizes.h"

typedef struct reading {
    hy_context *ctx;
    hy_lines *lines;
    pthread_mutex_t lock;
    int64_t known; /* number of blocks, counted from the first, that have been read;
                      first[] is set for them */
    char **aside;  /* for each block: its items if they are to be put later, else NULL */
    char **items;  /* for each part of the loop (worker inside it): memory for the items
                      of a block, or NULL */
    int64_t bad;   /* first block with a bad line; `blocks` if there is none */
    const char *at;
    char why[HY_WHY_BYTES];
} reading;

/* ---- blocks --------------------------------------------------------------------- */

/* Returns the end of block b, where the next block begins. The line that crosses it
   belongs to block b. */
static const char *cut(const hy_lines *lines, int64_t b)
{
    const size_t left = (size_t)(lines->end - lines->body);
    const size_t at   = (size_t)(b + 1) * lines->block_bytes;

    return at < left ? lines->body + at : lines->end;
}

/* Returns block b without items. Its lines begin with the first line that starts in the
   block. The search for that line ends with the block, so that a long line is searched
   once only. */
static hy_mtx_block open_block(const hy_lines *lines, int64_t b)
{
    hy_mtx_block block = {.begin = lines->body, .stop = cut(lines, b)};

    block.end = lines->end;
    if (b > 0)
        block.begin = hy_next_line(cut(lines, b - 1) - 1, block.stop);
    return block;
}

static int64_t most_items(const hy_lines *lines, size_t bytes)
{
    return (int64_t)(bytes / lines->least_bytes) + 1;
}

int64_t hy_lines_window_max(const hy_lines *lines)
{
    const hy_input *input = lines->input;

    return most_items(lines, (size_t)(input->text + input->bytes - lines->body));
}

int64_t hy_lines_max(const hy_lines *lines)
{
    const hy_input *input = lines->input;
    const int64_t most    = hy_lines_window_max(lines);

    return input->last && most < lines->announced ? most : lines->announced;
}

const char *hy_lines_at(const hy_lines *lines, int64_t index)
{
    int64_t b = 0;

    if (index < lines->before)
        return NULL;
    while (lines->first[b + 1] <= index)
        b++;
    const hy_mtx_block block = open_block(lines, b);
    const char *p            = block.begin;
    for (int64_t left = index - lines->first[b];; p = hy_next_line(p, block.end)) {
        p = hy_skip_blanks(p);
        if (*p != '\n' && *p != '%' && left-- == 0)
            return p;
    }
}

/* ---- one block ------------------------------------------------------------------ */

static int is_before_bad(reading *r, int64_t b)
{
    pthread_mutex_lock(&r->lock);
    const int before = b < r->bad;
    pthread_mutex_unlock(&r->lock);
    return before;
}

/* Records block b and its bad line, unless an earlier block has one. The calling function
   holds the lock. */
static void set_bad(reading *r, int64_t b, const hy_mtx_block *block)
{
    if (b >= r->bad)
        return;
    r->bad = b;
    r->at  = block->bad;
    snprintf(r->why, HY_WHY_BYTES, "%s", block->why);
}

/* Records the number of items of block b, and computes first[] for all blocks for which
   it is now known. Returns 1 if first[b] is known. */
static int count_block(reading *r, int64_t b, const hy_mtx_block *block)
{
    const int64_t blocks = r->lines->blocks;
    int64_t *first       = r->lines->first;

    pthread_mutex_lock(&r->lock);
    first[b + 1] = block->count; /* the items of earlier blocks are added below */
    for (; r->known < blocks && first[r->known + 1] >= 0; r->known++)
        first[r->known + 1] += first[r->known];
    const int is_known = r->known > b;
    if (block->bad || (is_known && first[b + 1] > r->lines->announced))
        set_bad(r, b, block);
    pthread_mutex_unlock(&r->lock);
    return is_known;
}

/* Puts the items of block b in place. Items beyond the announced number are dropped. */
static void put(const hy_lines *lines, int64_t b, const char *items)
{
    const int64_t left  = lines->announced - lines->first[b];
    const int64_t count = lines->first[b + 1] - lines->first[b];

    if (count > 0 && left > 0)
        lines->put(lines->arg, items, count < left ? count : left, lines->first[b]);
}

static hybrid_status set_aside(reading *r, int64_t b, const hy_mtx_block *block)
{
    void *array;

    if (block->count == 0)
        return HYBRID_OK;
    HY_TRY(
        hy_array(r->ctx, block->count, r->lines->item_bytes, "items of a block", &array));
    memcpy(array, block->items, (size_t)block->count * r->lines->item_bytes);
    r->aside[b] = array;
    return HYBRID_OK;
}

static hybrid_status read_block(reading *r, int part, int64_t b)
{
    const hy_lines *lines = r->lines;
    hy_mtx_block block    = open_block(lines, b);
    void *array;

    if (!r->items[part]) {
        HY_TRY(hy_array(r->ctx, most_items(lines, lines->block_bytes), lines->item_bytes,
                        "items of a block", &array));
        r->items[part] = array;
    }
    block.items = r->items[part];
    lines->read(lines->arg, &block);
    if (block.bad &&
        memchr(block.bad, 0, (size_t)(hy_next_line(block.bad, block.end) - block.bad)))
        snprintf(block.why, HY_WHY_BYTES, "the line holds a zero byte");
    hy_input_took(r->ctx, lines->input,
                  block.stop > block.begin ? block.stop - block.begin : 0);
    if (!count_block(r, b, &block))
        return set_aside(r, b, &block);
    put(lines, b, block.items);
    return HYBRID_OK;
}

static hybrid_status read_blocks(void *arg, int part, int64_t begin, int64_t end)
{
    reading *r = arg;

    for (int64_t b = begin; b < end; b++)
        if (is_before_bad(r, b))
            HY_TRY(read_block(r, part, b));
    return HYBRID_OK;
}

static hybrid_status put_aside(void *arg, int part, int64_t begin, int64_t end)
{
    const reading *r = arg;
    (void)part;

    for (int64_t b = begin; b < end; b++)
        if (r->aside[b])
            put(r->lines, b, r->aside[b]);
    return HYBRID_OK;
}

/* ---- a window -------------------------------------------------------------------- */

/* Fails if the window has a bad line or more items than were announced, or if the last
   window has fewer. All blocks up to a bad one have been counted. A bad line after too
   many items is not the first fault. */
static hybrid_status judge(const reading *r)
{
    const hy_lines *lines = r->lines;
    const int none        = r->bad == lines->blocks;
    const int64_t count   = lines->first[none ? r->bad : r->bad + 1];
    const char *last      = lines->end - (lines->end > lines->input->text);
    char why[HY_WHY_BYTES];

    if (!none && r->at && count < lines->announced)
        return hy_mtx_fail(r->ctx, lines->input, r->at, r->why);
    if (none && (count == lines->announced || lines->announced == HY_NOT_ANNOUNCED ||
                 (count < lines->announced && !lines->input->last)))
        return HYBRID_OK;
    if (none && count < lines->announced) {
        snprintf(why, sizeof why, "the file ends after %lld of the %lld %s announced",
                 (long long)count, (long long)lines->announced, lines->noun);
        return hy_mtx_fail(r->ctx, lines->input, last, why);
    }
    snprintf(why, sizeof why, "there are more than the %lld %s announced",
             (long long)lines->announced, lines->noun);
    return hy_mtx_fail(
        r->ctx, lines->input,
        count == lines->announced ? r->at : hy_lines_at(lines, lines->announced), why);
}

static hybrid_status open_reading(reading *r)
{
    hy_lines *lines      = r->lines;
    const size_t bytes   = (size_t)(lines->end - lines->body);
    const int64_t parts  = hy_pool_threads(r->ctx->pool);
    const size_t block   = hy_io_sizes_of(r->ctx)->lines_block;
    const int64_t blocks = (int64_t)(bytes / block) + 1;
    void *array;

    lines->block_bytes = block;
    lines->blocks = r->bad = blocks;
    HY_TRY(hy_array(r->ctx, blocks + 1, sizeof *lines->first, "blocks of lines", &array));
    lines->first    = array;
    lines->first[0] = lines->before;
    for (int64_t b = 1; b <= blocks; b++)
        lines->first[b] = -1;
    HY_TRY(hy_array(r->ctx, blocks, sizeof *r->aside, "blocks of lines", &array));
    r->aside = array;
    memset(array, 0, (size_t)blocks * sizeof *r->aside);
    HY_TRY(hy_array(r->ctx, parts, sizeof *r->items, "items of lines", &array));
    r->items = array;
    memset(array, 0, (size_t)parts * sizeof *r->items);
    return HYBRID_OK;
}

static void close_reading(reading *r)
{
    for (int64_t b = 0; r->aside && b < r->lines->blocks; b++)
        hy_array_free(r->ctx, r->aside[b]);
    hy_array_free(r->ctx, r->aside);
    for (int i = 0; r->items && i < hy_pool_threads(r->ctx->pool); i++)
        hy_array_free(r->ctx, r->items[i]);
    hy_array_free(r->ctx, r->items);
    pthread_mutex_destroy(&r->lock);
}

static hybrid_status read_window(hy_context *ctx, hy_lines *lines)
{
    reading r = {.ctx = ctx, .lines = lines};
    hybrid_status status;

    pthread_mutex_init(&r.lock, NULL);
    HY_TRY_ELSE_DONE(open_reading(&r));
    HY_TRY_ELSE_DONE(
        hy_pool_for(ctx->pool, HY_COMPUTE, 0, lines->blocks, 1, read_blocks, &r));
    HY_TRY_ELSE_DONE(judge(&r));
    HY_TRY_ELSE_DONE(
        hy_pool_for(ctx->pool, HY_COMPUTE, 0, lines->blocks, 64, put_aside, &r));
    if (lines->joined)
        lines->joined(lines->arg, lines);
done:
    close_reading(&r);
    return status;
}

/* ---- all windows -------------------------------------------------------------- */

/* Sets the end of the last whole line in the window. */
static hybrid_status find_end(hy_context *ctx, hy_lines *lines)
{
    const hy_input *input = lines->input;
    const char *end       = input->text + input->bytes;
    char why[HY_WHY_BYTES];

    lines->end = end;
    if (input->last)
        return HYBRID_OK;
    const char *newline = memrchr(lines->body, '\n', (size_t)(end - lines->body));
    if (newline) {
        lines->end = newline + 1;
        return HYBRID_OK;
    }
    snprintf(why, sizeof why, "the line is longer than %zu bytes", input->bytes);
    return hy_mtx_fail(ctx, input, lines->body, why);
}

hybrid_status hy_lines_next(hy_context *ctx, hy_lines *lines)
{
    lines->before = lines->first[lines->blocks];
    hy_lines_close(ctx, lines);
    HY_TRY(hy_input_next(ctx, lines->input, lines->end));
    lines->body = lines->input->text;
    return HYBRID_OK;
}

hybrid_status hy_lines_read_window(hy_context *ctx, hy_lines *lines)
{
    HY_TRY(find_end(ctx, lines));
    return read_window(ctx, lines);
}

hybrid_status hy_lines_read(hy_context *ctx, hy_lines *lines)
{
    for (;;) {
        HY_TRY(hy_lines_read_window(ctx, lines));
        if (lines->input->last)
            return HYBRID_OK;
        HY_TRY(hy_lines_next(ctx, lines));
    }
}

void hy_lines_close(hy_context *ctx, hy_lines *lines)
{
    hy_array_free(ctx, lines->first);
    lines->first = NULL;
}
