/* gpu/backend/cuda_memory.cu - blocks of device and pinned memory, pooled when freed. */
#include "gpu/backend/cuda_memory.cuh"

#include <stdio.h>
#include <sys/mman.h>

#include "base/memory/pages.h"
#include "base/threads/pool.h"
#include "base/memory/device_full.h"
#include "base/memory/shortage.h"
#include "base/text/size_text.h"
#include "gpu/backend/cuda_lane.cuh"

/* ---- pinned memory ----

   cudaHostAlloc() makes 2 GB of pages a second, which would take most of the time of a
   first product. It is ten times faster to map memory as huge pages, let all workers
   write to them, and register all of the memory in one call. The pages lie on the
   device's NUMA node, whichever worker touches them. */

static hybrid_status touch(void *arg, int part, int64_t begin, int64_t end)
{
    (void)part;
    for (int64_t at = begin; at < end; at += int64_t(HY_PAGE))
        static_cast<volatile char *>(arg)[at] = 0;
    return HYBRID_OK;
}

static void free_pinned(void *ptr, size_t bytes)
{
    (void)cudaHostUnregister(ptr);
    munmap(ptr, hy_pages_round(bytes));
}

static cudaError_t alloc_pinned(hy_backend *owner, size_t bytes, void **out)
{
    const size_t all = hy_pages_round(bytes);
    char *ptr        = hy_pages_map(all);
    if (!ptr)
        return cudaErrorMemoryAllocation;
    hy_topology_place(hy_pool_topology(owner->ctx->pool), ptr, all, owner->node);
    (void)hy_pool_for(owner->ctx->pool, HY_COMPUTE, 0, int64_t(all),
                      int64_t(HY_HUGE_PAGE), touch, ptr);
    const cudaError_t error =
        cudaHostRegister(ptr, all, cudaHostRegisterPortable | cudaHostRegisterMapped);
    if (error != cudaSuccess)
        munmap(ptr, all);
    *out = error == cudaSuccess ? ptr : nullptr;
    return error;
}

/* ---- blocks ---- */

static hy_meter *meter_of(hy_backend *owner, hy_space space)
{
    return space == HY_DEVICE ? &owner->device : &owner->pinned;
}

/* Counts memory against the budget of its kind. Pinned memory is host memory: it counts
   against the budget of host memory, too. Returns 0 if a budget has no room. */
static int count(hy_backend *owner, hy_space space, size_t bytes)
{
    if (space == HY_PINNED && !hy_memory_count(owner->ctx, bytes))
        return 0;
    if (hy_meter_charge(meter_of(owner, space), bytes))
        return 1;
    if (space == HY_PINNED)
        hy_meter_release(&owner->ctx->memory.meter, bytes);
    return 0;
}

static void uncount(hy_backend *owner, hy_space space, size_t bytes)
{
    hy_meter_release(meter_of(owner, space), bytes);
    if (space == HY_PINNED)
        hy_meter_release(&owner->ctx->memory.meter, bytes);
}

/* Frees the block that *link points to, and removes it from the list. Errors are ignored,
   because the memory may already be lost with the device. */
static void drop(hy_backend *owner, hy_cuda_block **link)
{
    hy_cuda_block *gone = *link;
    *link               = gone->next;
    if (gone->space == HY_DEVICE)
        (void)cudaFree(gone->ptr);
    else
        free_pinned(gone->ptr, gone->bytes);
    (void)cudaGetLastError();
    uncount(owner, gone->space, gone->bytes);
    hy_array_free(owner->ctx, gone);
}

static void drop_pooled(hy_block_list *list, hy_backend *owner, hy_space space,
                        int64_t since)
{
    for (hy_cuda_block **link = &list->first; *link;)
        if ((*link)->pooled && (*link)->space == space && (*link)->call >= since)
            drop(owner, link);
        else
            link = &(*link)->next;
}

/* Returns the smallest pooled block with at least `bytes` and at most twice as many
   bytes; NULL if there is none. */
static hy_cuda_block *find_pooled(const hy_block_list *list, hy_space space, size_t bytes)
{
    hy_cuda_block *best = nullptr;
    for (hy_cuda_block *at = list->first; at; at = at->next)
        if (at->pooled && at->space == space && at->bytes >= bytes &&
            at->bytes - bytes <= bytes && (!best || at->bytes < best->bytes))
            best = at;
    return best;
}

/* Allocates memory and counts it against the budget (on its meter). Returns NULL if the
   allocation fails, or if the budget has no room, and then sets *is_full to 1. */
static void *take(hy_backend *owner, hy_space space, size_t bytes, int *is_full)
{
    void *ptr = nullptr;
    *is_full  = !count(owner, space, bytes);
    if (*is_full)
        return nullptr;
    const cudaError_t error =
        space == HY_DEVICE ? cudaMalloc(&ptr, bytes) : alloc_pinned(owner, bytes, &ptr);
    if (error == cudaSuccess)
        return ptr;
    (void)cudaGetLastError();
    uncount(owner, space, bytes);
    return nullptr;
}

