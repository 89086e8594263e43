/* base/memory/memory.c - working memory, and counting bytes against a cap. */
#include "base/memory/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/data/min_max.h"
#include "base/memory/pages.h"
#include "base/memory/results.h"
#include "base/memory/shortage.h"

enum {
    ALIGNMENT = 64,
    OWN_PAGES = 32 << 10 /* bytes of an array that can have pages of its own */
};

/* ---- meters ------------------------------------------------------------------ */

int hy_meter_take(hy_meter *meter, size_t bytes)
{
    if (bytes > INT64_MAX / 2)
        return 0;
    int64_t used = __atomic_load_n(&meter->used, __ATOMIC_RELAXED);
    int64_t next;
    do {
        next = used + (int64_t)bytes;
        if (meter->cap > 0 && next > meter->cap)
            return 0;
    } while (!__atomic_compare_exchange_n(&meter->used, &used, next, 0, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    hy_raise_to(&meter->peak, next);
    return 1;
}

void hy_meter_give(hy_meter *meter, size_t bytes)
{
    __atomic_fetch_sub(&meter->used, (int64_t)bytes, __ATOMIC_RELAXED);
}

int64_t hy_meter_used(const hy_meter *meter)
{
    return __atomic_load_n(&meter->used, __ATOMIC_RELAXED);
}

int64_t hy_meter_peak(const hy_meter *meter)
{
    return __atomic_load_n(&meter->peak, __ATOMIC_RELAXED);
}

void hy_meter_reset_peak(hy_meter *meter)
{
    __atomic_store_n(&meter->peak, hy_meter_used(meter), __ATOMIC_RELAXED);
}

/* ---- arrays ------------------------------------------------------------------- */

/* In front of each array: what free needs. */
typedef struct header {
    void *block;  /* as the allocator gave it */
    size_t bytes; /* counted */
    int mapped;   /* pages of its own */
} header;

_Static_assert(sizeof(header) <= ALIGNMENT, "a header fits before an aligned array");

int hy_memory_fails(hy_memory *memory)
{
    if (__atomic_load_n(&memory->failures, __ATOMIC_RELAXED) <= 0)
        return 0;
    return __atomic_sub_fetch(&memory->failures, 1, __ATOMIC_RELAXED) == 0;
}

/* malloc keeps much of what is freed, for each thread that has called it. */
static int takes_pages(const hy_memory *memory, size_t bytes)
{
    return memory->strict && !memory->allocator.alloc && bytes >= OWN_PAGES;
}

static void *allocate(hy_memory *memory, size_t bytes)
{
    if (hy_memory_fails(memory))
        return NULL;
    if (memory->allocator.alloc)
        return memory->allocator.alloc(memory->allocator.user, bytes);
    return takes_pages(memory, bytes) ? hy_pages_map_small(bytes) : malloc(bytes);
}

static void release(hy_memory *memory, const header *h)
{
    if (h->mapped)
        munmap(h->block, h->bytes);
    else if (memory->allocator.free)
        memory->allocator.free(memory->allocator.user, h->block);
    else
        free(h->block);
}

void hy_memory_relieve(struct hy_context *ctx)
{
    if (ctx->results)
        hy_results_trim(ctx);
    if (ctx->relieve)
        ctx->relieve(ctx);
}

/* Idle memory makes room before working memory is refused. */
static int count_bytes(struct hy_context *ctx, size_t bytes)
{
    hy_meter *meter = &ctx->memory.meter;

    if (hy_meter_take(meter, bytes))
        return 1;
    hy_memory_relieve(ctx);
    return hy_meter_take(meter, bytes);
}

hybrid_status hy_array(struct hy_context *ctx, int64_t count, size_t size,
                       const char *what, void **out)
{
    hy_memory *memory = &ctx->memory;

    *out = NULL;
    if (count == 0 || size == 0)
        return HYBRID_OK;
    if (count < 0 || (size_t)count > (INT64_MAX - 2 * ALIGNMENT) / size)
        return hy_memory_full(ctx, what, INT64_MAX, "");
    size_t bytes     = (size_t)count * size + 2 * ALIGNMENT;
    const int mapped = takes_pages(memory, bytes);
    if (mapped)
        bytes = hy_pages_of(HY_PAGE, bytes);
    if (!count_bytes(ctx, bytes))
        return hy_memory_full(ctx, what, (int64_t)bytes, "");
    void *block = allocate(memory, bytes);
    if (!block) {
        hy_meter_give(&memory->meter, bytes);
        return hy_memory_refused(ctx, what, (int64_t)bytes, NULL);
    }
    const uintptr_t start =
        ((uintptr_t)block + 2 * ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1);
    header *h = (header *)start - 1;
    *h        = (header){block, bytes, mapped};
    *out      = (void *)start;
    return HYBRID_OK;
}

void hy_array_free(struct hy_context *ctx, void *array)
{
    if (!array)
        return;
    const header h = ((const header *)array)[-1];
    release(&ctx->memory, &h);
    hy_meter_give(&ctx->memory.meter, h.bytes);
}

hybrid_status hy_array_reuse(struct hy_context *ctx, hy_reused *reused, int64_t bytes,
                             const char *what)
{
    if (bytes <= reused->bytes)
        return HYBRID_OK;
    hy_array_free_reused(ctx, reused);
    HY_TRY(hy_array(ctx, bytes, 1, what, &reused->array));
    reused->bytes = bytes;
    return HYBRID_OK;
}

void hy_array_free_reused(struct hy_context *ctx, hy_reused *reused)
{
    hy_array_free(ctx, reused->array);
    *reused = (hy_reused){.array = NULL};
}

/* ---- copies --------------------------------------------------------------------- */

enum { PAST_LEAST = 4096, ROW_LEAST = 2 * HY_LINE };

#if defined(__SSE2__)
#include <emmintrin.h>

static void stream_line(char *to, const char *from)
{
    __m128i *out      = (__m128i *)(void *)to;
    const __m128i *in = (const __m128i *)(const void *)from;

    const __m128i a = _mm_loadu_si128(in), b = _mm_loadu_si128(in + 1);
    const __m128i c = _mm_loadu_si128(in + 2), d = _mm_loadu_si128(in + 3);
    _mm_stream_si128(out, a);
    _mm_stream_si128(out + 1, b);
    _mm_stream_si128(out + 2, c);
    _mm_stream_si128(out + 3, d);
}

/* Whole lines of the caches past them, the ends through them. */
static void copy_lines(char *to, const char *from, size_t bytes)
{
    const size_t gap  = (HY_LINE - (uintptr_t)to % HY_LINE) % HY_LINE;
    const size_t lead = gap < bytes ? gap : bytes;
    const size_t end  = lead + (bytes - lead) / HY_LINE * HY_LINE;

    if (lead > 0) /* short rows are often without */
        memcpy(to, from, lead);
    for (size_t i = lead; i < end; i += HY_LINE)
        stream_line(to + i, from + i);
    if (end < bytes)
        memcpy(to + end, from + end, bytes - end);
}

/* Such stores are not ordered with what follows them; this orders them. */
static void end_copy(void)
{
    _mm_sfence();
}
#else
static void copy_lines(char *to, const char *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

static void end_copy(void)
{
}
#endif

void hy_copy_past(void *dst, const void *src, size_t bytes)
{
    if (bytes < PAST_LEAST) {
        memcpy(dst, src, bytes);
        return;
    }
    copy_lines(dst, src, bytes);
    end_copy();
}

/* Lines of which a row covers a part are read before they are written. Where there is a
   gap after each row nobody else sees which lines are next: ask for those of a later
   row. */
static void expect_ends(const char *to, size_t bytes)
{
    __builtin_prefetch(to, 1);
    __builtin_prefetch(to + bytes - 1, 1);
}

/* Rows list[i], or i if there is no list. */
static size_t row_at(const int32_t *list, size_t i)
{
    return list ? (size_t)list[i] : i;
}

/* Where rows end that follow each other on both sides, so that no line has a part of two:
   they are copied as one. */
static size_t run_end(const int32_t *list, size_t begin, size_t rows)
{
    size_t i = begin + 1;

    while (i < rows && list[i] == list[i - 1] + 1)
        i++;
    return i;
}

static void copy_rows(void *dst, size_t dst_step, const int32_t *list, const void *src,
                      size_t src_step, size_t bytes, size_t rows)
{
    const int on_lines = ((uintptr_t)dst | dst_step | bytes) % HY_LINE == 0;
    const int past     = (on_lines || bytes >= ROW_LEAST) && bytes * rows >= PAST_LEAST;
    const int gaps     = list || (bytes > 0 && 2 * bytes <= dst_step);
    const int runs     = list && dst_step == bytes && src_step == bytes;

    for (size_t i = 0, stop; i < rows; i = stop) {
        const size_t later = i + HY_ROWS_AHEAD;
        char *to           = (char *)dst + row_at(list, i) * dst_step;
        const char *from   = (const char *)src + i * src_step;
        stop               = runs ? run_end(list, i, rows) : i + 1;
        if (gaps && !on_lines && later < rows)
            expect_ends((char *)dst + row_at(list, later) * dst_step, bytes);
        if (past)
            copy_lines(to, from, (stop - i) * bytes);
        else
            memcpy(to, from, (stop - i) * bytes);
    }
    if (past)
        end_copy();
}

void hy_copy_rows_past(void *dst, size_t dst_step, const void *src, size_t src_step,
                       size_t bytes, size_t rows)
{
    copy_rows(dst, dst_step, NULL, src, src_step, bytes, rows);
}

void hy_copy_rows_listed(void *dst, size_t dst_step, const int32_t *list, const void *src,
                         size_t src_step, size_t bytes, size_t rows)
{
    copy_rows(dst, dst_step, list, src, src_step, bytes, rows);
}

static void fill_lines(char *to, const char *line, size_t bytes)
{
    const size_t gap  = (HY_LINE - (uintptr_t)to % HY_LINE) % HY_LINE;
    const size_t lead = gap < bytes ? gap : bytes;
    const size_t end  = lead + (bytes - lead) / HY_LINE * HY_LINE;

    memcpy(to, line, lead);
    for (size_t i = lead; i < end; i += HY_LINE)
        copy_lines(to + i, line, HY_LINE);
    memcpy(to + end, line, bytes - end);
}

void hy_fill_past(void *dst, const hy_range *ranges, size_t count,
                  const char line[HY_LINE])
{
    char *base = dst;

    for (size_t i = 0; i < count; i++) {
        if (i + HY_ROWS_AHEAD < count) {
            const hy_range *later = &ranges[i + HY_ROWS_AHEAD];
            expect_ends(base + later->begin, later->end - later->begin);
        }
        fill_lines(base + ranges[i].begin, line, ranges[i].end - ranges[i].begin);
    }
    end_copy();
}
