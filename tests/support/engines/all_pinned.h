/* tests/support/engines/all_pinned.h - a context in which every byte of host memory
   counts as pinned. */
#ifndef ALL_PINNED_H
#define ALL_PINNED_H

#include "base/contract/backend.h"

static size_t all_bytes(hy_backend *self, const void *ptr, size_t bytes)
{
    (void)self;
    (void)ptr;
    return bytes;
}

static const hy_backend_ops all_pinned_ops = {.pinned = all_bytes};
static hy_backend all_pinned_device        = {.ops = &all_pinned_ops};
static hy_context all_pinned               = {.pins = {.device = &all_pinned_device}};

#endif /* ALL_PINNED_H */
