/* pipeline/queue.c - the rows of a product, handed out to whoever is to compute them. */
#include "pipeline/queue.h"

#include <string.h>

static const double PRIOR_S =
    2e-3; /* what was expected weighs like a run of that length */
static const double MARGIN = 1.25; /* by which the host must be faster to get the rest */

static int64_t work_of(const hy_chunk *chunk)
{
    return chunk->features.products + chunk->features.rows;
}

void hy_queue_open(hy_queue *queue, const hy_profile *profile, const hy_chunk_list *list,
                   const hy_sharing *sharing)
{
    hy_chunk chunk;

    memset(queue, 0, sizeof *queue);
    queue->profile = profile;
    queue->list    = *list;
    queue->sharing = sharing;
    queue->end     = list->count;
    for (int64_t i = 0; i < list->count; i++) {
        chunk            = hy_chunk_at(list, i);
        queue->row_begin = i == 0 ? chunk.row_begin : queue->row_begin;
        queue->row_end   = chunk.row_end;
        queue->all += work_of(&chunk);
    }
    queue->left = queue->all;
    if (sharing) {
        queue->device.expected = sharing->device_rate;
        queue->host.expected   = sharing->host_rate;
    }
}

/* ---- rectangles ---------------------------------------------------------------------
 */

/* Rows [begin, end) of a chunk that gathers nothing. */
static hy_chunk rows_of(const hy_queue *queue, const hy_chunk *chunk, int64_t begin,
                        int64_t end)
{
    hy_chunk part  = *chunk;
    part.row_begin = begin;
    part.row_end   = end;
    part.features =
        hy_profile_range(queue->profile, begin, end, chunk->col_end - chunk->col_begin);
    return part;
}

/* What is left of chunk i. */
static hy_chunk rest_of(const hy_queue *queue, int64_t i)
{
    const hy_chunk chunk = hy_chunk_at(&queue->list, i);
    const int64_t begin  = i == queue->next ? queue->row_begin : chunk.row_begin;
    const int64_t end    = i == queue->end - 1 ? queue->row_end : chunk.row_end;

    if (begin == chunk.row_begin && end == chunk.row_end)
        return chunk;
    return rows_of(queue, &chunk, begin, end);
}

static void drop_first(hy_queue *queue)
{
    queue->next++;
    if (queue->next < queue->end)
        queue->row_begin = hy_chunk_at(&queue->list, queue->next).row_begin;
}

static void drop_last(hy_queue *queue)
{
    queue->end--;
    if (queue->next < queue->end)
        queue->row_end = hy_chunk_at(&queue->list, queue->end - 1).row_end;
}

/* ---- pieces -------------------------------------------------------------------------
 */

/* As the host computes it. */
static hy_chunk piece_of(const hy_queue *queue, const hy_chunk *chunk, int64_t begin,
                         int64_t end)
{
    hy_chunk piece = rows_of(queue, chunk, begin, end);
    piece.gathered = piece.kept = 0;
    piece.variant               = queue->sharing->variant;
    return piece;
}

static int fits(const hy_sharing *s, const hy_features *f)
{
    const hy_cost cost = s->variant->cost(f, &s->rates);

    return (f->rows == 1 || (f->products <= s->products && f->rows <= s->rows)) &&
           hy_cost_bytes(&cost) <= s->slot_bytes;
}

/* Most rows at the end of `from` that a slot of the host holds. */
static int64_t fitting_rows(const hy_queue *queue, const hy_chunk *from)
{
    int64_t low = 0, high = from->row_end - from->row_begin;

    high = high < queue->sharing->rows ? high : queue->sharing->rows;
    while (low < high) {
        const int64_t rows  = low + (high - low + 1) / 2;
        const hy_chunk part = piece_of(queue, from, from->row_end - rows, from->row_end);
        if (fits(queue->sharing, &part.features))
            low = rows;
        else
            high = rows - 1;
    }
    return low;
}

/* Whether a row that is as costly as the costliest of the chunk fits. */
static int every_row_fits(const hy_queue *queue, const hy_chunk *chunk)
{
    hy_features f = chunk->features;

    f.rows        = 1;
    f.nnz         = f.row_max;
    f.products    = f.products_max;
    f.out_bound   = f.products < f.out_cols ? f.products : f.out_cols;
    f.gather_rows = f.gather_nnz = 0;
    return fits(queue->sharing, &f);
}

