/* base/memory/results.c - maps pages for arrays that the caller will own.

   A mapping is in use (reserved or handed out) or pooled. A pooled mapping holds on to
   its pages, so it stays counted on the host meter until it is used again or unmapped.

   Each mapping remembers the pages that it had when the present call first reserved it.
   If the call fails, pages beyond those go back to the system. */
#include "base/memory/results.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "base/contract/backend.h"
#include "base/data/min_max.h"
#include "base/memory/memory.h"
#include "base/memory/pages.h"
#include "base/threads/pool.h"
#include "base/memory/shortage.h"

enum {
    WASTE = 4,         /* a pooled mapping is not used for results that need less than 1 /
                          WASTE of the pages that it has */
    POOLED_MOST  = 32, /* maximum pooled mappings; the oldest are unmapped first */
    POOLED_SHARE = 2   /* pooled mappings take at most 1 / POOLED_SHARE of the budget of
                          host memory */
};

/* How far a mapping has been used, in bytes from its start. */
typedef struct extent {
    size_t touched; /* bytes that lie in pages known to be present */
    size_t
        counted; /* bytes that count against the budget of host memory (on its meter) */
    int64_t reached; /* number of leading bytes beyond which no page is present; atomic */
} extent;

typedef struct mapping {
    struct mapping *next;
    char *ptr;
    size_t bytes;
    extent now;
    extent before; /* extent of the mapping when call number `call` first reserved it */
    int64_t call;
    int pooled;
    size_t pieces;          /* number of pieces of the mapping that can be pinned */
    unsigned char pinned[]; /* one flag per piece: 1 once it is pinned; atomic */
} mapping;

struct hy_results {
    pthread_mutex_t lock;
    mapping *first;
    /* device for which pages are pinned; NULL: pages are not pinned */
    hy_backend *device;
    int several;    /* 1: the engine has more devices */
    int64_t pooled; /* bytes of pooled mappings that count against the budget of host
                       memory; atomic, so that reports read them without the lock */
};

hybrid_status hy_results_create(hy_context *ctx, hy_results **out)
{
    void *memory;

    HY_TRY(hy_array(ctx, 1, sizeof(hy_results), "the list of results", &memory));
    hy_results *results = memory;
    *results            = (hy_results){0};
    pthread_mutex_init(&results->lock, NULL);
    *out = results;
    return HYBRID_OK;
}

static void unmap(hy_context *ctx, hy_backend *device, mapping *m)
{
    for (size_t k = 0; k < m->pieces; k++)
        if (m->pinned[k])
            device->ops->unpin(device, m->ptr + k * device->ops->pin_bytes);
    munmap(m->ptr, m->bytes);
    hy_meter_release(&ctx->memory.meter, m->now.counted);
    hy_array_free(ctx, m);
}

void hy_results_destroy(hy_context *ctx, hy_results *results)
{
    if (!results)
        return;
    if (ctx->results == results)
        ctx->results = NULL; /* a later hy_array() that lacks memory would otherwise trim
                                these results, which are freed */
    while (results->first) {
        mapping *m     = results->first;
        results->first = m->next;
        unmap(ctx, results->device, m);
    }
    pthread_mutex_destroy(&results->lock);
    hy_array_free(ctx, results);
}

void hy_results_leave(const hy_results *results)
{
    for (const mapping *m = results->first; m; m = m->next)
        munmap(m->ptr, m->bytes);
}

/* ---- with the lock held ---------------------------------------------------------- */

static mapping *find(hy_results *results, const void *ptr)
{
    for (mapping *m = results->first; m; m = m->next)
        if (m->ptr == ptr)
            return m;
    return NULL;
}

static void add_pooled(hy_results *results, int64_t bytes)
{
    __atomic_fetch_add(&results->pooled, bytes, __ATOMIC_RELAXED);
}

/* Pools the mapping (1), or takes it out of the pool (0). */
static void set_pooled(hy_results *results, mapping *m, int pooled)
{
    add_pooled(results, (pooled - m->pooled) * (int64_t)m->now.counted);
    m->pooled = pooled;
}

/* Unmaps a mapping that is pooled and no longer in the list. */
static void unmap_pooled(hy_context *ctx, mapping *m)
{
    set_pooled(ctx->results, m, 0);
    unmap(ctx, ctx->results->device, m);
}

/* Returns the smallest pooled mapping that is large enough, so that a result computed
   again gets its own pages. Among mappings of one size it returns the one with the most
   pages present. It skips mappings with far more pages than `bytes` needs, which a larger
   result will need. */
