/* pipeline/deck.c - the rows of a product, handed out to whoever is to compute them. */
#include "pipeline/deck.h"

#include <string.h>

static const double PRIOR_S =
    2e-3; /* what was expected weighs like a run of that length */
static const double MARGIN = 1.25; /* by which the host must be faster to get the rest */

static int64_t work_of(const hy_chunk *chunk)
{
    return chunk->features.products + chunk->features.rows;
}

void hy_deck_open(hy_deck *deck, const hy_profile *profile, const hy_chunk_list *list,
                  const hy_sharing *sharing, int in_order)
{
    hy_chunk chunk;

    memset(deck, 0, sizeof *deck);
    deck->profile   = profile;
    deck->list      = *list;
    deck->sharing   = sharing;
    deck->from_back = !in_order;
    deck->end       = list->count;
    for (int64_t i = 0; i < list->count; i++) {
        chunk           = hy_chunk_at(list, i);
        deck->row_begin = i == 0 ? chunk.row_begin : deck->row_begin;
        deck->row_end   = chunk.row_end;
        deck->all += work_of(&chunk);
    }
    deck->left = deck->all;
    if (sharing) {
        deck->device.expected = sharing->device_rate;
        deck->host.expected   = sharing->host_rate;
    }
}

/* ---- rectangles ---------------------------------------------------------------------
 */

/* Rows [begin, end) of a chunk that gathers nothing. */
static hy_chunk rows_of(const hy_deck *deck, const hy_chunk *chunk, int64_t begin,
                        int64_t end)
{
    hy_chunk part  = *chunk;
    part.row_begin = begin;
    part.row_end   = end;
    part.features =
        hy_profile_range(deck->profile, begin, end, chunk->col_end - chunk->col_begin);
    return part;
}

/* What is left of chunk i. */
static hy_chunk rest_of(const hy_deck *deck, int64_t i)
{
    const hy_chunk chunk = hy_chunk_at(&deck->list, i);
    const int64_t begin  = i == deck->next ? deck->row_begin : chunk.row_begin;
    const int64_t end    = i == deck->end - 1 ? deck->row_end : chunk.row_end;

    if (begin == chunk.row_begin && end == chunk.row_end)
        return chunk;
    return rows_of(deck, &chunk, begin, end);
}

static void drop_first(hy_deck *deck)
{
    deck->next++;
    if (deck->next < deck->end)
        deck->row_begin = hy_chunk_at(&deck->list, deck->next).row_begin;
}

static void drop_last(hy_deck *deck)
{
    deck->end--;
    if (deck->next < deck->end)
        deck->row_end = hy_chunk_at(&deck->list, deck->end - 1).row_end;
}

/* ---- pieces -------------------------------------------------------------------------
 */

/* As the host computes it. */
static hy_chunk piece_of(const hy_deck *deck, const hy_chunk *chunk, int64_t begin,
                         int64_t end)
{
    hy_chunk piece = rows_of(deck, chunk, begin, end);
    piece.gathered = piece.kept = 0;
    piece.variant               = deck->sharing->variant;
    return piece;
}

static int fits(const hy_sharing *s, const hy_features *f)
{
    const hy_cost cost = s->variant->cost(f, &s->rates);

    return (f->rows == 1 || (f->products <= s->products && f->rows <= s->rows)) &&
           hy_cost_bytes(&cost) <= s->slot_bytes;
}

/* Most rows, from the front or the back of `from`, that a slot of the host holds. */
static int64_t fitting_rows(const hy_deck *deck, const hy_chunk *from, int back)
{
    int64_t low = 0, high = from->row_end - from->row_begin;

    high = high < deck->sharing->rows ? high : deck->sharing->rows;
    while (low < high) {
        const int64_t rows  = low + (high - low + 1) / 2;
        const int64_t begin = back ? from->row_end - rows : from->row_begin;
        const hy_chunk part = piece_of(deck, from, begin, begin + rows);
        if (fits(deck->sharing, &part.features))
            low = rows;
        else
            high = rows - 1;
    }
    return low;
}

/* Whether a row that is as costly as the costliest of the chunk fits. */
static int every_row_fits(const hy_deck *deck, const hy_chunk *chunk)
{
    hy_features f = chunk->features;

    f.rows        = 1;
    f.nnz         = f.row_max;
    f.products    = f.products_max;
    f.out_bound   = f.products < f.out_cols ? f.products : f.out_cols;
    f.gather_rows = f.gather_nnz = 0;
    return fits(deck->sharing, &f);
}

