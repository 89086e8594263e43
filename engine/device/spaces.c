/* engine/device/spaces.c - finds operands in device memory and makes views of them. */
#include "engine/device/spaces.h"

#include <sched.h>
#include <string.h>

#include "base/threads/clock.h"
#include "base/data/csr.h"
#include "base/memory/results.h"
#include "partition/move/sources.h"

void hy_spaces_init(hy_spaces *spaces, hy_context *ctx, hy_backend *const *devices,
                    const int *device_count, const char *why)
{
    *spaces = (hy_spaces){.ctx          = ctx,
                          .devices      = devices,
                          .device_count = device_count,
                          .why          = why,
                          .piece        = HY_SPACES_PIECE};
}

/* ---- where operands are ---------------------------------------------------------- */

static hy_held held_by(hy_backend *device, const void *ptr)
{
    return device->ops->holds ? device->ops->holds(device, ptr) : HY_HELD_NOT;
}

/* Returns where `ptr` points as the engine's devices see it: HY_HELD_OTHER if every
   device sees memory of another device; else the answer of the first device that does
   not; HY_HELD_NOT if the engine has no device. */
static hy_held held_by_any(const hy_spaces *spaces, const void *ptr)
{
    hy_held held = HY_HELD_OTHER;

    for (int i = 0; i < *spaces->device_count && held == HY_HELD_OTHER; i++)
        held = held_by(spaces->devices[i], ptr);
    return *spaces->device_count > 0 ? held : HY_HELD_NOT;
}

/* Returns the first device, or NULL if the engine has none or its backend cannot take
   operands in device memory. */
static hy_backend *first_of(const hy_spaces *spaces)
{
    return *spaces->device_count > 0 && spaces->devices[0]->ops->holds
               ? spaces->devices[0]
               : NULL;
}

static hybrid_status no_device(hy_spaces *spaces, const char *name, const char *verb)
{
    return hy_fail(spaces->ctx, HYBRID_UNSUPPORTED,
                   "%s %s in device memory, but this engine computes on the CPU only "
                   "(%s); open the engine with HYBRID_CUDA",
                   name, verb, spaces->why);
}

static int was_on_host(const hy_spaces *spaces, const void *ptr)
{
    for (unsigned i = 0; i < HY_SPACES_SEEN; i++)
        if (spaces->host[i] == ptr)
            return 1;
    return 0;
}

/* Checks that the array is in host memory. Addresses that were found there in recent
   calls are not asked for again: they can only become device memory if the caller frees
   them and then allocates on a device. A call with operands in device memory forgets all
   such addresses. */
static hybrid_status check_host(hy_spaces *spaces, const void *ptr, const char *name,
                                const char *array)
{
    if (was_on_host(spaces, ptr))
        return HYBRID_OK;
    const hy_held held = held_by_any(spaces, ptr);
    if (held == HY_HELD_DEVICE)
        return hy_fail(spaces->ctx, HYBRID_BAD_ARGUMENT,
                       "%s is declared to be in host memory, but its %s are in device "
                       "memory: set its space to HYBRID_SPACE_DEVICE",
                       name, array);
    if (held == HY_HELD_OTHER)
        return hy_fail(
            spaces->ctx, HYBRID_BAD_ARGUMENT,
            "%s: its %s at %p are in the memory of a device that the engine does not use",
            name, array, ptr);
    spaces->host[spaces->seen++ % HY_SPACES_SEEN] = ptr;
    return HYBRID_OK;
}

/* Returns the device of the engine that holds the memory, or NULL if none does. Sets
   *held to what that device says (HY_HELD_BOTH: managed memory). The device of the
   call's earlier arrays is asked first. */
static hy_backend *find_device(const hy_spaces *spaces, const void *ptr, hy_held *held)
{
    const int count = *spaces->device_count;
    const int first = spaces->device ? spaces->device->index : 0;

    for (int i = 0; i < count; i++) {
        hy_backend *device = spaces->devices[(first + i) % count];
        *held              = held_by(device, ptr);
        if (*held == HY_HELD_DEVICE || *held == HY_HELD_BOTH)
            return device;
    }
    return NULL;
}

/* Makes `device` the device of the call. An array in managed memory chooses the device
   only if no other array does, because every device can use it. */
static hybrid_status bind(hy_spaces *spaces, hy_backend *device, hy_held held,
                          const char *name, const char *array)
{
    if (held == HY_HELD_BOTH && spaces->device)
        return HYBRID_OK;
    if (spaces->is_bound && spaces->device != device)
        return hy_fail(spaces->ctx, HYBRID_UNSUPPORTED,
                       "operands are on two devices: %s of %s are not on the device of "
                       "the other arrays",
                       array, name);
    spaces->is_bound = held == HY_HELD_DEVICE;
    spaces->device   = device;
    return HYBRID_OK;
}

