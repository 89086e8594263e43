/* tests/support/runs/prefault_await.h - waiting until idle workers have prepared pages of
   C. */
#ifndef PREFAULT_AWAIT_H
#define PREFAULT_AWAIT_H

#include "base/threads/spin.h"
#include "pipeline/sink/prefault.h"

/* Returns when idle workers have begun all steps of preparing C's pages, or at once if
   no step was submitted. */
static inline void prefault_await(const hy_prefault *a)
{
    while (a->submitted > 0 &&
           __atomic_load_n(&a->next, __ATOMIC_RELAXED) < a->by_idle)
        hy_relax();
}

#endif /* PREFAULT_AWAIT_H */
