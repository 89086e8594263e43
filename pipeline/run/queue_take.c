/* pipeline/run/queue_take.c - decides which site takes which rows of another. */
#include <math.h>

#include "pipeline/run/queue.h"

static const double MARGIN = 1.25; /* a taker gets an owner's remaining rows only if it
                                      would need MARGIN times less time than the owner */

/* ---- pieces -------------------------------------------------------------------- */

/* Returns features from which a piece for the taker copies the variant's parameters and
   block shape (hy_queue_choose()): those of the taker's first chunk. The host has no
   chunks and its variants need neither, so those of the whole product serve. */
static const hy_features *chosen_by(const hy_queue *queue, const hy_site *taker)
{
    return taker->list.count > 0 ? &taker->list.cut->features : &queue->profile->features;
}

/* Returns rows [begin, end) of a chunk as a piece for the taker. The rows of B or X that
   the piece touches are unknown, so it waits for all of them. */
static hy_chunk piece_of(const hy_queue *queue, const hy_site *taker,
                         const hy_chunk *chunk, int64_t begin, int64_t end)
{
    hy_chunk piece = hy_queue_rows(queue, chunk, begin, end);

    hy_queue_choose(&piece.features, chosen_by(queue, taker));
    piece.cached = piece.fewer = 0;
    piece.features.gather_rows = piece.features.gather_nnz = 0;
    piece.variant                                          = taker->taking.variant;
    piece.features =
        hy_with_room(piece.variant, &taker->rates, taker->slot_device, &piece.features);
    piece.x_end   = queue->profile->cols;
    piece.x_begin = 0;
    return piece;
}

static int fits(const hy_site *taker, const hy_features *f)
{
    const hy_taking *t = &taker->taking;
    const hy_cost cost = t->variant->cost(f, &taker->rates);

    return (f->rows == 1 || (f->products <= t->products && f->rows <= t->rows)) &&
           hy_cost_bytes(&cost) <= taker->slot_device &&
           (hy_site_in_place(taker) ||
            hy_slot_pinned_bytes(t->variant, f, &taker->rates) <= taker->slot_pinned);
}

/* Returns the largest number of rows at the end of `from` that fit a slot of the
   taker. */
static int64_t fitting_rows(const hy_queue *queue, const hy_site *taker,
                            const hy_chunk *from)
{
    int64_t low = 0, high = from->row_end - from->row_begin;

    high = high < taker->taking.rows ? high : taker->taking.rows;
    while (low < high) {
        const int64_t rows = low + (high - low + 1) / 2;
        const hy_chunk part =
            piece_of(queue, taker, from, from->row_end - rows, from->row_end);
        if (fits(taker, &part.features))
            low = rows;
        else
            high = rows - 1;
    }
    return low;
}

/* Returns 1 if a row with the most entries and scalar products of any row of the chunk
   fits a slot of the taker. */
static int every_row_fits(const hy_queue *queue, const hy_site *taker,
                          const hy_chunk *chunk)
{
    hy_features f = chunk->features;

    hy_queue_choose(&f, chosen_by(queue, taker));
    f.rows        = 1;
    f.nnz         = f.row_max;
    f.products    = f.products_max;
    f.out_bound   = f.products < f.out_cols ? f.products : f.out_cols;
    f.out_room    = 0;
    f.gather_rows = f.gather_nnz = 0;
    return fits(taker, &f);
}

/* Returns the rows that the taker would take of an owner's last chunk, of which the rows
   in `rest` are not taken yet. The result is empty if they do not fit the taker's
   slots. */
static hy_chunk find_piece(const hy_queue *queue, const hy_site *taker,
                           const hy_site *owner, const hy_chunk *rest)
{
    const int64_t begin = rest->row_begin, end = rest->row_end;

    /* chunks that gather B or X, or have a cached pack, are taken whole (queue.h) */
    if (hy_image_is_gathered(&owner->image) || rest->cached)
        return piece_of(queue, taker, rest, begin,
                        every_row_fits(queue, taker, rest) ? end : begin);
    return piece_of(queue, taker, rest, end - fitting_rows(queue, taker, rest), end);
}

/* ---- whose turn it is ---------------------------------------------------------- */

/* Returns the work that a site with a fixed share of the run has still to take. */
static double quota(const hy_queue *queue, const hy_site *taker)
{
    return taker->taking.share * (double)queue->all - (double)taker->taken;
}

