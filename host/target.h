/* host/target.h - instruction sets, chosen when a loop starts.

   Kernels are templates (.inc) that a file includes once for each type and set. A
   plain test of the CPU picks one: no ifuncs, which sanitizers do not survive. */
#ifndef HY_TARGET_H
#define HY_TARGET_H

#define HY_PORTABLE

#if defined(__x86_64__) && defined(__GNUC__)
#define HY_X86 1
#include <immintrin.h>
#define HY_AVX2 __attribute__((target("avx2,fma,bmi,bmi2,popcnt")))
#define HY_AVX512                                                                        \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi,bmi2,popcnt")))

static inline int hy_has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi2");
}

static inline int hy_has_avx512(void)
{
    return hy_has_avx2() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}
#else
#define HY_X86 0
#endif

#if defined(__GNUC__)
#define HY_PREFETCH(address) __builtin_prefetch(address)
#else
#define HY_PREFETCH(address) ((void)(address))
#endif

#endif /* HY_TARGET_H */
