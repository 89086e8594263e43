/* pipeline/claim.c - which chunk a side of a run computes next. */
#include "pipeline/claim.h"

int hy_run_in_flight(const hy_run *run)
{
    for (int i = 0; i < run->side_count; i++)
        if (run->sides[i].finished < run->sides[i].next)
            return 1;
    return 0;
}

/* Shared chunks that get their place in order are not taken before they can enter the
   lanes: pieces behind them would wait in the host's slots. */
static int may_take(const hy_side *device)
{
    const hy_run *run = device->run;
    hy_loader *loader = device->site->loader;
    hy_chunk front;

    if (run->side_count == 1 || !run->place || run->place->known ||
        !hy_queue_front(&run->queue, &front))
        return 1;
    return device->next == device->next_lane &&
           (!loader || hy_loader_reached(loader, &front));
}

/* While pages of C are made ready by workers that have nothing better to do, they shall
   have nothing better to do. */
static int may_help(const hy_run *run)
{
    return run->queue.sharing->share >= 0 || !run->place ||
           !hy_ahead_goes_on(&run->place->ahead);
}

int hy_claim(hy_side *side, hy_slot *slot)
{
    hy_run *run = side->run;

    if (hy_side_helps(side))
        return may_help(run) && hy_queue_claim_piece(&run->queue, &slot->chunk);
    const int must = !hy_run_in_flight(run);
    return (must || may_take(side)) && hy_queue_claim(&run->queue, must, &slot->chunk);
}
