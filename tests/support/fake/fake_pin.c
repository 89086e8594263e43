/* tests/support/fake/fake_pin.c - memory of callers that is pinned for fake devices.
   Memory is pinned for all engines of the process, as CUDA pins it. */
#include <pthread.h>
#include <stdlib.h>

#include "tests/support/fake/fake_backend.h"
#include "tests/support/fake/fake_lane.h"

/* Memory that the engine of `ctx` has pinned. */
typedef struct range {
    struct range *next;
    char *ptr;
    size_t bytes;
    const hy_context *ctx;
} range;

/* List of the memory that is pinned, and its lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static range *ranges;

static int64_t pins, direct;

int64_t fake_pins(void)
{
    return __atomic_load_n(&pins, __ATOMIC_RELAXED);
}

int64_t fake_pinned_now(void)
{
    int64_t count = 0;

    pthread_mutex_lock(&lock);
    for (const range *r = ranges; r; r = r->next)
        count++;
    pthread_mutex_unlock(&lock);
    return count;
}

int64_t fake_direct(void)
{
    return __atomic_load_n(&direct, __ATOMIC_RELAXED);
}

/* Returns 1 if any of the `bytes` bytes is pinned. The calling function must hold the
   lock. */
static int meets(const void *ptr, size_t bytes)
{
    const uintptr_t begin = (uintptr_t)ptr;

    for (const range *r = ranges; r; r = r->next)
        if (begin < (uintptr_t)r->ptr + r->bytes && (uintptr_t)r->ptr < begin + bytes)
            return 1;
    return 0;
}

/* Returns NO_MEMORY if any of the memory is pinned already. */
hybrid_status fake_pin(hy_backend *base, void *ptr, size_t bytes)
{
    range *r = malloc(sizeof *r);

    if (!r || bytes == 0 || bytes > FAKE_PIN_BYTES)
        abort();
    pthread_mutex_lock(&lock);
    const int is_pinned = meets(ptr, bytes);
    if (!is_pinned) {
        *r     = (range){ranges, ptr, bytes, base->ctx};
        ranges = r;
    }
    pthread_mutex_unlock(&lock);
    if (is_pinned) {
        free(r);
        return HYBRID_NO_MEMORY;
    }
    fake_count(1);
    __atomic_fetch_add(&pins, 1, __ATOMIC_RELAXED);
    return HYBRID_OK;
}

size_t fake_pinned(hy_backend *base, const void *ptr, size_t bytes)
{
    const uintptr_t begin = (uintptr_t)ptr;
    size_t left           = 0;

    (void)base;
    pthread_mutex_lock(&lock);
    for (const range *r = ranges; r; r = r->next)
        if (begin >= (uintptr_t)r->ptr && begin < (uintptr_t)r->ptr + r->bytes)
            left = r->bytes - (begin - (uintptr_t)r->ptr);
    pthread_mutex_unlock(&lock);
    return bytes < left ? bytes : left;
}

void fake_unpin(hy_backend *base, void *ptr)
{
    pthread_mutex_lock(&lock);
    range **link = &ranges;
    while (*link && ((*link)->ptr != ptr || (*link)->ctx != base->ctx))
        link = &(*link)->next;
    range *r = *link;
    if (!r) /* the range was never pinned, or is unpinned already */
        abort();
    *link = r->next;
    pthread_mutex_unlock(&lock);
    free(r);
    fake_count(-1);
}

int fake_pin_direct(const hy_backend *base, const void *ptr, size_t bytes, size_t used)
{
    const uintptr_t begin = (uintptr_t)ptr;
    int found             = 0;

    (void)base;
    pthread_mutex_lock(&lock);
    for (const range *r = ranges; r && !found; r = r->next)
        found =
            begin >= (uintptr_t)r->ptr && begin + bytes <= (uintptr_t)r->ptr + r->bytes;
    pthread_mutex_unlock(&lock);
    if (found)
        __atomic_fetch_add(&direct, (int64_t)used, __ATOMIC_RELAXED);
    return found;
}
