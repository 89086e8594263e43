/* pipeline/queue.c - the rows of a product, handed out to the sites that compute them. */
#include "pipeline/queue.h"

#include <math.h>
#include <string.h>

#include "pipeline/slot.h"

static const double PRIOR_S =
    2e-3; /* what was expected weighs like a run of that length */
static const double MARGIN = 1.25; /* by which another must be faster to get the rest */

static int64_t work_of(const hy_chunk *chunk)
{
    return chunk->features.products + chunk->features.rows;
}

/* ---- rectangles ---------------------------------------------------------------------
 */

/* Rows [begin, end) of a chunk. What it gathers is no more than for all of its rows. */
static hy_chunk rows_of(const hy_queue *queue, const hy_chunk *chunk, int64_t begin,
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
static hy_chunk rest_of(const hy_queue *queue, const hy_claimant *c, int64_t i)
{
    const hy_chunk chunk = hy_chunk_at(&c->list, i);
    const int64_t begin  = i == c->next ? c->row_begin : chunk.row_begin;
    const int64_t end    = i == c->stop - 1 ? c->row_end : chunk.row_end;

    if (begin == chunk.row_begin && end == chunk.row_end)
        return chunk;
    return rows_of(queue, &chunk, begin, end);
}

static void drop_first(hy_claimant *c)
{
    c->next++;
    if (c->next < c->stop)
        c->row_begin = hy_chunk_at(&c->list, c->next).row_begin;
}

static void drop_last(hy_claimant *c)
{
    c->stop--;
    if (c->next < c->stop)
        c->row_end = hy_chunk_at(&c->list, c->stop - 1).row_end;
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
    hy_chunk chunk;

    c->stop = c->list.count;
    while (c->next < c->stop) {
        chunk = hy_chunk_at(&c->list, c->next);
        if (is_of(c, &chunk))
            break;
        c->next++;
    }
    while (c->next < c->stop) {
        chunk = hy_chunk_at(&c->list, c->stop - 1);
        if (is_of(c, &chunk))
            break;
        c->stop--;
    }
    if (c->next == c->stop)
        return;
    chunk        = hy_chunk_at(&c->list, c->next);
    c->row_begin = chunk.row_begin > c->begin ? chunk.row_begin : c->begin;
    chunk        = hy_chunk_at(&c->list, c->stop - 1);
    c->row_end   = chunk.row_end < c->end ? chunk.row_end : c->end;
}

int hy_queue_add(hy_queue *queue, const hy_chunk_list *list, int64_t begin, int64_t end,
                 double rate, int depth)
{
    hy_claimant *c = &queue->of[queue->count];

    memset(c, 0, sizeof *c);
    c->list          = *list;
    c->begin         = begin;
    c->end           = end;
    c->rate          = rate;
    c->depth         = depth;
    c->pace.expected = rate;
    find_own(c);
    for (int64_t i = c->next; i < c->stop; i++) {
        const hy_chunk rest = rest_of(queue, c, i);
        c->left += work_of(&rest);
    }
    queue->all  = queue->in_order ? c->left : queue->all + c->left;
    queue->left = queue->all;
    return queue->count++;
}

/* ---- pieces -------------------------------------------------------------------------
 */

/* As the site that takes it computes it, which may have to wait for all of B or X. */
static hy_chunk piece_of(const hy_queue *queue, const hy_claimant *taker,
                         const hy_chunk *chunk, int64_t begin, int64_t end)
{
    hy_chunk piece = rows_of(queue, chunk, begin, end);

    piece.gathered = piece.kept = piece.trimmed = 0;
    piece.features.gather_rows = piece.features.gather_nnz = 0;
    piece.variant                                          = taker->sharing->variant;
    piece.needs                                            = queue->profile->cols;
    piece.first                                            = 0;
    return piece;
}

static int fits(const hy_sharing *s, const hy_features *f)
{
    const hy_cost cost = s->variant->cost(f, &s->rates);

    return (f->rows == 1 || (f->products <= s->products && f->rows <= s->rows)) &&
           hy_cost_bytes(&cost) <= s->slot_bytes &&
           (s->pinned_bytes == 0 ||
            hy_slot_pinned_bytes(s->variant, f, &s->rates) <= s->pinned_bytes);
}

/* Most rows at the end of `from` that a slot of the taker holds. */
static int64_t fitting_rows(const hy_queue *queue, const hy_claimant *taker,
                            const hy_chunk *from)
{
    int64_t low = 0, high = from->row_end - from->row_begin;

    high = high < taker->sharing->rows ? high : taker->sharing->rows;
    while (low < high) {
        const int64_t rows = low + (high - low + 1) / 2;
        const hy_chunk part =
            piece_of(queue, taker, from, from->row_end - rows, from->row_end);
        if (fits(taker->sharing, &part.features))
            low = rows;
        else
            high = rows - 1;
    }
    return low;
}

/* Whether a row that is as costly as the costliest of the chunk fits. */
static int every_row_fits(const hy_sharing *sharing, const hy_chunk *chunk)
{
    hy_features f = chunk->features;

    f.rows        = 1;
    f.nnz         = f.row_max;
    f.products    = f.products_max;
    f.out_bound   = f.products < f.out_cols ? f.products : f.out_cols;
    f.gather_rows = f.gather_nnz = 0;
    return fits(sharing, &f);
}

/* What the taker would take of the owner's last chunk, of which `rest` is left: no rows
   where it cannot. */
static hy_chunk find_piece(const hy_queue *queue, const hy_claimant *taker,
                           const hy_claimant *owner, const hy_chunk *rest)
{
    const int64_t begin = rest->row_begin, end = rest->row_end;

    if (owner->stop <= owner->apart)
        return piece_of(queue, taker, rest, end, end);
    if (rest->gathered || rest->kept) /* to be taken whole */
        return piece_of(queue, taker, rest, begin,
                        every_row_fits(taker->sharing, rest) ? end : begin);
    return piece_of(queue, taker, rest, end - fitting_rows(queue, taker, rest), end);
}

/* ---- whose turn it is ---------------------------------------------------------------
 */

/* Seconds in which a site does that much. */
static double seconds(const hy_claimant *c, int64_t work)
{
    const hy_pace *p     = &c->pace;
    const double timed_s = (double)(p->last_ns - p->first_ns) * 1e-9;
    const double done    = (double)p->timed + p->expected * PRIOR_S;

    return (double)work * (timed_s + PRIOR_S) / done;
}

/* Work that a site with a share still is to take. */
static double quota(const hy_queue *queue, const hy_claimant *taker)
{
    return taker->sharing->share * (double)queue->all - (double)taker->taken;
}

/* Whether the taker had better compute what is left of the owner's rows, of which the
   owner would claim a chunk of that work. */
static int owner_yields(const hy_queue *queue, const hy_claimant *taker,
                        const hy_claimant *owner, int64_t work)
{
    if (taker->sharing->share >= 0)
        return (double)queue->left - 0.5 * (double)work < quota(queue, taker);
    return MARGIN * seconds(taker, taker->pace.flying + taker->left + owner->left) <=
           seconds(owner, owner->pace.flying + work);
}

static int taker_wants(const hy_queue *queue, const hy_claimant *taker,
                       const hy_claimant *owner, int64_t work)
{
    const hy_chunk rest = rest_of(queue, owner, owner->next);

    if (owner_yields(queue, taker, owner, work_of(&rest)))
        return 1;
    if (taker->sharing->share >= 0)
        return quota(queue, taker) >= 0.5 * (double)work;
    return seconds(taker, taker->pace.flying + work) <=
           seconds(owner, owner->pace.flying + owner->left - work);
}

/* Chunks of column blocks are for whoever reads X where it is. */
static int may_take(const hy_claimant *taker, const hy_claimant *owner)
{
    return taker != owner && owner->next < owner->stop &&
           (taker->sharing->pinned_bytes == 0 || owner->list.image.axis != HY_AXIS_COLS);
}

/* Some other site can take what is left, and had better. */
static int leaves_to_others(const hy_queue *queue, const hy_claimant *owner,
                            const hy_chunk *rest)
{
    for (int k = 0; k < queue->count; k++) {
        const hy_claimant *taker = &queue->of[k];
        if (!taker->sharing || !may_take(taker, owner) ||
            !owner_yields(queue, taker, owner, work_of(rest)))
            continue;
        const hy_chunk last  = rest_of(queue, owner, owner->stop - 1);
        const hy_chunk piece = find_piece(queue, taker, owner, &last);
        if (piece.row_begin < piece.row_end)
            return 1;
    }
    return 0;
}

/* ---- claiming ------------------------------------------------------------------------
 */

static int claim_own(hy_queue *queue, hy_claimant *c, int must, hy_claim *out)
{
    const hy_chunk rest = rest_of(queue, c, c->next);

    if (!must && leaves_to_others(queue, c, &rest))
        return 0;
    *out = (hy_claim){rest, c->next};
    drop_first(c);
    c->left -= work_of(&rest);
    queue->left -= work_of(&rest);
    c->pace.flying += work_of(&rest);
    out->chunk.id = queue->claimed++;
    return 1;
}

/* ---- taking --------------------------------------------------------------------------
 */

/* Whose last row would be computed last, of those that have rows for the taker. */
static hy_claimant *find_owner(hy_queue *queue, const hy_claimant *taker)
{
    hy_claimant *latest = NULL;
    double latest_s     = -1;

    for (int k = 0; k < queue->count; k++) {
        hy_claimant *c = &queue->of[k];
        if (!may_take(taker, c))
            continue;
        const double s = seconds(c, c->pace.flying + c->left);
        if (s > latest_s)
            latest = c;
        latest_s = fmax(latest_s, s);
    }
    return latest;
}

/* More rows become the taker's. */
static int take(hy_queue *queue, hy_claimant *taker)
{
    hy_claimant *owner = find_owner(queue, taker);

    if (!owner)
        return 0;
    const hy_chunk rest  = rest_of(queue, owner, owner->stop - 1);
    const hy_chunk piece = find_piece(queue, taker, owner, &rest);
    const int64_t work   = work_of(&piece);
    if (piece.row_begin == piece.row_end || !taker_wants(queue, taker, owner, work))
        return 0;
    if (piece.features.rows == rest.features.rows)
        drop_last(owner);
    else
        owner->row_end = piece.row_begin;
    owner->left -= work;
    owner->given += work;
    queue->left -= work;
    taker->claim = piece;
    taker->taken += work;
    taker->pace.flying += work;
    return 1;
}

static int claim_of_others(hy_queue *queue, hy_claimant *taker, hy_claim *out)
{
    hy_chunk *claim = &taker->claim;

    if (claim->row_begin == claim->row_end && !take(queue, taker))
        return 0;
    const int64_t begin = claim->row_end - fitting_rows(queue, taker, claim);
    *out                = (hy_claim){piece_of(queue, taker, claim, begin, claim->row_end),
                                     taker->list.count};
    claim->row_end      = begin;
    out->chunk.id       = queue->claimed++;
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
            least = fmin(least, seconds(o, o->pace.flying + o->depth * one));
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
        rates += 1 / seconds(o, 1);
        flying += (double)o->pace.flying;
    }
    return rates > 0 ? (flying + (double)queue->left) / rates : INFINITY;
}

