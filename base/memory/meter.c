/* base/memory/meter.c - counts bytes against a limit. */
#include "base/memory/meter.h"

#include "base/data/min_max.h"

int hy_meter_charge(hy_meter *meter, size_t bytes)
{
    if (bytes > INT64_MAX / 2)
        return 0;
    const int64_t cap = hy_meter_cap(meter);
    int64_t used      = __atomic_load_n(&meter->used, __ATOMIC_RELAXED);
    int64_t next;
    do {
        next = used + (int64_t)bytes;
        if (cap > 0 && next > cap)
            return 0;
    } while (!__atomic_compare_exchange_n(&meter->used, &used, next, 0, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    hy_raise_to(&meter->peak, next);
    return 1;
}

void hy_meter_release(hy_meter *meter, size_t bytes)
{
    __atomic_fetch_sub(&meter->used, (int64_t)bytes, __ATOMIC_RELAXED);
}

int64_t hy_meter_cap(const hy_meter *meter)
{
    return __atomic_load_n(&meter->cap, __ATOMIC_RELAXED);
}

int64_t hy_meter_left(const hy_meter *meter)
{
    const int64_t cap = hy_meter_cap(meter);

    return cap > 0 ? hy_max(cap - hy_meter_used(meter), 0) : INT64_MAX;
}

void hy_meter_raise_cap(hy_meter *meter, int64_t cap)
{
    hy_raise_to(&meter->cap, cap);
}

int64_t hy_meter_used(const hy_meter *meter)
{
    return __atomic_load_n(&meter->used, __ATOMIC_RELAXED);
}

int64_t hy_meter_peak(const hy_meter *meter)
{
    return __atomic_load_n(&meter->peak, __ATOMIC_RELAXED);
}

void hy_meter_reset_peak(hy_meter *meter)
{
    __atomic_store_n(&meter->peak, hy_meter_used(meter), __ATOMIC_RELAXED);
}
