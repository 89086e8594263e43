/* engine/pin.c - arrays of the caller that a device copies from and to directly. */
#include "engine/engine.h"

hybrid_status hybrid_pin(hybrid_engine *engine, void *ptr, size_t bytes)
{
    HY_TRY(hy_engine_begin(engine));
    if (!ptr || bytes == 0 || bytes > UINTPTR_MAX - (uintptr_t)ptr)
        return hy_fail(&engine->ctx, HYBRID_BAD_ARGUMENT,
                       "%zu bytes at %p are no array that can be pinned", bytes, ptr);
    return hy_pins_add(&engine->ctx, ptr, bytes);
}

hybrid_status hybrid_unpin(hybrid_engine *engine, void *ptr)
{
    HY_TRY(hy_engine_begin(engine));
    return hy_pins_remove(&engine->ctx, ptr);
}
