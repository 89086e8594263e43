/* tests/support/fake/fake_memory.c - memory of the fake devices outside the engine. */
#include "tests/support/fake/fake_memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/data/csr.h"
#include "base/memory/device_full.h"
#include "tests/support/fake/fake_backend.h"
#include "tests/support/check/poison.h"

enum { STREAMS = 4 };
enum { NOWHERE = -1 };

typedef struct array {
    struct array *next;
    int device;
    char *pages, *ptr;
    size_t mapped, bytes;
} array;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static array *arrays;
static int opened;
static int64_t alive, fetched, asked, stream_asks;
static struct {
    const void *stream;
    int64_t times;
} streams[STREAMS];

int64_t fake_memory_alive(void)
{
    return __atomic_load_n(&alive, __ATOMIC_RELAXED);
}

int64_t fake_asked(void)
{
    return __atomic_load_n(&asked, __ATOMIC_RELAXED);
}

int64_t fake_fetched(void)
{
    return __atomic_load_n(&fetched, __ATOMIC_RELAXED);
}

int64_t fake_followed(const void *stream)
{
    int64_t times = 0;

    for (int i = 0; i < STREAMS; i++)
        times += streams[i].stream == stream ? streams[i].times : 0;
    return times;
}

void fake_stream_asks(int64_t asks)
{
    stream_asks = asks;
}

/* ---- arrays ---- */

/* Lets the host touch the pages of an array only between fake_memory_open() and
   fake_memory_close(). Managed memory is never protected. The calling function must hold
   `lock`. */
static void protect(const array *a)
{
    if (a->device == FAKE_MANAGED)
        return;
    if (mprotect(a->pages, a->mapped, opened ? PROT_READ | PROT_WRITE : PROT_NONE) != 0)
        abort();
}

void fake_memory_open(void)
{
    pthread_mutex_lock(&lock);
    if (opened++ == 0)
        for (const array *a = arrays; a; a = a->next)
            protect(a);
    pthread_mutex_unlock(&lock);
}

void fake_memory_close(void)
{
    pthread_mutex_lock(&lock);
    if (--opened == 0)
        for (const array *a = arrays; a; a = a->next)
            protect(a);
    pthread_mutex_unlock(&lock);
}

void *fake_memory(int device, const void *from, size_t bytes, size_t skew)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    array *a          = malloc(sizeof *a);

    if (!a)
        abort();
    *a        = (array){.device = device, .bytes = bytes};
    a->mapped = (bytes + skew + page) / page * page;
    a->pages =
        mmap(NULL, a->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (a->pages == MAP_FAILED)
        abort();
    a->ptr = a->pages + skew;
    if (from)
        memcpy(a->ptr, from, bytes);
    else
        memset(a->ptr, POISON, bytes);
    pthread_mutex_lock(&lock);
    a->next = arrays;
    arrays  = a;
    protect(a);
    alive++;
    pthread_mutex_unlock(&lock);
    return a->ptr;
}

void fake_memory_free(void *ptr)
{
    array **link = &arrays;

    if (!ptr)
        return;
    pthread_mutex_lock(&lock);
    while (*link && (*link)->ptr != ptr)
        link = &(*link)->next;
    array *a = *link;
    if (!a) /* fake_memory() never allocated the array, or it is freed already */
        abort();
    *link = a->next;
    alive--;
    pthread_mutex_unlock(&lock);
    munmap(a->pages, a->mapped);
    free(a);
}

/* Returns the number of the device that has all `bytes` bytes in one array; FAKE_MANAGED
   if it is managed memory; NOWHERE if no array has them. */
static int device_of(const void *ptr, size_t bytes)
{
    const uintptr_t begin = (uintptr_t)ptr;
    int device            = NOWHERE;

    pthread_mutex_lock(&lock);
    for (const array *a = arrays; a && device == NOWHERE; a = a->next)
        if (begin >= (uintptr_t)a->ptr && begin + bytes <= (uintptr_t)a->ptr + a->bytes)
            device = a->device;
    pthread_mutex_unlock(&lock);
    return device;
}

int fake_memory_has(int device, const void *ptr, size_t bytes)
{
    const int has = device_of(ptr, bytes);
    return has == device || has == FAKE_MANAGED;
}

/* ---- functions of the backend ---- */