/* Returns 1 if the taker should compute all remaining rows of the owner, which would
   otherwise claim a chunk of `work`. */
static int owner_yields(const hy_queue *queue, const hy_site *taker, const hy_site *owner,
                        int64_t work)
{
    if (taker->taking.share >= 0)
        return (double)queue->left - 0.5 * (double)work < quota(queue, taker);
    return MARGIN *
               hy_queue_seconds(taker, taker->pace.flying + taker->left + owner->left) <=
           hy_queue_seconds(owner, owner->pace.flying + work);
}

static int taker_wants(const hy_queue *queue, const hy_site *taker, const hy_site *owner,
                       int64_t work)
{
    const hy_chunk rest = hy_queue_rest(queue, owner, owner->next);

    if (owner_yields(queue, taker, owner, hy_queue_work(queue, &rest)))
        return 1;
    if (taker->taking.share >= 0)
        return quota(queue, taker) >= 0.5 * (double)work;
    return hy_queue_seconds(taker, taker->pace.flying + work) <=
           hy_queue_seconds(owner, owner->pace.flying + owner->left - work);
}

/* Returns 1 if the owner has rows left and the taker may take them. Rows of column blocks
   can be taken only by a site that reads X in place. */
static int may_take(const hy_site *taker, const hy_site *owner)
{
    return taker != owner && owner->next < owner->stop &&
           (hy_site_in_place(taker) || owner->list.image.axis != HY_AXIS_COLS);
}

/* Returns 1 if another site can take some of the remaining rows and the owner should
   leave them to it. */
int hy_queue_leaves(const hy_queue *queue, const hy_site *owner, const hy_chunk *rest)
{
    for (int k = 0; k < queue->count; k++) {
        const hy_site *taker = queue->of[k];
        if (!taker->taking.variant || !may_take(taker, owner) ||
            !owner_yields(queue, taker, owner, hy_queue_work(queue, rest)))
            continue;
        const hy_chunk last  = hy_queue_rest(queue, owner, owner->stop - 1);
        const hy_chunk piece = find_piece(queue, taker, owner, &last);
        if (piece.row_begin < piece.row_end)
            return 1;
    }
    return 0;
}

/* ---- taking -------------------------------------------------------------------- */

/* Returns the owner that will finish last, among those that have rows for the taker. */
static hy_site *find_owner(hy_queue *queue, const hy_site *taker)
{
    hy_site *latest = NULL;
    double latest_s = -1;

    for (int k = 0; k < queue->count; k++) {
        hy_site *c = queue->of[k];
        if (!may_take(taker, c))
            continue;
        const double s = hy_queue_seconds(c, c->pace.flying + c->left);
        if (s > latest_s)
            latest = c;
        latest_s = fmax(latest_s, s);
    }
    return latest;
}

static void drop_last(hy_site *c)
{
    c->stop--;
    if (c->next < c->stop)
        c->row_end = hy_chunk_at(&c->list, c->stop - 1).row_end;
}

/* Takes rows at the end of another site's range and stores them in taker->piece. Returns
   0 if there are none that the taker is predicted to finish in time. */
static int take(hy_queue *queue, hy_site *taker)
{
    hy_site *owner = find_owner(queue, taker);

    if (!owner)
        return 0;
    const hy_chunk rest  = hy_queue_rest(queue, owner, owner->stop - 1);
    const hy_chunk piece = find_piece(queue, taker, owner, &rest);
    const int64_t work   = hy_queue_work(queue, &piece);
    if (piece.row_begin == piece.row_end || !taker_wants(queue, taker, owner, work))
        return 0;
    if (piece.features.rows == rest.features.rows)
        drop_last(owner);
    else
        owner->row_end = piece.row_begin;
    owner->left -= work;
    owner->ceded += work;
    queue->left -= work;
    taker->piece = piece;
    taker->taken += work;
    taker->pace.flying += work;
    return 1;
}

int hy_queue_take(hy_queue *queue, hy_site *taker, hy_claim *out)
{
    hy_chunk *claim = &taker->piece;

    if (claim->row_begin == claim->row_end && !take(queue, taker))
        return 0;
    const int64_t begin = claim->row_end - fitting_rows(queue, taker, claim);
    *out                = (hy_claim){piece_of(queue, taker, claim, begin, claim->row_end),
                                     taker->list.count};
    claim->row_end      = begin;
    out->chunk.id       = queue->claimed++;
    return 1;
}