static hybrid_status check_device(hy_spaces *spaces, const void *ptr, const char *name,
                                  const char *array)
{
    hy_held held       = HY_HELD_NOT;
    hy_backend *device = find_device(spaces, ptr, &held);

    if (!device)
        return hy_fail(spaces->ctx, HYBRID_BAD_ARGUMENT,
                       "%s is declared to be in device memory, but its %s at %p are not "
                       "in the memory of a device of the engine",
                       name, array, ptr);
    return bind(spaces, device, held, name, array);
}

static hybrid_status check_array(hy_spaces *spaces, hybrid_space space, const void *ptr,
                                 const char *name, const char *array)
{
    if (!ptr)
        return HYBRID_OK;
    return space == HYBRID_SPACE_DEVICE ? check_device(spaces, ptr, name, array)
                                        : check_host(spaces, ptr, name, array);
}

static hybrid_status begin(hy_spaces *spaces, hybrid_space space, const char *name)
{
    return space == HYBRID_SPACE_DEVICE && !first_of(spaces)
               ? no_device(spaces, name, "is")
               : HYBRID_OK;
}

hybrid_status hy_spaces_csr(hy_spaces *spaces, const hybrid_csr *A, const char *name)
{
    HY_TRY(begin(spaces, A->space, name));
    HY_TRY(check_array(spaces, A->space, A->row_ptr, name, "offsets"));
    if (A->nnz == 0)
        return HYBRID_OK;
    HY_TRY(check_array(spaces, A->space, A->col, name, "columns"));
    return check_array(spaces, A->space, A->val, name, "values");
}

void hy_spaces_planned(hy_spaces *spaces, hy_backend *there)
{
    if (spaces->device && !spaces->is_bound && there)
        spaces->device = there;
}

hybrid_space hy_spaces_find(const hy_spaces *spaces, const void *ptr)
{
    return held_by_any(spaces, ptr) == HY_HELD_DEVICE ? HYBRID_SPACE_DEVICE
                                                      : HYBRID_SPACE_HOST;
}

hybrid_status hy_spaces_dense(hy_spaces *spaces, const hybrid_dense *X, const char *name)
{
    HY_TRY(begin(spaces, X->space, name));
    return X->rows == 0 || X->cols == 0
               ? HYBRID_OK
               : check_array(spaces, X->space, X->data, name, "elements");
}

/* ---- the caller's stream --------------------------------------------------------- */

/* Pauses the calling thread: yields in the first millisecond of waiting, later sleeps 100
   us at a time. A thread that sleeps wakes some 50 us late, which is much for a short
   wait. */
void hy_spaces_rest(int64_t waited_ns)
{
    enum { AWAKE_NS = 1000000, ASLEEP_NS = 100000 };
    const struct timespec asleep = {.tv_nsec = ASLEEP_NS};

    if (waited_ns < AWAKE_NS)
        sched_yield();
    else
        nanosleep(&asleep, NULL);
}

hybrid_status hy_spaces_wait(hy_spaces *spaces)
{
    hy_backend *device  = spaces->device;
    const int64_t begin = device ? hy_now_ns() : 0;
    int reached         = 0;

    if (!device)
        return HYBRID_OK;
    HY_TRY(device->ops->follow(device, spaces->stream));
    HY_TRY(device->ops->reached(device, &reached));
    while (!reached) {
        HY_TRY(hy_progress_check(&spaces->ctx->progress));
        hy_spaces_rest(hy_now_ns() - begin);
        HY_TRY(device->ops->reached(device, &reached));
    }
    return HYBRID_OK;
}

/* ---- which device computes ------------------------------------------------------- */

hybrid_status hy_spaces_options(hy_spaces *spaces, int of_dense,
                                hybrid_plan_options *options)
{
    const int asked = options->result_space == HYBRID_SPACE_DEVICE ||
                      (of_dense && options->x_space == HYBRID_SPACE_DEVICE);

    if (!spaces->device && !asked)
        return HYBRID_OK;
    if (!spaces->device)
        spaces->device = first_of(spaces);
    if (!spaces->device)
        return no_device(spaces, "X or the result", "is to be");
    if (options->split == HYBRID_SPLIT_HOST || options->split == HYBRID_SPLIT_SHARE)
        return hy_fail(spaces->ctx, HYBRID_UNSUPPORTED,
                       "operands or the result are in device memory, so that the GPU "
                       "computes alone, but split gives work to the CPU; set split to "
                       "HYBRID_SPLIT_DEFAULT");
    options->split = HYBRID_SPLIT_GPU;
    return HYBRID_OK;
}

/* ---- views ----------------------------------------------------------------------- */

/* Adds A to the operands of the call in device memory. Returns its view. */
static hybrid_csr *add(hy_spaces *spaces, const hybrid_csr *A)
{
    const int i = spaces->count++;

    spaces->from[i] = A;
    spaces->of[i]   = *A;
    return &spaces->of[i];
}

