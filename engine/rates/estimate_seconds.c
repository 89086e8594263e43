/* engine/rates/estimate_seconds.c - the formula for the time of an estimate.

   The constants are fitted like those of estimate.c. */
#include <math.h>

#include "base/data/min_max.h"
#include "engine/rates/estimate.h"

/* Order of the norm that combines resources that are busy at once. They slow each other
   down, so the time lies between the longest and the sum. */
static const double NORM = 4;

/* Rate at which host memory serves all buses together, relative to mem_Bps, the rate of
   workers' copies (bytes read plus bytes written). In the fitted runs these rates were
   134 and 80 GB/s. The limit is applied to several buses only; one bus stays far below
   it. */
static const double COPIED = 1.7;

static double norm(const double *of, int count)
{
    double most = 0, sum = 0;

    for (int i = 0; i < count; i++)
        most = fmax(most, of[i]);
    for (int i = 0; i < count && most > 0; i++)
        sum += pow(of[i] / most, NORM);
    return most * pow(sum, 1 / NORM);
}

static double over(double amount, double rate)
{
    return rate > 0 ? amount / rate : 0;
}

/* Returns the busy seconds of the bus. Both directions are in use until only the last
   bytes are left. */
static double bus_s(const hy_estimate *e, const hy_rates *site)
{
    const double before = e->down_bytes - e->last_bytes;
    const double both   = over(e->up_bytes + before + e->short_bytes, site->both_Bps);
    const double either =
        fmax(over(e->up_bytes, site->h2d_Bps), over(before, site->d2h_Bps));

    return fmax(either, both) + over(e->last_bytes, site->d2h_Bps);
}

double hy_workers_seconds(const hy_estimate *e, const hy_rates *host)
{
    const double prepare[] = {e->core_s / fmax(host->width, 1),
                              over(e->memory_bytes, host->mem_Bps)};

    return norm(prepare, 2) + over(e->stored_bytes, host->mem_Bps);
}

/* Returns the seconds in which all chunks pass their stages, which take `stages` seconds
   if only one chunk is under way at a time. The norm of the busy times counts, unless too
   few slots keep the resources busy. */
static double overlapped(const hy_estimate *e, double stages, const double *busy,
                         int count)
{
    return fmax(norm(busy, count), e->slots > 0 ? stages / e->slots : 0);
}

/* The first chunk passes all stages one after the other. For the other chunks the stages
   overlap. */
double hy_seconds(const hy_estimate *e, const hy_rates *site, const hy_rates *host)
{
    const double chunks = (double)hy_max(e->chunks, 1);
    const double busy[] = {bus_s(e, site), e->device_s, e->core_s / fmax(host->width, 1),
                           over(e->memory_bytes + e->stored_bytes, host->mem_Bps)};
    const double stages = over(e->up_bytes, site->h2d_Bps) + hy_workers_seconds(e, host) +
                          e->device_s + over(e->down_bytes, site->d2h_Bps);

    return e->call_s + chunks * e->chunk_s + over(e->first_bytes, site->h2d_Bps) +
           stages / chunks + (chunks - 1) / chunks * overlapped(e, stages, busy, 4);
}

/* Returns the estimate of one of `count` devices that bring the same image up between
   them. */
static hy_estimate relayed(const hy_estimate *each, int i, int count)
{
    hy_estimate e = each[i];

    for (int j = 0; j < count; j++)
        if (each[j].image_bytes != e.image_bytes)
            return e;
    const double spared = e.image_bytes * (1 - 1.0 / count);
    const double first  = fmin(e.first_bytes, e.image_bytes) * (1 - 1.0 / count);
    e.first_bytes -= first;
    e.up_bytes = fmax(0, e.up_bytes - (spared - first));
    return e;
}

double hy_seconds_together(const hy_estimate *each, const hy_rates *const *rates,
                           int count, const hy_rates *host)
{
    double core_s = 0, memory = 0, stored = 0, copied = 0, hand_out_s = 0;

    for (int i = 0; i < count; i++) {
        core_s += each[i].core_s;
        memory += each[i].memory_bytes;
        stored += each[i].stored_bytes;
        const hy_estimate e = relayed(each, i, count);
        copied += e.first_bytes + e.up_bytes + e.down_bytes;
        hand_out_s += (double)each[i].chunks * each[i].chunk_s;
    }
    double most = count > 1 ? over(copied, COPIED * host->mem_Bps) : 0;
    for (int i = 0; i < count; i++) {
        hy_estimate e  = relayed(each, i, count);
        e.core_s       = core_s;
        e.memory_bytes = memory;
        e.stored_bytes = stored;
        e.call_s += hand_out_s - (double)e.chunks * e.chunk_s;
        most = fmax(most, hy_seconds(&e, rates[i], host));
    }
    return most;
}
