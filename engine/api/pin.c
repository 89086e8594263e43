/* engine/api/pin.c - arrays of the caller that a device copies directly. */
#include "engine/api/pin.h"

#include "base/data/csr.h"
#include "base/memory/pinned.h"
#include "engine/api/engine.h"

hybrid_status hybrid_pin(hybrid_engine *engine, void *ptr, size_t bytes)
{
    HY_TRY(hy_engine_begin(engine));
    if (!ptr || bytes == 0 || bytes > UINTPTR_MAX - (uintptr_t)ptr)
        return hy_fail(&engine->ctx, HYBRID_BAD_ARGUMENT,
                       "%zu bytes at %p cannot be pinned: the range is empty or ends "
                       "beyond the address space",
                       bytes, ptr);
    return hy_engine_end(engine, hy_pins_add(&engine->ctx, ptr, bytes));
}

hybrid_status hybrid_unpin(hybrid_engine *engine, void *ptr)
{
    HY_TRY(hy_engine_begin(engine));
    return hy_pins_remove(&engine->ctx, ptr);
}

static int is_pinned(hy_context *ctx, const hybrid_dense *m, hybrid_order order)
{
    const int64_t size   = (int64_t)hy_value_size(m->type);
    const int in_rows    = order == HYBRID_ROW_MAJOR;
    const int64_t lines  = (in_rows ? m->rows : m->cols) - 1;
    const int64_t length = in_rows ? m->cols : m->rows;

    return m->data && m->order == order && m->rows > 0 && m->ld <= HY_MAX_PITCH / size &&
           hy_pinned(ctx, m->data, (size_t)(lines * m->ld + length) * (size_t)size);
}

int hy_pin_both(hy_context *ctx, const hybrid_dense *X, const hybrid_dense *Y)
{
    return is_pinned(ctx, X, X->order) && is_pinned(ctx, Y, X->order);
}

int hy_pin_direct(const hy_problem *problem)
{
    return problem->source.ops->lines && problem->alpha == 1 && problem->beta == 0 &&
           hy_pin_both(problem->ctx, problem->X, problem->Y);
}
