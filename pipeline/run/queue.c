/* pipeline/run/queue.c - hands out the rows of a product to the sites that compute
   them. */
#include "pipeline/run/queue.h"

#include <math.h>
#include <string.h>

#include "base/data/min_max.h"

static const double PRIOR_S = 2e-3; /* the predicted speed of a site weighs as much as a
                                       measurement of this many seconds */

int64_t hy_queue_work(const hy_queue *queue, const hy_chunk *chunk)
{
    const hy_features f =
        hy_profile_range(queue->profile, chunk->row_begin, chunk->row_end,
                         chunk->col_end - chunk->col_begin);

    return f.products + f.rows;
}

/* ---- rectangles ---------------------------------------------------------------- */

void hy_queue_choose(hy_features *f, const hy_features *chosen)
{
    memcpy(f->parameter, chosen->parameter, sizeof f->parameter);
    f->block_rows = chosen->block_rows;
    f->block_cols = chosen->block_cols;
    f->block_fill = chosen->block_fill;
}

/* Returns rows [begin, end) of a chunk as a chunk. Its numbers of gathered rows and
   entries are unknown, so those of the whole chunk stand for them as an upper bound. */
hy_chunk hy_queue_rows(const hy_queue *queue, const hy_chunk *chunk, int64_t begin,
                       int64_t end)
{
    hy_chunk part  = *chunk;
    part.row_begin = begin;
    part.row_end   = end;
    part.fewer     = 1;
    part.features =
        hy_profile_range(queue->profile, begin, end, chunk->col_end - chunk->col_begin);
    hy_queue_choose(&part.features, &chunk->features);
    part.features.out_room =
        chunk->features.out_room < part.features.out_bound ? chunk->features.out_room : 0;
    part.features.gather_rows = chunk->features.gather_rows;
    part.features.gather_nnz  = chunk->features.gather_nnz;
    return part;
}

/* Returns chunk i of a site's list without the rows that were taken from it. */
hy_chunk hy_queue_rest(const hy_queue *queue, const hy_site *c, int64_t i)
{
    hy_chunk chunk      = hy_chunk_at(&c->list, i);
    const int64_t begin = i == c->next ? c->row_begin : chunk.row_begin;
    const int64_t end   = i == c->stop - 1 ? c->row_end : chunk.row_end;

    if (begin == chunk.row_begin && end == chunk.row_end)
        return chunk;
    if (!hy_image_in_passes(&c->image))
        return hy_queue_rows(queue, &chunk, begin, end);
    /* features are those of the largest pass, which bound those of fewer rows */
    chunk.row_begin     = begin;
    chunk.row_end       = end;
    chunk.features.rows = end - begin;
    return chunk;
}

/* Returns a chunk with the rows of chunk i, which are the same in every column block. */
static const hy_chunk *rows_at(const hy_site *c, int64_t i)
{
    return &c->list.cut[c->list.ranges > 0 ? i % c->list.ranges : i];
}

static void drop_first(hy_site *c)
{
    c->next++;
    if (c->next < c->stop)
        c->row_begin = rows_at(c, c->next)->row_begin;
}

/* ---- pace ---------------------------------------------------------------------- */

/* Returns the seconds that the site needs for `work`, from its predicted and its measured
   speed. */
double hy_queue_seconds(const hy_site *c, int64_t work)
{
    const hy_pace *p     = &c->pace;
    const double timed_s = (double)(p->last_ns - p->first_ns) * 1e-9;
    const double done    = (double)p->timed + c->rate * PRIOR_S;

    return (double)work * (timed_s + PRIOR_S) / done;
}

/* ---- open ---------------------------------------------------------------------- */

void hy_queue_open(hy_queue *queue, const hy_profile *profile, int in_order)
{
    queue->profile  = profile;
    queue->in_order = in_order;
    queue->front = queue->all = queue->left = queue->claimed = 0;
    queue->count = queue->more = 0;
}

static int is_of(const hy_site *c, const hy_chunk *chunk)
{
    return chunk->row_begin < c->end && chunk->row_end > c->begin;
}

/* Sets `next` and `stop` to the range of chunks in the site's list that contain rows that
   the site owns, and row_begin and row_end to these rows. With column blocks, all chunks
   contain some. */
static void find_own(hy_site *c)
{
    c->stop = c->list.count;
    while (c->next < c->stop && !is_of(c, rows_at(c, c->next)))
        c->next++;
    while (c->next < c->stop && !is_of(c, rows_at(c, c->stop - 1)))
        c->stop--;
    if (c->next == c->stop)
        return;
    c->row_begin = hy_max(rows_at(c, c->next)->row_begin, c->begin);
    c->row_end   = hy_min(rows_at(c, c->stop - 1)->row_end, c->end);
}