/* What is left of the chunk that the host would take from. */
static hy_chunk hosts_rest(const hy_deck *deck)
{
    return rest_of(deck, deck->from_back ? deck->end - 1 : deck->next);
}

/* What it would take of that: no rows where it cannot. */
static hy_chunk find_piece(const hy_deck *deck, const hy_chunk *rest)
{
    const int back      = deck->from_back;
    const int64_t begin = rest->row_begin, end = rest->row_end;

    if (deck->end <= deck->devices)
        return piece_of(deck, rest, end, end);
    if (rest->gathered || rest->kept) /* to be taken whole */
        return piece_of(deck, rest, begin, every_row_fits(deck, rest) ? end : begin);
    const int64_t rows = fitting_rows(deck, rest, back);
    return back ? piece_of(deck, rest, end - rows, end)
                : piece_of(deck, rest, begin, begin + rows);
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
static double quota(const hy_deck *deck)
{
    return deck->sharing->share * (double)deck->all - (double)deck->host_work;
}

/* Whether the host had better compute what is left, of which the device would take a
   chunk of that work. */
static int device_yields(const hy_deck *deck, int64_t work)
{
    if (deck->sharing->share >= 0)
        return (double)deck->left - 0.5 * (double)work < quota(deck);
    return MARGIN * seconds(&deck->host, deck->host.flying + deck->left) <=
           seconds(&deck->device, deck->device.flying + work);
}

static int host_wants(const hy_deck *deck, int64_t work)
{
    const hy_chunk rest = rest_of(deck, deck->next);

    if (device_yields(deck, work_of(&rest)))
        return 1;
    if (deck->sharing->share >= 0)
        return quota(deck) >= 0.5 * (double)work;
    return seconds(&deck->host, deck->host.flying + work) <=
           seconds(&deck->device, deck->device.flying + deck->left - work);
}

/* ---- taking -------------------------------------------------------------------------
 */

int hy_deck_front(const hy_deck *deck, hy_chunk *out)
{
    if (deck->next == deck->end)
        return 0;
    *out = hy_chunk_at(&deck->list, deck->next);
    return 1;
}

/* The host can take what is left, and had better. */
static int leaves_to_host(const hy_deck *deck, const hy_chunk *rest)
{
    if (!deck->sharing || !device_yields(deck, work_of(rest)))
        return 0;
    const hy_chunk from  = hosts_rest(deck);
    const hy_chunk piece = find_piece(deck, &from);
    return piece.row_begin < piece.row_end;
}

int hy_deck_take(hy_deck *deck, int must, hy_chunk *out)
{
    if (deck->next == deck->end)
        return 0;
    const hy_chunk rest = rest_of(deck, deck->next);
    if (!must && leaves_to_host(deck, &rest))
        return 0;
    *out    = rest;
    out->id = deck->dealt++;
    drop_first(deck);
    deck->left -= work_of(&rest);
    deck->device.flying += work_of(&rest);
    return 1;
}

/* More rows become the host's. */
static int fill_hand(hy_deck *deck)
{
    if (deck->next == deck->end)
        return 0;
    const hy_chunk rest  = hosts_rest(deck);
    const hy_chunk piece = find_piece(deck, &rest);
    const int64_t work   = work_of(&piece);
    if (piece.row_begin == piece.row_end || !host_wants(deck, work))
        return 0;
    if (piece.features.rows == rest.features.rows)
        (deck->from_back ? drop_last : drop_first)(deck);
    else if (deck->from_back)
        deck->row_end = piece.row_begin;
    else
        deck->row_begin = piece.row_end;
    deck->hand = piece;
    deck->left -= work;
    deck->host_work += work;
    deck->host.flying += work;
    return 1;
}

int hy_deck_take_piece(hy_deck *deck, hy_chunk *out)
{
    hy_chunk *hand = &deck->hand;

    if (hand->row_begin == hand->row_end && !fill_hand(deck))
        return 0;
    const int64_t rows = fitting_rows(deck, hand, 0);
    *out               = piece_of(deck, hand, hand->row_begin, hand->row_begin + rows);
    out->id            = deck->dealt++;
    hand->row_begin += rows;
    return 1;
}

void hy_deck_done(hy_deck *deck, const hy_chunk *chunk, int on_host, int64_t ns)
{
    hy_pace *pace = on_host ? &deck->host : &deck->device;

    pace->flying -= work_of(chunk);
    if (pace->first_ns == 0)
        pace->first_ns = ns;
    else
        pace->timed += work_of(chunk);
    pace->last_ns = ns;
}