static hybrid_status not_pinned(hy_backend *owner, const char *what, size_t bytes)
{
    hy_shortage s = {};

    s.memory = "pinned memory";
    s.what   = what;
    s.bytes  = (int64_t)bytes;
    s.meter  = &owner->pinned;
    s.facts  = "the system refuses to pin it";
    s.remedy = "raise the limit on locked memory (ulimit -l), or free some memory on "
               "this machine";
    return hy_short(owner->ctx, HYBRID_NO_MEMORY, &s);
}

static hybrid_status no_room(hy_backend *owner, hy_space space, const char *what,
                             size_t bytes, int is_full)
{
    size_t free = 0, all = 0;
    char facts[96];

    if (space != HY_DEVICE)
        return is_full ? hy_memory_full(owner->ctx, what, int64_t(bytes), "")
                       : not_pinned(owner, what, bytes);
    (void)cudaMemGetInfo(&free, &all);
    (void)cudaGetLastError();
    snprintf(facts, sizeof facts, "%s of the %s of the device is free",
             hy_size((int64_t)free).s, hy_size((int64_t)all).s);
    return hy_device_full(owner, &owner->device, what, (int64_t)bytes, facts,
                          ", or free some GPU memory");
}

/* Takes memory; frees pooled blocks if there is none left. Does not hold the lock of the
   list while memory is made, because pinning takes long. */
static void *take_or_trim(hy_block_list *list, hy_backend *owner, hy_space space,
                          size_t bytes, int *is_full)
{
    void *ptr = take(owner, space, bytes, is_full);
    if (ptr)
        return ptr;
    pthread_mutex_lock(&list->lock);
    drop_pooled(list, owner, space, 0);
    pthread_mutex_unlock(&list->lock);
    return take(owner, space, bytes, is_full);
}

static hybrid_status new_block(hy_block_list *list, hy_backend *owner, hy_space space,
                               size_t bytes, const char *what, void **out)
{
    void *record = nullptr;
    int is_full  = 0;
    HY_TRY(hy_array(owner->ctx, 1, sizeof(hy_cuda_block), "a block's record", &record));
    void *ptr = take_or_trim(list, owner, space, bytes, &is_full);
    if (!ptr) {
        hy_array_free(owner->ctx, record);
        HY_TRY(hy_cuda_works(hy_cuda_mine(owner), "allocating memory"));
        return no_room(owner, space, what, bytes, is_full);
    }
    hy_cuda_block *block = static_cast<hy_cuda_block *>(record);
    pthread_mutex_lock(&list->lock);
    *block      = hy_cuda_block{ptr, bytes, space, false, owner->ctx->call, list->first};
    list->first = block;
    pthread_mutex_unlock(&list->lock);
    *out = ptr;
    return HYBRID_OK;
}

/* Returns the memory of a pooled block, which is taken out of the pool; NULL if there is
   none. */
static void *take_pooled(hy_block_list *list, hy_space space, size_t bytes)
{
    pthread_mutex_lock(&list->lock);
    hy_cuda_block *found = find_pooled(list, space, bytes);
    if (found)
        found->pooled = false;
    pthread_mutex_unlock(&list->lock);
    return found ? found->ptr : nullptr;
}

void hy_blocks_open(hy_block_list *list)
{
    pthread_mutex_init(&list->lock, nullptr);
    list->first = nullptr;
}

void hy_blocks_close(hy_block_list *list, hy_backend *owner)
{
    while (list->first)
        drop(owner, &list->first);
    pthread_mutex_destroy(&list->lock);
}

hybrid_status hy_blocks_alloc(hy_block_list *list, hy_backend *owner, hy_space space,
                              size_t bytes, const char *what, hy_buffer *out)
{
    *out = hy_buffer{nullptr, 0, space};
    if (hy_memory_fails(&owner->ctx->memory))
        return no_room(owner, space, what, bytes, 0);
    if (bytes == 0)
        return HYBRID_OK;

    void *ptr = take_pooled(list, space, bytes);
    if (!ptr)
        HY_TRY(new_block(list, owner, space, bytes, what, &ptr));
    *out = hy_buffer{ptr, bytes, space};
    return HYBRID_OK;
}

void hy_blocks_free(hy_block_list *list, hy_buffer *buffer)
{
    pthread_mutex_lock(&list->lock);
    for (hy_cuda_block *at = list->first; at && buffer->ptr; at = at->next)
        if (at->ptr == buffer->ptr)
            at->pooled = true;
    pthread_mutex_unlock(&list->lock);
    *buffer = hy_buffer{};
}

void hy_blocks_trim(hy_block_list *list, hy_backend *owner, int64_t since)
{
    pthread_mutex_lock(&list->lock);
    drop_pooled(list, owner, HY_DEVICE, since);
    drop_pooled(list, owner, HY_PINNED, since);
    pthread_mutex_unlock(&list->lock);
}