static mapping *find_pooled(hy_results *results, size_t bytes)
{
    const size_t pages = hy_pages_round(bytes);
    mapping *best      = NULL;

    for (mapping *m = results->first; m; m = m->next)
        if (m->pooled && m->bytes >= bytes && (size_t)m->now.reached / WASTE <= pages &&
            (!best || m->bytes < best->bytes ||
             (m->bytes == best->bytes && m->now.touched > best->now.touched)))
            best = m;
    return best;
}

/* Gives the pages that the pooled mapping got during the present call back to the
   system. */
static void give_back(hy_context *ctx, mapping *m)
{
    hy_backend *device = ctx->results->device;
    const size_t begin = hy_pages_of(m->bytes, (size_t)m->before.reached);

    for (size_t k = 0; k < m->pieces; k++) {
        const size_t at  = k * device->ops->pin_bytes;
        const size_t end = hy_smaller(at + device->ops->pin_bytes, m->bytes);
        if (m->pinned[k] && end > begin) {
            device->ops->unpin(device, m->ptr + at);
            m->pinned[k] = 0;
        }
    }
    if (begin < m->bytes)
        madvise(m->ptr + begin, m->bytes - begin, MADV_DONTNEED);
    const size_t less = m->now.counted - m->before.counted;
    hy_meter_release(&ctx->memory.meter, less);
    add_pooled(ctx->results, -(int64_t)less);
    m->now = m->before;
}

/* Keeps the pooled mappings that were released last: at most `most`, for which the meter
   counts at most `bytes` bytes in all. Unmaps the other pooled mappings. */
static void pool_at_most(hy_context *ctx, int most, int64_t bytes)
{
    mapping **link = &ctx->results->first;

    while (*link) {
        mapping *m = *link;
        bytes -= m->pooled ? (int64_t)m->now.counted : 0;
        if (m->pooled && (most-- <= 0 || bytes < 0)) {
            *link = m->next;
            unmap_pooled(ctx, m);
        } else {
            link = &m->next;
        }
    }
}

/* Marks the mapping as used by the present call. The first use in a call saves the
   extent. */
static void begin_use(const hy_context *ctx, mapping *m)
{
    if (m->call != ctx->call)
        m->before = m->now;
    m->call = ctx->call;
    set_pooled(ctx->results, m, 0);
}

static void push(hy_results *results, mapping *m)
{
    m->next        = results->first;
    results->first = m;
}

static void take_out(hy_results *results, const mapping *m)
{
    mapping **link = &results->first;

    while (*link != m)
        link = &(*link)->next;
    *link = m->next;
}

/* ---- the pages ------------------------------------------------------------------- */

static size_t pin_bytes(const hy_results *results)
{
    return results->device ? results->device->ops->pin_bytes : 0;
}

static hybrid_status map_new(hy_context *ctx, size_t bytes, const char *what,
                             mapping **out)
{
    const size_t rounded = hy_pages_round(bytes);
    const size_t piece   = pin_bytes(ctx->results);
    const size_t pieces  = /* a result smaller than one piece is not pinned */
        piece > 0 && rounded >= piece ? (rounded + piece - 1) / piece : 0;
    void *memory;

    HY_TRY(hy_array(ctx, 1, sizeof(mapping) + pieces, "a result", &memory));
    mapping *m = memory;
    memset(m, 0, sizeof(mapping) + pieces);
    m->bytes  = rounded;
    m->pieces = pieces;
    m->call   = ctx->call;
    m->ptr    = hy_pages_map(rounded);
    if (!m->ptr) {
        const int error = errno;
        hy_array_free(ctx, m);
        return hy_address_space_full(ctx, what, (int64_t)rounded, strerror(error));
    }
    if (ctx->pool)
        hy_topology_spread(hy_pool_topology(ctx->pool), m->ptr, rounded);
    *out = m;
    return HYBRID_OK;
}

