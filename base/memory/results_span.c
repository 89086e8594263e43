/* base/memory/results_span.c - what concerns a span of a result alone, without the list
   of mappings. */
#include "base/data/min_max.h"
#include "base/memory/pages.h"
#include "base/memory/results.h"

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

#if __has_attribute(disable_sanitizer_instrumentation) /* clang */
#define NO_RACE __attribute__((disable_sanitizer_instrumentation))
#else
#define NO_RACE __attribute__((no_sanitize("thread")))
#endif

/* Others may be storing results in these pages already. That is no race: a fresh page
   holds zeros, so putting 0 where 0 is makes it present and changes nothing; where there
   is something else, the page is present. (Adding or or-ing 0 would not do: compilers
   turn it into a read.) */
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