void hy_queue_add(hy_queue *queue, hy_site *c)
{
    c->next = c->stop = c->row_begin = c->row_end = 0;
    c->left = c->taken = c->ceded = 0;
    c->piece.row_begin = c->piece.row_end = 0;
    c->pace                               = (hy_pace){.flying = 0};
    c->index                              = queue->count;
    queue->of[queue->count++]             = c;
    find_own(c);
    for (int64_t i = c->next; i < c->stop; i++) {
        const hy_chunk own = hy_queue_rest(queue, c, i);
        c->left += hy_queue_work(queue, &own);
    }
    queue->all  = queue->in_order ? c->left : queue->all + c->left;
    queue->left = queue->all;
}

void hy_queue_grow(hy_queue *queue, const hy_chunk_array *chunks, int64_t ring_begin,
                   int more)
{
    hy_site *c          = queue->of[0];
    const int64_t known = c->list.count;

    queue->more = more;
    c->list     = (hy_chunk_list){.cut        = chunks->of,
                                  .ranges     = chunks->count,
                                  .count      = chunks->count,
                                  .more       = more,
                                  .ring_begin = ring_begin};
    c->stop     = c->list.count;
    for (int64_t i = known; i < c->list.count; i++) {
        const int64_t work = hy_queue_work(queue, &chunks->of[i]);
        queue->left += work;
        queue->all += work;
    }
    if (c->next < c->stop)
        c->row_begin = rows_at(c, c->next)->row_begin;
    if (c->stop > 0)
        c->row_end = rows_at(c, c->stop - 1)->row_end;
}

/* ---- claiming ------------------------------------------------------------------ */

static void note_claim(hy_queue *queue, hy_site *c, hy_claim *claim)
{
    const int64_t work = hy_queue_work(queue, &claim->chunk);

    queue->left -= work;
    c->pace.flying += work;
    claim->index    = c->next;
    claim->chunk.id = queue->claimed++;
}

static int claim_own(hy_queue *queue, hy_site *c, int must, hy_claim *out)
{
    out->chunk = hy_queue_rest(queue, c, c->next);
    if (!must && hy_queue_leaves(queue, c, &out->chunk))
        return 0;
    c->left -= hy_queue_work(queue, &out->chunk);
    note_claim(queue, c, out);
    drop_first(c);
    return 1;
}

/* ---- in order ------------------------------------------------------------------ */

/* Returns the predicted seconds until the first of the other sites runs out of free
   slots. Site `c` should have counted the chunk that it is about to claim by then,
   because chunks that other sites claim from now on wait for that chunk in their
   slots. */
static double patience(const hy_queue *queue, const hy_site *c)
{
    double least = INFINITY;

    for (int k = 0; k < queue->count; k++) {
        const hy_site *o  = queue->of[k];
        const int64_t one = queue->all / (o->list.count + 1) + 1;
        if (o != c)
            least = fmin(least, hy_queue_seconds(o, o->pace.flying + o->depth * one));
    }
    return least;
}

/* Returns the predicted seconds in which the other sites would finish their claimed work
   and all unclaimed work. */
static double others_s(const hy_queue *queue, const hy_site *c)
{
    double rates = 0, flying = 0;

    for (int k = 0; k < queue->count; k++) {
        const hy_site *o = queue->of[k];
        if (o == c)
            continue;
        rates += 1 / hy_queue_seconds(o, 1);
        flying += (double)o->pace.flying;
    }
    return rates > 0 ? (flying + (double)queue->left) / rates : INFINITY;
}

static int is_in_time(const hy_queue *queue, const hy_site *c, int64_t work)
{
    const double s = hy_queue_seconds(c, c->pace.flying + work);

    return queue->count == 1 || (s <= patience(queue, c) && s <= others_s(queue, c));
}

/* Claims the next rows, up to the end of the chunk of the site's own cut that contains
   them. Returns 0 if no rows are left, or, unless `must` is 1, if the site is not
   predicted to compute them in time. */
static int claim_in_order(hy_queue *queue, hy_site *c, int must, hy_claim *out)
{
    while (c->next < c->stop && rows_at(c, c->next)->row_end <= queue->front)
        drop_first(c);
    if (c->next == c->stop)
        return 0;
    c->row_begin = queue->front;
    out->chunk   = hy_queue_rest(queue, c, c->next);
    if (!must && !is_in_time(queue, c, hy_queue_work(queue, &out->chunk)))
        return 0;
    queue->front = out->chunk.row_end;
    note_claim(queue, c, out);
    return 1;
}

/* ---- what sites call ----------------------------------------------------------- */

int hy_queue_claim(hy_queue *queue, int site, int must, hy_claim *out)
{
    hy_site *c = queue->of[site];

    if (queue->in_order)
        return claim_in_order(queue, c, must, out);
    if (c->next < c->stop)
        return claim_own(queue, c, must, out);
    return c->taking.variant && hy_queue_take(queue, c, out);
}

void hy_queue_done(hy_queue *queue, int site, const hy_chunk *chunk, int64_t ns)
{
    hy_site *c    = queue->of[site];
    hy_pace *pace = &c->pace;

    pace->flying -= hy_queue_work(queue, chunk);
    if (pace->first_ns == 0)
        pace->first_ns = ns;
    else
        pace->timed += hy_queue_work(queue, chunk);
    pace->last_ns = ns;
}
