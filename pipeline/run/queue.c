/* pipeline/run/queue.c - the rows of a product, handed out to the sites that compute
 * them. */
#include "pipeline/run/queue.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/data/min_max.h"

static const double PRIOR_S =
    2e-3; /* what was expected weighs like a run of that length */

int64_t hy_queue_work(const hy_chunk *chunk)
{
    return chunk->features.products + chunk->features.rows;
}

/* ---- rectangles ---------------------------------------------------------------------
 */

/* Rows [begin, end) of a chunk. What it gathers is no more than for all of its rows. */
hy_chunk hy_queue_rows(const hy_queue *queue, const hy_chunk *chunk, int64_t begin,
                       int64_t end)
{
    hy_chunk part  = *chunk;
    part.row_begin = begin;
    part.row_end   = end;
    part.trimmed   = 1;
    part.features =
        hy_profile_range(queue->profile, begin, end, chunk->col_end - chunk->col_begin);
    part.features.gather_rows = chunk->features.gather_rows;
    part.features.gather_nnz  = chunk->features.gather_nnz;
    return part;
}

/* What is left of a site's chunk i. */
hy_chunk hy_queue_rest(const hy_queue *queue, const hy_claimant *c, int64_t i)
{
    const hy_chunk chunk = hy_chunk_at(&c->list, i);
    const int64_t begin  = i == c->next ? c->row_begin : chunk.row_begin;
    const int64_t end    = i == c->stop - 1 ? c->row_end : chunk.row_end;

    if (begin == chunk.row_begin && end == chunk.row_end)
        return chunk;
    return hy_queue_rows(queue, &chunk, begin, end);
}

/* With the rows of chunk i, which are those of any column block. */
static const hy_chunk *rows_at(const hy_claimant *c, int64_t i)
{
    return &c->list.cut[c->list.ranges > 0 ? i % c->list.ranges : i];
}

static void drop_first(hy_claimant *c)
{
    c->next++;
    if (c->next < c->stop)
        c->row_begin = rows_at(c, c->next)->row_begin;
}

/* ---- pace ----------------------------------------------------------------------------
 */

/* Seconds in which a site does that much. */
double hy_queue_seconds(const hy_claimant *c, int64_t work)
{
    const hy_pace *p     = &c->pace;
    const double timed_s = (double)(p->last_ns - p->first_ns) * 1e-9;
    const double done    = (double)p->timed + p->expected * PRIOR_S;

    return (double)work * (timed_s + PRIOR_S) / done;
}

/* ---- open ----------------------------------------------------------------------------
 */

void hy_queue_open(hy_queue *queue, const hy_profile *profile, int in_order)
{
    queue->profile  = profile;
    queue->in_order = in_order;
    queue->front = queue->all = queue->left = queue->claimed = 0;
    queue->count                                             = 0;
}

static int is_of(const hy_claimant *c, const hy_chunk *chunk)
{
    return chunk->row_begin < c->end && chunk->row_end > c->begin;
}

/* The chunks that have rows of its own: if X comes in column blocks, all. */
static void find_own(hy_claimant *c)
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

/* Of chunk i, as far as it is its own. */
static int64_t own_work(const hy_queue *queue, const hy_claimant *c, int64_t i)
{
    const hy_chunk *cut = rows_at(c, i);

    if (c->list.image.axis != HY_AXIS_COLS && cut->row_begin >= c->begin &&
        cut->row_end <= c->end)
        return hy_queue_work(cut);
    const hy_chunk rest = hy_queue_rest(queue, c, i);
    return hy_queue_work(&rest);
}

int hy_queue_add(hy_queue *queue, const hy_chunk_list *list, int64_t begin, int64_t end,
                 double rate, int depth)
{
    hy_claimant *c = &queue->of[queue->count];

    memset(c, 0, offsetof(hy_claimant, claim));
    c->claim.row_begin = c->claim.row_end = 0;
    c->list                               = *list;
    c->begin                              = begin;
    c->end                                = end;
    c->rate                               = rate;
    c->depth                              = depth;
    c->pace.expected                      = rate;
    find_own(c);
    for (int64_t i = c->next; i < c->stop; i++)
        c->left += own_work(queue, c, i);
    queue->all  = queue->in_order ? c->left : queue->all + c->left;
    queue->left = queue->all;
    return queue->count++;
}

