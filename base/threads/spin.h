/* base/threads/spin.h - to look for what another thread writes, before one sleeps.

   Waking a thread takes some 50 us, which is longer than many a wait. Who has a core to
   itself looks for about as long first. */
#ifndef HY_SPIN_H
#define HY_SPIN_H

enum {
    HY_SPINS    = 4000, /* some 50 us, */
    HY_SPIN_NS = 50000 /* here as time */
};

/* Between two looks. */
static inline void hy_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif /* HY_SPIN_H */
