/* host/backend/target.h - instruction sets, chosen when a loop starts.

   Kernels are templates (.inc) that a file includes once for each type and set. A
   plain test of the CPU picks one: no ifuncs, which sanitizers do not survive. */
#ifndef HY_TARGET_H
#define HY_TARGET_H

#include <stddef.h>
#include <stdint.h>

typedef enum hy_target { HY_TARGET_PORTABLE, HY_TARGET_AVX2, HY_TARGET_AVX512 } hy_target;

/* The best set that this CPU has. */
hy_target hy_target_best(void);

/* Use no better set than this from now on; for tests. */
void hy_target_limit(hy_target most);

/* Whether a result of `bytes` should be stored past caches of which the last has
   `cache`, 0 if unknown: when it is larger it cannot stay there, and storing it as usual
   would read it first and push out what is still needed. */
int hy_target_streams(double bytes, size_t cache);

/* Streaming begins at this size from now on, -1: at that of the cache; for tests. */
void hy_target_stream_from(int64_t bytes);

#define HY_PORTABLE

#if defined(__x86_64__) && defined(__GNUC__)
#define HY_X86 1
#include <immintrin.h>
#define HY_AVX2 __attribute__((target("avx2,fma,bmi,bmi2,popcnt")))
#define HY_AVX512                                                                        \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi,bmi2,"        \
                          "popcnt")))
#else
#define HY_X86 0
#endif

/* Stores past the caches are not ordered with what follows them; this orders them. */
#if HY_X86
#define HY_STREAM_FENCE() _mm_sfence()
#else
#define HY_STREAM_FENCE() ((void)0)
#endif

#if defined(__GNUC__)
#define HY_PREFETCH(address) __builtin_prefetch(address)
#else
#define HY_PREFETCH(address) ((void)(address))
#endif

#endif /* HY_TARGET_H */