static int same_arrays(const hybrid_csr *A, const hybrid_csr *B)
{
    return A->row_ptr == B->row_ptr && A->col == B->col && A->nnz == B->nnz &&
           A->rows == B->rows && A->offset_type == B->offset_type &&
           A->col_type == B->col_type;
}

static hybrid_csr *find(hy_spaces *spaces, const hybrid_csr *A)
{
    for (int i = 0; i < spaces->count; i++)
        if (spaces->from[i] == A)
            return &spaces->of[i];
    return NULL;
}

/* Returns 1 if the call has one view so far, of an operand with the same offsets and
   columns as A. */
static int shares(const hy_spaces *spaces, const hybrid_csr *A)
{
    return spaces->count == 1 && same_arrays(spaces->from[0], A);
}

static hybrid_status fetch_array(hy_spaces *spaces, const char *from, int64_t count,
                                 size_t size, void **copy)
{
    const size_t bytes = (size_t)count * size;
    hy_backend *device = spaces->device;

    HY_TRY(hy_results_array(spaces->ctx, count, size, "a pattern", copy));
    for (size_t at = 0; at < bytes; at += spaces->piece) {
        const size_t part = hy_smaller(bytes - at, spaces->piece);
        HY_TRY(hy_progress_check(&spaces->ctx->progress));
        HY_TRY(device->ops->fetch(device, (char *)*copy + at, from + at, part));
        spaces->fetched += (int64_t)part;
    }
    return HYBRID_OK;
}

static hybrid_status fetch_pattern(hy_spaces *spaces, const hybrid_csr *A, int i)
{
    HY_TRY(fetch_array(spaces, A->row_ptr, A->rows + 1, hy_offset_size(A),
                       &spaces->offsets[i]));
    return fetch_array(spaces, A->col, A->nnz, hy_col_size(A), &spaces->columns[i]);
}

hybrid_status hy_spaces_fetch(hy_spaces *spaces, const hybrid_csr **A)
{
    const int i      = spaces->count;
    const int same   = shares(spaces, *A);
    hybrid_csr *view = find(spaces, *A);

    if ((*A)->space != HYBRID_SPACE_DEVICE)
        return HYBRID_OK;
    if (!view) {
        if (!same)
            HY_TRY(fetch_pattern(spaces, *A, i));
        view          = add(spaces, *A);
        view->row_ptr = spaces->offsets[same ? 0 : i];
        view->col     = spaces->columns[same ? 0 : i];
    }
    *A = view;
    return HYBRID_OK;
}

void hy_spaces_view(hy_spaces *spaces, const hybrid_csr **A, void *offsets,
                    hybrid_index type)
{
    hybrid_csr *view = find(spaces, *A);

    if ((*A)->space != HYBRID_SPACE_DEVICE)
        return;
    if (!view) {
        view              = add(spaces, *A);
        view->row_ptr     = offsets;
        view->offset_type = type;
        view->col_type    = HYBRID_I32; /* the view for a run has no columns */
    }
    *A = view;
}

const hybrid_csr *hy_spaces_of(const hy_spaces *spaces, const hybrid_csr *view)
{
    for (int i = 0; i < spaces->count; i++)
        if (spaces->of[i].row_ptr == view->row_ptr && spaces->of[i].val == view->val)
            return spaces->from[i];
    return NULL;
}

hy_source hy_spaces_source(const hy_spaces *spaces, const hybrid_csr *A)
{
    hy_source source = hy_source_csr(spaces->ctx, A);

    source.on_device.csr = hy_spaces_of(spaces, A);
    return source;
}

void *hy_spaces_move_offsets(hy_spaces *spaces, const hybrid_csr *view)
{
    void *taken = NULL;

    for (int i = 0; i < spaces->count; i++)
        if (spaces->offsets[i] && spaces->offsets[i] == view->row_ptr) {
            taken              = spaces->offsets[i];
            spaces->offsets[i] = NULL;
        }
    return taken;
}

hybrid_status hy_spaces_hash(hy_spaces *spaces, const hybrid_csr *A, uint64_t *out)
{
    const hybrid_csr *there = hy_spaces_of(spaces, A);
    hy_backend *device      = spaces->device;

    return there ? device->ops->hash(device, there, out)
                 : hy_csr_hash(spaces->ctx, A, out);
}

void hy_spaces_end(hy_spaces *spaces)
{
    for (int i = 0; i < HY_SPACES_MOST; i++) {
        hy_results_release(spaces->ctx, spaces->offsets[i]);
        hy_results_release(spaces->ctx, spaces->columns[i]);
        spaces->offsets[i] = spaces->columns[i] = NULL;
    }
    if (spaces->device)
        memset(spaces->host, 0, sizeof spaces->host);
    spaces->device   = NULL;
    spaces->is_bound = 0;
    spaces->count    = 0;
    spaces->fetched  = 0;
}