/* What the host would take of the rest of the last chunk: no rows where it cannot. */
static hy_chunk find_piece(const hy_queue *queue, const hy_chunk *rest)
{
    const int64_t begin = rest->row_begin, end = rest->row_end;

    if (queue->end <= queue->devices)
        return piece_of(queue, rest, end, end);
    if (rest->gathered || rest->kept) /* to be taken whole */
        return piece_of(queue, rest, begin, every_row_fits(queue, rest) ? end : begin);
    return piece_of(queue, rest, end - fitting_rows(queue, rest), end);
}

/* ---- whose turn it is ---------------------------------------------------------------
 */

/* Seconds in which a side does that much. */
static double seconds(const hy_pace *p, int64_t work)
{
    const double timed_s = (double)(p->last_ns - p->first_ns) * 1e-9;
    const double done    = (double)p->timed + p->expected * PRIOR_S;

    return (double)work * (timed_s + PRIOR_S) / done;
}

/* Work that the host still is to take. */
static double quota(const hy_queue *queue)
{
    return queue->sharing->share * (double)queue->all - (double)queue->host_work;
}

/* Whether the host had better compute what is left, of which the device would take a
   chunk of that work. */
static int device_yields(const hy_queue *queue, int64_t work)
{
    if (queue->sharing->share >= 0)
        return (double)queue->left - 0.5 * (double)work < quota(queue);
    return MARGIN * seconds(&queue->host, queue->host.flying + queue->left) <=
           seconds(&queue->device, queue->device.flying + work);
}

static int host_wants(const hy_queue *queue, int64_t work)
{
    const hy_chunk rest = rest_of(queue, queue->next);

    if (device_yields(queue, work_of(&rest)))
        return 1;
    if (queue->sharing->share >= 0)
        return quota(queue) >= 0.5 * (double)work;
    return seconds(&queue->host, queue->host.flying + work) <=
           seconds(&queue->device, queue->device.flying + queue->left - work);
}

/* ---- taking -------------------------------------------------------------------------
 */

/* The host can take what is left, and had better. */
static int leaves_to_host(const hy_queue *queue, const hy_chunk *rest)
{
    if (!queue->sharing || !device_yields(queue, work_of(rest)))
        return 0;
    const hy_chunk last  = rest_of(queue, queue->end - 1);
    const hy_chunk piece = find_piece(queue, &last);
    return piece.row_begin < piece.row_end;
}

int hy_queue_claim(hy_queue *queue, int must, hy_chunk *out)
{
    if (queue->next == queue->end)
        return 0;
    const hy_chunk rest = rest_of(queue, queue->next);
    if (!must && leaves_to_host(queue, &rest))
        return 0;
    *out    = rest;
    out->id = queue->claimed++;
    drop_first(queue);
    queue->left -= work_of(&rest);
    queue->device.flying += work_of(&rest);
    return 1;
}

/* More rows become the host's. */
static int fill_claim(hy_queue *queue)
{
    if (queue->next == queue->end)
        return 0;
    const hy_chunk rest  = rest_of(queue, queue->end - 1);
    const hy_chunk piece = find_piece(queue, &rest);
    const int64_t work   = work_of(&piece);
    if (piece.row_begin == piece.row_end || !host_wants(queue, work))
        return 0;
    if (piece.features.rows == rest.features.rows)
        drop_last(queue);
    else
        queue->row_end = piece.row_begin;
    queue->claim = piece;
    queue->left -= work;
    queue->host_work += work;
    queue->host.flying += work;
    return 1;
}

int hy_queue_claim_piece(hy_queue *queue, hy_chunk *out)
{
    hy_chunk *claim = &queue->claim;

    if (claim->row_begin == claim->row_end && !fill_claim(queue))
        return 0;
    const int64_t begin = claim->row_end - fitting_rows(queue, claim);
    *out                = piece_of(queue, claim, begin, claim->row_end);
    out->id             = queue->claimed++;
    claim->row_end      = begin;
    return 1;
}

void hy_queue_done(hy_queue *queue, const hy_chunk *chunk, int on_host, int64_t ns)
{
    hy_pace *pace = on_host ? &queue->host : &queue->device;

    pace->flying -= work_of(chunk);
    if (pace->first_ns == 0)
        pace->first_ns = ns;
    else
        pace->timed += work_of(chunk);
    pace->last_ns = ns;
}
