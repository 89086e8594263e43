/* base/memory/memory.c - allocates working memory, and copies past the caches. */
#include "base/memory/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/memory/pages.h"
#include "base/memory/shortage.h"
#include "base/contract/status.h"

enum {
    ALIGNMENT = 64,
    OWN_PAGES = 32 << 10 /* minimum bytes of an array that gets pages of its own, if the
                            caller set the budget of host memory */
};

/* ---- arrays ------------------------------------------------------------------- */

/* Precedes each array in memory. */
typedef struct header {
    void *block;  /* pointer that the allocator returned */
    size_t bytes; /* bytes of the array that count against the budget (on the meter) */
    int mapped;   /* 1: the array has pages of its own */
} header;

_Static_assert(sizeof(header) <= ALIGNMENT, "a header fits before an aligned array");

int hy_memory_fails(hy_memory *memory)
{
    if (__atomic_load_n(&memory->failures, __ATOMIC_RELAXED) <= 0)
        return 0;
    return __atomic_sub_fetch(&memory->failures, 1, __ATOMIC_RELAXED) == 0;
}

/* Returns 1 if the array gets its own mapping, which the system takes back as soon as it
   is freed. malloc() would keep freed memory, separately for each thread. */
static int gets_pages(const hy_memory *memory, size_t bytes)
{
    return memory->strict && !memory->allocator.alloc && bytes >= OWN_PAGES;
}

static void *allocate(hy_memory *memory, size_t bytes)
{
    if (hy_memory_fails(memory))
        return NULL;
    if (memory->allocator.alloc)
        return memory->allocator.alloc(memory->allocator.user, bytes);
    return gets_pages(memory, bytes) ? hy_pages_map_small(bytes) : malloc(bytes);
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

/* Raises the budget if the limit, which is read again, has grown. A virtual machine may
   get more memory while it is used (a balloon). The budget then is twice the present
   memory of the machine, and the system refuses what it cannot provide. The limit of a
   control group is never exceeded. */
static void grow(hy_memory *memory)
{
    if (!memory->limit)
        return;
    if (memory->limit(1) > hy_meter_cap(&memory->meter))
        __atomic_store_n(&memory->grown, 1, __ATOMIC_RELAXED);
    if (__atomic_load_n(&memory->grown, __ATOMIC_RELAXED))
        hy_meter_raise_cap(&memory->meter, memory->limit(2));
}

int hy_memory_count(struct hy_context *ctx, size_t bytes)
{
    hy_meter *meter = &ctx->memory.meter;

    if (hy_meter_charge(meter, bytes))
        return 1;
    hy_memory_relieve(ctx);
    if (hy_meter_charge(meter, bytes))
        return 1;
    grow(&ctx->memory);
    return hy_meter_charge(meter, bytes);
}

int hy_memory_holds(struct hy_context *ctx, int64_t bytes)
{
    const hy_meter *meter = &ctx->memory.meter;

    if (hy_meter_cap(meter) > 0 && bytes > hy_meter_cap(meter))
        grow(&ctx->memory);
    return hy_meter_cap(meter) == 0 || bytes <= hy_meter_cap(meter);
}

int hy_memory_has_room(struct hy_context *ctx, int64_t bytes)
{
    const hy_meter *meter = &ctx->memory.meter;

    if (hy_memory_holds(ctx, hy_meter_used(meter) + bytes))
        return 1;
    hy_memory_relieve(ctx);
    return hy_memory_holds(ctx, hy_meter_used(meter) + bytes);
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
    const int mapped = gets_pages(memory, bytes);
    if (mapped)
        bytes = hy_pages_of(HY_PAGE, bytes);
    if (!hy_memory_count(ctx, bytes))
        return hy_memory_full(ctx, what, (int64_t)bytes, "");
    void *block = allocate(memory, bytes);
    if (!block) {
        hy_meter_release(&memory->meter, bytes);
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
    hy_meter_release(&ctx->memory.meter, h.bytes);
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

/* Copies whole cache lines past the caches, and what lies before and behind them with
   memcpy(). */
static void copy_lines(char *to, const char *from, size_t bytes)
{
    const size_t gap  = (HY_LINE - (uintptr_t)to % HY_LINE) % HY_LINE;
    const size_t lead = gap < bytes ? gap : bytes;
    const size_t end  = lead + (bytes - lead) / HY_LINE * HY_LINE;

    if (lead > 0) /* without this test, short rows, which often begin at a line, would
                     call memcpy() in vain */
        memcpy(to, from, lead);
    for (size_t i = lead; i < end; i += HY_LINE)
        stream_line(to + i, from + i);
    if (end < bytes)
        memcpy(to + end, from + end, bytes - end);
}

/* Makes the stores past the caches visible before later stores. */
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

/* A row that covers only a part of a cache line makes the CPU read that line before it is
   written. Hardware cannot predict these lines if rows have gaps, so this function asks
   the CPU for them in advance (cache prefetch). */
static void expect_ends(const char *to, size_t bytes)
{
    __builtin_prefetch(to, 1);
    __builtin_prefetch(to + bytes - 1, 1);
}

/* Returns the index of the target of row i: list[i], or i without a list. */
static size_t row_at(const int32_t *list, size_t i)
{
    return list ? (size_t)list[i] : i;
}

/* Returns the end of the run of consecutive target rows that begins with row `begin`. If
   rows have no gaps, a run is copied as one block, so that no cache line is written in
   two parts. */
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
