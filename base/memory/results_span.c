/* base/memory/results_span.c - functions on a reserved array (span) that need no list of
   mappings. */
#include "base/data/min_max.h"
#include "base/memory/memory.h"
#include "base/memory/pages.h"
#include "base/memory/results.h"
#include "base/memory/shortage.h"
#include "base/threads/pool.h"

void hy_span_reach(const hy_span *span, size_t end)
{
    hy_raise_to(span->reached, (int64_t)hy_pages_of(span->bytes, end));
}

int hy_results_pinned(const hy_span *span, size_t begin, size_t end)
{
    if (span->piece == 0 || end > span->bytes)
        return 0;
    for (size_t k = begin / span->piece; k * span->piece < end; k++)
        if (!__atomic_load_n(&span->pinned[k], __ATOMIC_ACQUIRE))
            return 0;
    return 1;
}

#if __has_attribute(disable_sanitizer_instrumentation)
#define NO_RACE __attribute__((disable_sanitizer_instrumentation))
#else
#define NO_RACE __attribute__((no_sanitize("thread")))
#endif

/* Makes pages present while other threads may already store results in them. A fresh page
   holds zeros, so replacing 0 by 0 changes nothing, and a page with another byte is
   present. The data race is therefore harmless. (Compilers turn adding or or-ing 0 into a
   read.) */
NO_RACE void hy_results_touch(const hy_span *span, size_t begin, size_t end)
{
    if (begin < span->touched)
        begin = span->touched;
    if (end > span->bytes)
        end = span->bytes;
    if (begin < end)
        hy_span_reach(span, end);
    for (size_t at = begin / HY_PAGE * HY_PAGE; at < end; at += HY_PAGE) {
        char zero = 0;
        (void)__atomic_compare_exchange_n(span->ptr + at, &zero, 0, 0, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED);
    }
}

void hy_results_place(const hy_context *ctx, const hy_span *span, size_t begin,
                      size_t end, int node)
{
    const size_t fresh = hy_larger(begin, span->touched);
    const size_t from  = hy_pages_of(span->bytes, fresh);
    const size_t to    = hy_pages_of(span->bytes, hy_smaller(end, span->bytes));

    if (from < to)
        hy_topology_place(hy_pool_topology(ctx->pool), span->ptr + from, to - from, node);
}

void hy_memory_relieve(hy_context *ctx)
{
    if (ctx->results)
        hy_results_trim(ctx);
    if (ctx->relieve)
        ctx->relieve(ctx);
}

hybrid_status hy_results_array(hy_context *ctx, int64_t n, size_t size, const char *what,
                               void **out)
{
    hy_span span;

    *out = NULL;
    if (n < 0 || (size > 0 && (uint64_t)n > (uint64_t)INT64_MAX / size))
        return hy_memory_full(ctx, what, INT64_MAX, "");
    if (!hy_memory_holds(ctx, n * (int64_t)size))
        return hy_memory_full(ctx, what, n * (int64_t)size, "");
    HY_TRY(hy_results_reserve(ctx, (size_t)n * size, what, &span));
    const hybrid_status status = hy_results_use(ctx, &span, (size_t)n * size);
    if (status != HYBRID_OK) {
        hy_results_release(ctx, span.ptr);
        return status;
    }
    hy_results_hand_out(ctx, &span, (size_t)n * size);
    *out = span.ptr;
    return HYBRID_OK;
}