hy_held fake_holds(hy_backend *self, const void *ptr)
{
    __atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED);
    const int device = device_of(ptr, 1);
    if (device == FAKE_MANAGED)
        return HY_HELD_BOTH;
    if (device < 0)
        return HY_HELD_NOT;
    return device == self->index ? HY_HELD_DEVICE : HY_HELD_OTHER;
}

static hybrid_status not_there(const hy_backend *self, const char *what)
{
    return hy_fail(self->ctx, HYBRID_DEVICE_FAILED,
                   "fake device: %s is not in its memory", what);
}

hybrid_status fake_fetch(hy_backend *self, void *to, const void *from, size_t bytes)
{
    if (!fake_memory_has(self->index, from, bytes))
        return not_there(self, "what is fetched");
    fake_memory_open();
    memcpy(to, from, bytes);
    fake_memory_close();
    __atomic_fetch_add(&fetched, (int64_t)bytes, __ATOMIC_RELAXED);
    return HYBRID_OK;
}

hybrid_status fake_follow(hy_backend *self, void *stream)
{
    (void)self;
    for (int i = 0; i < STREAMS; i++)
        if (streams[i].stream == stream || streams[i].times == 0) {
            streams[i].stream = stream;
            streams[i].times++;
            break;
        }
    return HYBRID_OK;
}

hybrid_status fake_reached(hy_backend *self, int *out)
{
    (void)self;
    *out = stream_asks == 0;
    stream_asks -= stream_asks > 0;
    return HYBRID_OK;
}

static double load(const void *values, hybrid_type type, int64_t k)
{
    return type == HYBRID_F32 ? (double)((const float *)values)[k]
                              : ((const double *)values)[k];
}

static void combine_one(const hy_combining *c, int64_t i, int64_t j)
{
    const int64_t at = i * c->to_row + j * c->to_col;
    const int reads  = j < c->cols && c->alpha != 0;
    const int adds   = j < c->cols && c->beta != 0;
    double sum       = adds ? -0.0 : 0; /* -0 as the first summand leaves every number
                                           unchanged, even -0 */

    if (reads)
        sum = c->alpha * load(c->from, c->type, i * c->from_row + j * c->from_col);
    if (adds)
        sum += c->beta * load(c->to, c->type, at);
    if (c->type == HYBRID_F32)
        ((float *)c->to)[at] = (float)sum;
    else
        ((double *)c->to)[at] = sum;
}

static hybrid_status do_combine(hy_lane *lane, void *arg)
{
    const hy_combining *c = arg;

    (void)lane;
    for (int64_t i = 0; i < c->rows; i++)
        for (int64_t j = 0; j < c->filled; j++)
            combine_one(c, i, j);
    return HYBRID_OK;
}

hybrid_status fake_combine(hy_lane *lane, const hy_combining *c)
{
    return c->rows == 0 || c->filled == 0
               ? HYBRID_OK
               : hy_fake_enqueue_copy(lane, do_combine, c, sizeof *c);
}

/* Returns a copy of A's struct whose column indices are converted to 32 bits. The caller
   frees them. */
static hybrid_csr narrowed(const hybrid_csr *A)
{
    hybrid_csr narrow = *A;
    int32_t *col      = malloc((size_t)A->nnz * 4 + 1);

    if (!col)
        abort();
    for (int64_t k = 0; k < A->nnz; k++)
        col[k] = (int32_t)(A->col_type == HYBRID_I64 ? ((const int64_t *)A->col)[k]
                                                     : ((const int32_t *)A->col)[k]);
    narrow.col      = col;
    narrow.col_type = HYBRID_I32;
    return narrow;
}

hybrid_status fake_hash(hy_backend *self, const hybrid_csr *A, uint64_t *out)
{
    if (!fake_memory_has(self->index, A->row_ptr, (size_t)A->rows * hy_offset_size(A)))
        return not_there(self, "a pattern");
    fake_memory_open();
    const hybrid_csr narrow    = narrowed(A);
    const hybrid_status status = hy_csr_hash(self->ctx, &narrow, out);
    free(narrow.col);
    fake_memory_close();
    return status;
}

hybrid_status fake_keep(hy_backend *self, size_t bytes, const char *what, void **out)
{
    if (hy_memory_fails(&self->ctx->memory))
        return hy_device_full(self, &self->device, what, (int64_t)bytes, NULL, NULL);
    *out = fake_memory(self->index, NULL, bytes, 0);
    return HYBRID_OK;
}

void fake_drop(hy_backend *self, void *ptr)
{
    (void)self;
    fake_memory_free(ptr);
}