static int is_in_time(const hy_queue *queue, const hy_claimant *c, int64_t work)
{
    const double s = seconds(c, c->pace.flying + work);

    return queue->count == 1 || (s <= patience(queue, c) && s <= others_s(queue, c));
}

/* The next rows, up to the end of its own chunk that has the first of them. */
static int claim_in_order(hy_queue *queue, hy_claimant *c, int must, hy_claim *out)
{
    while (c->next < c->stop && hy_chunk_at(&c->list, c->next).row_end <= queue->front)
        drop_first(c);
    if (c->next == c->stop)
        return 0;
    c->row_begin        = queue->front;
    const hy_chunk rest = rest_of(queue, c, c->next);
    if (!must && !is_in_time(queue, c, work_of(&rest)))
        return 0;
    *out         = (hy_claim){rest, c->next};
    queue->front = rest.row_end;
    queue->left -= work_of(&rest);
    c->pace.flying += work_of(&rest);
    out->chunk.id = queue->claimed++;
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
    return c->sharing && claim_of_others(queue, c, out);
}

void hy_queue_done(hy_queue *queue, int site, const hy_chunk *chunk, int64_t ns)
{
    hy_claimant *c = &queue->of[site];
    hy_pace *pace  = &c->pace;

    pace->flying -= work_of(chunk);
    if (pace->first_ns == 0)
        pace->first_ns = ns;
    else
        pace->timed += work_of(chunk);
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
