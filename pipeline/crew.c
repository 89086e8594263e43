/* pipeline/crew.c - the host helps a device with one product. */
#include "pipeline/crew.h"

void hy_pipeline_share(hy_pipeline *p, hy_pipeline *crew, const hy_sharing *sharing)
{
    p->crew    = crew;
    p->sharing = sharing;
    if (crew)
        crew->lead = p;
}

int hy_crew_in_flight(const hy_pipeline *p)
{
    return p->finished < p->next || (p->crew && p->crew->finished < p->crew->next);
}

/* Shared chunks that get their place in order are not taken before they can enter the
   lanes: pieces behind them would wait in the host's slots. */
static int may_take(hy_pipeline *p)
{
    const hy_chunk *front = hy_deck_front(&p->deck);

    if (!p->crew || !p->place || p->place->known || !front)
        return 1;
    return p->next == p->next_lane && (!p->loader || hy_loader_reached(p->loader, front));
}

/* While pages of C are made ready by workers that have nothing better to do, they shall
   have nothing better to do. */
static int may_help(const hy_pipeline *p)
{
    return p->sharing->share >= 0 || !p->place || !hy_ahead_goes_on(&p->place->ahead);
}

int hy_crew_take(hy_pipeline *p, hy_slot *slot)
{
    hy_pipeline *lead = p->lead;

    if (p != lead)
        return may_help(lead) && hy_deck_take_piece(&lead->deck, &slot->chunk);
    const int must = !hy_crew_in_flight(p);
    return (must || may_take(p)) && hy_deck_take(&p->deck, must, &slot->chunk);
}
