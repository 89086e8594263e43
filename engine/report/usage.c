/* engine/report/usage.c - how much of the machine a run used, and what bound it. */
#include "engine/report/usage.h"

#include <math.h>

#include "base/threads/clock.h"
#include "base/data/min_max.h"
#include "base/memory/results.h"

hy_beginning hy_usage_begin(const hybrid_engine *engine)
{
    return (hy_beginning){hy_now_ns(), hy_pool_busy_ns(engine->ctx.pool)};
}

/* Returns the use of a resource that served `used` units in `seconds`. The resource's
   rate is `measured`, or the built-in `rate` if `measured` is 0 (unknown). If the run was
   faster than that, the rate is the speed of the run, so that the utilisation never
   exceeds 1. */
static hybrid_use use_of(double used, double seconds, double rate, double measured)
{
    const double shown = used / seconds;
    hybrid_use use     = {rate, 0, HYBRID_BUILT_IN};

    if (measured > 0)
        use = (hybrid_use){measured, 0, HYBRID_MEASURED};
    if (shown > use.rate)
        use = (hybrid_use){shown, 0, HYBRID_OBSERVED};
    use.utilisation = use.rate > 0 ? shown / use.rate : 0;
    return use;
}

static void use_host(const hybrid_engine *engine, double busy_s, int workers,
                     hybrid_report *r)
{
    const hy_measured *measured = &engine->host->measured;
    hy_rates rates;

    engine->host->ops->rates(engine->host, &rates);
    r->use[HYBRID_CORES] = use_of(busy_s, r->total_s, workers, 0);
    r->use[HYBRID_HOST_MEMORY] =
        use_of((double)r->host_bytes, r->total_s, rates.mem_Bps, measured->mem_Bps);
    r->use[HYBRID_CORES].origin = HYBRID_OBSERVED;
    r->rates_measured           = measured->mem_Bps > 0;
}

/* Sums the rates of all devices. *measured receives the sum of the measured rates, or 0
   if one of several devices has no measurement. */
static hy_rates sum_up(const hy_backend *const *devices, int count, hy_measured *measured)
{
    hy_rates sum = {0}, one;
    int all      = 1;

    *measured = (hy_measured){0};
    for (int i = 0; i < count; i++) {
        const hy_measured *m = &devices[i]->measured;
        devices[i]->ops->rates(devices[i], &one);
        sum.h2d_Bps += one.h2d_Bps;
        sum.d2h_Bps += one.d2h_Bps;
        sum.mem_Bps += one.mem_Bps;
        measured->h2d_Bps += m->h2d_Bps;
        measured->d2h_Bps += m->d2h_Bps;
        measured->mem_Bps += m->mem_Bps;
        all = all && m->h2d_Bps > 0 && m->d2h_Bps > 0 && m->mem_Bps > 0;
    }
    if (!all && count > 1)
        *measured = (hy_measured){0};
    return sum;
}

static void use_devices(const hy_backend *const *devices, int count, hybrid_report *r)
{
    const double s = r->total_s;
    hy_measured m;
    const hy_rates rates = sum_up(devices, count, &m);

    r->use[HYBRID_BUS_UP]   = use_of((double)r->h2d_bytes, s, rates.h2d_Bps, m.h2d_Bps);
    r->use[HYBRID_BUS_DOWN] = use_of((double)r->d2h_bytes, s, rates.d2h_Bps, m.d2h_Bps);
    r->use[HYBRID_DEVICE] = use_of((double)r->device_bytes, s, rates.mem_Bps, m.mem_Bps);
    r->bus_utilisation =
        fmax(r->use[HYBRID_BUS_UP].utilisation, r->use[HYBRID_BUS_DOWN].utilisation);
    r->rates_measured &= m.h2d_Bps > 0 && m.d2h_Bps > 0 && m.mem_Bps > 0;
}

/* Returns 1 if host memory, which has no busy times, bound the run rather than `most`.
   Lanes of several buses are busy while they wait for host memory, so utilisations are
   compared. */
static int is_host_memory(const hybrid_report *r, hybrid_resource most, int count)
{
    const double used = r->use[HYBRID_HOST_MEMORY].utilisation;

    if (most == HYBRID_CORES)
        return used > r->use[HYBRID_CORES].utilisation / 2;
    return count > 1 && most != HYBRID_DEVICE && used > r->bus_utilisation;
}

/* Returns the resource that was busy for the largest part of the run's time on `count`
   devices. Host memory is returned instead of the cores if its utilisation exceeds half
   of theirs, and instead of several buses if it exceeds theirs. */
static hybrid_resource bound_of(const hybrid_report *r, int on_device, int count)
{
    const double run_s                  = count * r->total_s;
    const hybrid_use *use               = r->use;
    const double busy[HYBRID_RESOURCES] = {
        [HYBRID_CORES]    = use[HYBRID_CORES].utilisation,
        [HYBRID_BUS_UP]   = (r->load_s + r->h2d_s) / run_s,
        [HYBRID_BUS_DOWN] = r->d2h_s / run_s,
        [HYBRID_DEVICE]   = (r->multiply_s + r->finish_s) / run_s,
    };
    hybrid_resource most = HYBRID_CORES;

    for (int k = HYBRID_BUS_UP; on_device && k < HYBRID_RESOURCES; k++)
        if (busy[k] > busy[most])
            most = (hybrid_resource)k;
    return is_host_memory(r, most, count) ? HYBRID_HOST_MEMORY : most;
}

/* Returns the time in which the buses move operands and result once; if the host computes
   alone, the time in which host memory does. Several buses wait for host memory, too. */
static double reference_s(const hybrid_report *r, const hy_reference *reference,
                          int on_device, int count)
{
    const double up = (double)reference->up, down = (double)reference->down;
    const double memory_s = (up + down) / r->use[HYBRID_HOST_MEMORY].rate;

    if (!on_device)
        return memory_s;
    const double bus_s =
        fmax(up / r->use[HYBRID_BUS_UP].rate, down / r->use[HYBRID_BUS_DOWN].rate);
    return count > 1 ? fmax(bus_s, memory_s) : bus_s;
}

double hy_usage_overlap(const hybrid_report *r)
{
    return (r->load_s + r->prepare_s + r->h2d_s + r->multiply_s + r->finish_s + r->d2h_s +
            r->place_s) /
           r->total_s;
}

void hy_usage_end(const hybrid_engine *engine, const hy_backend *const *backends,
                  int count, const hy_beginning *begin, const hy_reference *reference,
                  hybrid_report *r)
{
    const hy_pool *pool = engine->ctx.pool;
    const int on_device = backends[0]->ops->copy != NULL;
    const int workers   = on_device ? hy_pool_threads(pool) : hy_pool_max_threads(pool);
    const hy_beginning end = hy_usage_begin(engine);
    const int64_t busy_ns  = hy_max(end.busy_ns - begin->busy_ns, 0);

    r->total_s = (double)hy_max(end.ns - begin->ns, 1) * 1e-9;
    if (on_device && count > 1) /* each byte that a bus moves is read or written in host
                                   memory, which a single bus does not use up */
        r->host_bytes = hy_max(r->host_bytes, r->h2d_bytes + r->d2h_bytes);
    use_host(engine, (double)busy_ns * 1e-9, workers, r);
    if (on_device)
        use_devices(backends, count, r);
    r->bound                  = bound_of(r, on_device, count);
    r->reference_s            = reference_s(r, reference, on_device, count);
    r->speedup_over_reference = r->reference_s / r->total_s;
    r->pooled_bytes           = hy_results_pooled_bytes(engine->ctx.results);
}
