/* tests/support/runs/caps.c - checks that devices keep to their budgets. */
#include "support/runs/caps.h"

enum { GAP = 256 /* maximum of unused bytes between two arrays of a pack */ };

int caps_kept(const hybrid_plan *plan, size_t budget)
{
    for (int i = 0; i < plan->count; i++) {
        const hy_meter *meter = &plan->portions[i].backend->device;
        const int64_t peak    = hy_meter_peak(meter);
        if ((budget > 0 && peak > (int64_t)budget) ||
            (meter->cap > 0 && peak > meter->cap))
            return 0;
    }
    return 1;
}

int64_t caps_spare(const hybrid_plan *plan, int64_t chunks)
{
    return plan->count > 1 ? chunks * HY_ARRAYS * GAP : 0;
}
