/* tests/support/fake/forgetful.c - memory that another thread seems to unpin during a
   product. */
#include "support/fake/forgetful.h"

static const hy_backend_ops *before;
static hy_backend_ops forgetful;
static const char *leaving;
static size_t leaving_bytes;
static int64_t asked, told;

static size_t pinned_at_first(hy_backend *device, const void *ptr, size_t bytes)
{
    const char *at = ptr;

    (void)device;
    if (at < leaving || at >= leaving + leaving_bytes)
        return bytes;
    return __atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED) < told ? bytes : 0;
}

void forgetful_begin(hybrid_engine *engine, const void *ptr, size_t bytes, int64_t times)
{
    hy_backend *device = engine->ctx.pins.device;

    before           = device->ops;
    forgetful        = *before;
    forgetful.pinned = pinned_at_first;
    leaving          = ptr;
    leaving_bytes    = bytes;
    asked            = 0;
    told             = times;
    device->ops      = &forgetful;
}

int64_t forgetful_end(hybrid_engine *engine)
{
    engine->ctx.pins.device->ops = before;
    return asked;
}