/* ---- claiming ------------------------------------------------------------------------
 */

static void note_claim(hy_queue *queue, hy_claimant *c, hy_claim *claim)
{
    const int64_t work = hy_queue_work(&claim->chunk);

    queue->left -= work;
    c->pace.flying += work;
    claim->index    = c->next;
    claim->chunk.id = queue->claimed++;
}

static int claim_own(hy_queue *queue, hy_claimant *c, int must, hy_claim *out)
{
    out->chunk = hy_queue_rest(queue, c, c->next);
    if (!must && hy_queue_leaves(queue, c, &out->chunk))
        return 0;
    c->left -= hy_queue_work(&out->chunk);
    note_claim(queue, c, out);
    drop_first(c);
    return 1;
}

/* ---- in order ------------------------------------------------------------------------
 */

/* Until another has no free slot any more if this chunk is not counted: what it has in
   flight comes before the chunk, and only what it claims from now on waits for it. */
static double patience(const hy_queue *queue, const hy_claimant *c)
{
    double least = INFINITY;

    for (int k = 0; k < queue->count; k++) {
        const hy_claimant *o = &queue->of[k];
        const int64_t one    = queue->all / (o->list.count + 1) + 1;
        if (o != c)
            least = fmin(least, hy_queue_seconds(o, o->pace.flying + o->depth * one));
    }
    return least;
}

/* In which the others would be done with all that is left. */
static double others_s(const hy_queue *queue, const hy_claimant *c)
{
    double rates = 0, flying = 0;

    for (int k = 0; k < queue->count; k++) {
        const hy_claimant *o = &queue->of[k];
        if (o == c)
            continue;
        rates += 1 / hy_queue_seconds(o, 1);
        flying += (double)o->pace.flying;
    }
    return rates > 0 ? (flying + (double)queue->left) / rates : INFINITY;
}

static int is_in_time(const hy_queue *queue, const hy_claimant *c, int64_t work)
{
    const double s = hy_queue_seconds(c, c->pace.flying + work);

    return queue->count == 1 || (s <= patience(queue, c) && s <= others_s(queue, c));
}

/* The next rows, up to the end of its own chunk that has the first of them. */
static int claim_in_order(hy_queue *queue, hy_claimant *c, int must, hy_claim *out)
{
    while (c->next < c->stop && rows_at(c, c->next)->row_end <= queue->front)
        drop_first(c);
    if (c->next == c->stop)
        return 0;
    c->row_begin = queue->front;
    out->chunk   = hy_queue_rest(queue, c, c->next);
    if (!must && !is_in_time(queue, c, hy_queue_work(&out->chunk)))
        return 0;
    queue->front = out->chunk.row_end;
    note_claim(queue, c, out);
    return 1;
}

/* ---- what sites call ----------------------------------------------------------------
 */

int hy_queue_claim(hy_queue *queue, int site, int must, hy_claim *out)
{
    hy_claimant *c = &queue->of[site];

    if (queue->in_order)
        return claim_in_order(queue, c, must, out);
    if (c->next < c->stop)
        return claim_own(queue, c, must, out);
    return c->sharing && hy_queue_take(queue, c, out);
}

void hy_queue_done(hy_queue *queue, int site, const hy_chunk *chunk, int64_t ns)
{
    hy_claimant *c = &queue->of[site];
    hy_pace *pace  = &c->pace;

    pace->flying -= hy_queue_work(chunk);
    if (pace->first_ns == 0)
        pace->first_ns = ns;
    else
        pace->timed += hy_queue_work(chunk);
    pace->last_ns = ns;
}

int hy_queue_is_empty(const hy_queue *queue)
{
    for (int k = 0; k < queue->count; k++) {
        const hy_claimant *c = &queue->of[k];
        if (c->claim.row_begin < c->claim.row_end)
            return 0;
    }
    return queue->left == 0;
}
