/* host/backend/target.h - instruction sets, chosen when a loop starts.

   Kernels, the inner loops of the host's variants, are templates (.inc) that a file
   includes once for each type and instruction set. A test of the CPU picks one of the
   instances. (Sanitizers do not work with ifuncs.) */
#ifndef HY_TARGET_H
#define HY_TARGET_H

#include <stddef.h>
#include <stdint.h>

typedef enum hy_target { HY_TARGET_PORTABLE, HY_TARGET_AVX2, HY_TARGET_AVX512 } hy_target;

/* Returns the best instruction set that this CPU has. */
hy_target hy_target_best(void);

/* For tests: from now on no better instruction set than `most` is used. */
void hy_target_limit(hy_target most);

/* Returns 1 if a result of `bytes` bytes should be stored past the caches, which means
   with instructions that bypass them. That is so if the result is larger than the
   last-level cache, which has `cache` bytes (0 = unknown): it cannot stay in the cache,
   and ordinary stores would read it first and evict data that is still needed. */
int hy_target_streams(double bytes, size_t cache);

/* For tests: from now on results of at least `bytes` bytes are stored past the caches.
   With -1 the size of the cache decides again. */
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

/* Names of the instances of a template (host/backend/each_type.inc). */
#define HY_JOINED_(x, suffix) x##_##suffix
#define HY_JOINED(x, suffix) HY_JOINED_(x, suffix)
#define HY_INSTANCE(x, type, target) HY_JOINED(HY_JOINED(x, type), target)

/* The elements X(name_portable), ... of an array with an element for each hy_target. The
   array has HY_TARGETS elements. */
#if HY_X86
enum { HY_TARGETS = 3 };
#define HY_EACH_TARGET(X, name) X(name##_portable), X(name##_avx2), X(name##_avx512)
#else
enum { HY_TARGETS = 1 };
#define HY_EACH_TARGET(X, name) X(name##_portable)
#endif

/* Makes stores that bypass the caches visible before all later stores of this thread. */
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
