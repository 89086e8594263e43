/* host/backend/target.c - finds out once which instruction sets this CPU has. */
#include "host/backend/target.h"

#include <stdatomic.h>

enum { UNKNOWN = -1 };

static atomic_int best           = UNKNOWN;
static _Atomic int64_t stream_at = UNKNOWN;

static hy_target found(void)
{
#if HY_X86
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
        !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2") ||
        !__builtin_cpu_supports("popcnt"))
        return HY_TARGET_PORTABLE;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
        return HY_TARGET_AVX2;
    return HY_TARGET_AVX512;
#else
    return HY_TARGET_PORTABLE;
#endif
}

hy_target hy_target_best(void)
{
    int target = atomic_load_explicit(&best, memory_order_relaxed);

    if (target == UNKNOWN) {
        target = (int)found();
        atomic_store_explicit(&best, target, memory_order_relaxed);
    }
    return (hy_target)target;
}

void hy_target_limit(hy_target most)
{
    const hy_target target = found();

    atomic_store_explicit(&best, (int)(target < most ? target : most),
                          memory_order_relaxed);
}

int hy_target_streams(double bytes, size_t cache)
{
    const int64_t from = atomic_load_explicit(&stream_at, memory_order_relaxed);

    if (from != UNKNOWN)
        return bytes >= (double)from;
    return cache > 0 && bytes > (double)cache;
}

void hy_target_stream_from(int64_t bytes)
{
    atomic_store_explicit(&stream_at, bytes, memory_order_relaxed);
}
