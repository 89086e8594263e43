/* pipeline/claim.c - which chunk a side of a run computes next. */
#include "pipeline/claim.h"

int hy_run_in_flight(const hy_run *run)
{
    for (int i = 0; i < run->side_count; i++)
        if (run->sides[i].finished < run->sides[i].next)
            return 1;
    return 0;
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
    return hy_queue_claim(&run->queue, !hy_run_in_flight(run), &slot->chunk);
}
