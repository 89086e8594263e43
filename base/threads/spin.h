/* base/threads/spin.h - spinning: polling for a while before sleeping.

   Waking a thread takes some 50 us, which is longer than many waits. A thread with a core
   of its own first polls for about that time. */
#ifndef HY_SPIN_H
#define HY_SPIN_H

enum {
    HY_SPINS   = 4000, /* number of polls before a thread sleeps; they take some 50 us */
    HY_SPIN_NS = 50000 /* nanoseconds that HY_SPINS polls take */
};

/* Pauses between two polls. */
static inline void hy_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif /* HY_SPIN_H */
