/* tests/support/products/usage.c - recomputes the resource use in a report. */
#include "support/products/usage.h"

#include <math.h>

static int is_near(double a, double b)
{
    return fabs(a - b) <= 1e-12 * (fabs(a) + fabs(b));
}

/* Returns the bytes moved by a resource, from other fields of the report. For cores, of
   which the report has no other count, it returns what utilisation and rate say. */
static double used(const hybrid_report *r, hybrid_resource resource)
{
    switch (resource) {
    case HYBRID_HOST_MEMORY:
        return (double)r->host_bytes;
    case HYBRID_BUS_UP:
        return (double)r->h2d_bytes;
    case HYBRID_BUS_DOWN:
        return (double)r->d2h_bytes;
    case HYBRID_DEVICE:
        return (double)r->device_bytes;
    default:
        return r->use[HYBRID_CORES].utilisation * r->use[HYBRID_CORES].rate * r->total_s;
    }
}

static const char *check_one(const hybrid_report *r, hybrid_resource resource)
{
    const hybrid_use *u = &r->use[resource];

    if (!(u->utilisation >= 0 && u->utilisation <= 1))
        return "more is used than there is";
    if (u->rate <= 0)
        return used(r, resource) > 0 || u->utilisation > 0 ? "no rate" : NULL;
    if (!is_near(u->utilisation, used(r, resource) / (u->rate * r->total_s)))
        return "the use is not that of bytes and rate";
    if (resource != HYBRID_CORES && u->origin == HYBRID_OBSERVED && u->utilisation < 1)
        return "a rate was raised to more than the run showed";
    return NULL;
}

/* Returns 1 if `bound` chooses rightly between host memory, cores and buses: host memory
   only if its utilisation is more than half of the cores' or more than that of the buses,
   cores only if it is not more than half of theirs. */
static int names_the_right_one(const hybrid_report *r)
{
    const double cores  = r->use[HYBRID_CORES].utilisation;
    const double memory = r->use[HYBRID_HOST_MEMORY].utilisation;

    return r->bound == HYBRID_HOST_MEMORY
               ? memory > 0.5 * cores || memory > r->bus_utilisation
               : r->bound != HYBRID_CORES || memory <= 0.5 * cores;
}

const char *usage_check(const hybrid_report *r)
{
    const double up   = r->use[HYBRID_BUS_UP].utilisation;
    const double down = r->use[HYBRID_BUS_DOWN].utilisation;

    for (int k = 0; k < HYBRID_RESOURCES; k++) {
        const char *wrong = check_one(r, (hybrid_resource)k);
        if (wrong)
            return wrong;
    }
    if (!is_near(r->bus_utilisation, fmax(up, down)))
        return "the bus is not the larger way";
    if (!is_near(r->speedup_over_reference, r->reference_s / r->total_s))
        return "the speedup is not that over the reference";
    if ((unsigned)r->bound >= HYBRID_RESOURCES || r->use[r->bound].rate <= 0)
        return "what bounds the run is not there";
    if (!names_the_right_one(r))
        return "cores are named for host memory, or it for them";
    return NULL;
}