hybrid_status hy_results_reserve(hy_context *ctx, size_t bytes, const char *what,
                                 hy_span *out)
{
    hy_results *results = ctx->results;
    mapping *m;

    *out = (hy_span){0};
    if (bytes == 0)
        return HYBRID_OK;
    if (bytes > INT64_MAX / 2 || hy_memory_fails(&ctx->memory))
        return hy_address_space_full(
            ctx, what, bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes, NULL);
    pthread_mutex_lock(&results->lock);
    m = find_pooled(results, bytes);
    if (m)
        begin_use(ctx, m);
    pthread_mutex_unlock(&results->lock);
    if (!m) {
        HY_TRY(map_new(ctx, bytes, what, &m));
        pthread_mutex_lock(&results->lock);
        push(results, m);
        begin_use(ctx, m);
        pthread_mutex_unlock(&results->lock);
    }
    *out = (hy_span){.ptr     = m->ptr,
                     .bytes   = m->bytes,
                     .touched = m->now.touched,
                     .counted = m->now.counted,
                     .piece   = m->pieces > 0 ? pin_bytes(results) : 0,
                     .pinned  = m->pinned,
                     .what    = what,
                     .reached = &m->now.reached};
    return HYBRID_OK;
}

/* ---- pinning --------------------------------------------------------------------- */

void hy_results_pin_for(hy_context *ctx, hy_backend *device, int several)
{
    hy_results_trim(ctx);
    ctx->results->device  = device;
    ctx->results->several = several;
}

int hy_results_pin_alone(const hy_context *ctx)
{
    return ctx->results->several;
}

void hy_results_pin(hy_context *ctx, const hy_span *span, size_t k)
{
    hy_backend *device = ctx->results->device;
    const size_t at    = k * span->piece;

    if (span->piece == 0 || at >= span->touched ||
        __atomic_load_n(&span->pinned[k], __ATOMIC_ACQUIRE))
        return;
    const size_t left  = span->bytes - at;
    const size_t bytes = left < span->piece ? left : span->piece;
    if (at + bytes > span->touched && ctx->memory.strict)
        return; /* under a budget of host memory, a piece is pinned only if all its pages
                   are present: pinning would make the rest present, and the meter would
                   not count it */
    hy_span_reach(span, at + bytes);
    if (device->ops->pin(device, span->ptr + at, bytes) == HYBRID_OK)
        __atomic_store_n(&span->pinned[k], 1, __ATOMIC_RELEASE);
}

hybrid_status hy_results_use(hy_context *ctx, hy_span *span, size_t bytes)
{
    if (bytes <= span->counted)
        return HYBRID_OK;
    const size_t pages = hy_pages_of(span->bytes, bytes);
    if (bytes > span->bytes || !hy_memory_count(ctx, pages - span->counted))
        return hy_memory_full(ctx, span->what,
                              (int64_t)(bytes > span->total ? bytes : span->total),
                              span->remedy);
    span->counted = pages;
    hy_span_reach(span, bytes);
    pthread_mutex_lock(&ctx->results->lock);
    find(ctx->results, span->ptr)->now.counted = pages;
    pthread_mutex_unlock(&ctx->results->lock);
    return HYBRID_OK;
}

void hy_results_hand_out(hy_context *ctx, hy_span *span, size_t used)
{
    if (!span->ptr)
        return;
    pthread_mutex_lock(&ctx->results->lock);
    mapping *m = find(ctx->results, span->ptr);
    if (used > m->now.touched)
        m->now.touched = used;
    pthread_mutex_unlock(&ctx->results->lock);
}

int hy_results_release(hy_context *ctx, void *ptr)
{
    hy_results *results = ctx->results;
    const int64_t cap   = hy_meter_cap(&ctx->memory.meter);

    if (!ptr)
        return 0;
    pthread_mutex_lock(&results->lock);
    mapping *m      = find(results, ptr);
    const int found = m && !m->pooled;
    if (found) {
        take_out(results, m);
        push(results, m);
        set_pooled(results, m, 1);
        pool_at_most(ctx, POOLED_MOST, cap > 0 ? cap / POOLED_SHARE : INT64_MAX);
    }
    pthread_mutex_unlock(&results->lock);
    return found;
}

int64_t hy_results_pooled_bytes(const hy_results *results)
{
    return __atomic_load_n(&results->pooled, __ATOMIC_RELAXED);
}

void hy_results_trim(hy_context *ctx)
{
    pthread_mutex_lock(&ctx->results->lock);
    pool_at_most(ctx, 0, 0);
    pthread_mutex_unlock(&ctx->results->lock);
}

void hy_results_undo(hy_context *ctx)
{
    hy_results *results = ctx->results;

    pthread_mutex_lock(&results->lock);
    for (mapping *m = results->first, *next; m; m = next) {
        next = m->next;
        if (!m->pooled || m->call != ctx->call)
            continue;
        if (m->before.reached > 0) {
            give_back(ctx, m);
        } else {
            take_out(results, m);
            unmap_pooled(ctx, m);
        }
    }
    pthread_mutex_unlock(&results->lock);
}
