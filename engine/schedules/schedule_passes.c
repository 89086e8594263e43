/* engine/schedules/schedule_passes.c - each chunk multiplies all of B, in passes whose
   sums stay on the device (partition/parts/passes.h).

   Gathering sends a row of B with every chunk that touches it, and a chunk ends where its
   rows of B fill the slot. With passes the rows of a chunk are limited by C alone. This
   sends less if C is much smaller than what A and B make of it, as in A'*A of a tall A,
   whose rows touch nearly all of B.

   A small share of a slot for B leaves more for C, so that fewer chunks send B again, but
   every pass computes with the sums of those before it. The share with the shortest
   predicted run is used. */
#include <math.h>

#include "engine/schedules/schedule.h"
#include "partition/parts/passes.h"

enum {
    SLOTS  = 2,  /* a slot computes while the rows of B of the other one arrive */
    SHARES = 5,  /* rows of B take 1/2, 1/4, ... or 1 / (1 << SHARES) of a slot */
    MOST   = 256 /* maximum passes of a chunk */
};

static int is_possible(const hy_planning *p)
{
    return p->B && p->portion->backend->ops->rebase;
}

static int slots_of(const hy_planning *p)
{
    const int slots = hy_slots_fewer(p);

    return slots < SLOTS ? slots : SLOTS;
}

/* Returns the layout in which rows of B take 1 / (1 << k) of each of `slots` slots. It
   has 0 slots if a chunk would have too many passes. */
static hy_layout asked_for(const hy_planning *p, int slots, int k)
{
    const hy_image whole = hy_portion_image(p->portion);
    const int64_t bytes  = (int64_t)(p->portion->rates.memory / (size_t)slots) >> k;
    hy_layout asked      = {.depth = 0, .share = 1};

    if (bytes == 0 || (int64_t)hy_image_bytes(&whole) / bytes >= MOST)
        return asked;
    asked.image = hy_image_of_passes(&whole, p->B, bytes);
    asked.depth = slots;
    return asked;
}

/* Sets *best to the layout with the shortest predicted run, and returns its estimate. */
static hy_estimate find_best(const hy_planning *p, hy_layout *best)
{
    hy_estimate least = {.chunks = 0};
    double least_s    = INFINITY;

    *best = (hy_layout){.depth = 0};
    for (int k = 1; k <= SHARES; k++) {
        const hy_layout asked = asked_for(p, slots_of(p), k);
        if (asked.depth == 0)
            continue;
        const hy_estimate e  = hy_schedule_even(p, &asked);
        const double seconds = hy_estimate_seconds(p->portion, &e);
        if (seconds < least_s) {
            *best   = asked;
            least   = e;
            least_s = seconds;
        }
    }
    return least;
}

static hy_estimate promise(const hy_planning *p)
{
    hy_layout best;

    return is_possible(p) && !hy_portion_fits(p->portion) ? find_best(p, &best)
                                                          : (hy_estimate){.chunks = 0};
}

/* If a row does not fit the best layout, tries one slot, in which less and less of B and
   more of C has room. */
static hybrid_status cut(const hy_planning *p, hy_layout *out)
{
    hy_layout asked[1 + SHARES];

    *out = (hy_layout){.depth = 0};
    if (!is_possible(p))
        return HYBRID_OK;
    (void)find_best(p, &asked[0]);
    for (int k = 1; k <= SHARES; k++)
        asked[k] = asked_for(p, 1, k);
    return hy_schedule_first(p, asked, 1 + SHARES, out);
}

const hy_schedule hy_schedule_passes = {.name   = "passes",
                                        .values = HY_WITH_COPIES | HY_WITH_GATHER |
                                                  HY_WITH_PASSES,
                                        .promise = promise,
                                        .cut     = cut};
