/* base/memory/pinned.c - pins memory of the caller, and copies from and to it. */
#include "base/memory/pinned.h"

#include <pthread.h>
#include <string.h>

#include "base/contract/backend.h"
#include "base/memory/pages.h"
#include "base/threads/pool.h"
#include "base/memory/shortage.h"

enum { TOUCHED = 8 << 20 /* bytes whose pages one worker makes present at a time */ };

/* ---- pieces ---------------------------------------------------------------------- */

/* Returns how many of the `bytes` bytes at ptr lie in the piece that contains ptr. Pieces
   of pinned memory end at multiples of range_bytes. */
static size_t in_piece(const hy_backend *device, const void *ptr, size_t bytes)
{
    const size_t piece = device->ops->range_bytes;
    const size_t left  = piece - (uintptr_t)ptr % piece;
    return bytes < left ? bytes : left;
}

static int64_t count_pieces(const hy_backend *device, const hy_pin *pin)
{
    const uintptr_t piece = device->ops->range_bytes, begin = (uintptr_t)pin->ptr;
    return (int64_t)((begin + pin->bytes - 1) / piece - begin / piece + 1);
}

/* Returns piece k of the range. Piece 0 begins at the start of the range. */
static hy_pin piece_of(const hy_backend *device, const hy_pin *pin, int64_t k)
{
    const size_t first = in_piece(device, pin->ptr, pin->bytes);
    const size_t at    = k == 0 ? 0 : first + (size_t)(k - 1) * device->ops->range_bytes;
    return (hy_pin){pin->ptr + at, in_piece(device, pin->ptr + at, pin->bytes - at)};
}

typedef struct pinning {
    hy_backend *device;
    const hy_pin *pin;
    unsigned char *done; /* one flag per piece: 1 once it is pinned; NULL: all pieces are
                            pinned */
} pinning;

static hybrid_status pin_pieces(void *arg, int part, int64_t begin, int64_t end)
{
    const pinning *p = arg;

    (void)part;
    for (int64_t k = begin; k < end; k++) {
        const hy_pin piece = piece_of(p->device, p->pin, k);
        HY_TRY(p->device->ops->pin(p->device, piece.ptr, piece.bytes));
        p->done[k] = 1;
    }
    return HYBRID_OK;
}

/* Unpins all pieces that are pinned. The calling thread does so alone, because parallel
   loops end early once a call fails or is cancelled. */
static void unpin_pieces(const pinning *p)
{
    const int64_t pieces = count_pieces(p->device, p->pin);

    for (int64_t k = 0; k < pieces; k++)
        if (!p->done || p->done[k])
            p->device->ops->unpin(p->device, piece_of(p->device, p->pin, k).ptr);
}

static hybrid_status touch(void *arg, int part, int64_t begin, int64_t end)
{
    const hy_pin *pin = arg;

    (void)part;
    hy_pages_touch(pin->ptr + begin, (size_t)(end - begin));
    return HYBRID_OK;
}

/* Pins all pieces of the range, or none. */
static hybrid_status pin_all(hy_context *ctx, const hy_pin *pin)
{
    hy_backend *device = ctx->pins.device;
    void *done;

    if (!device)
        return HYBRID_OK;
    const int64_t pieces = count_pieces(device, pin);
    hy_pin pages         = *pin;
    HY_TRY(hy_pool_for(ctx->pool, HY_COMPUTE, 0, (int64_t)pin->bytes, TOUCHED, touch,
                       &pages));
    HY_TRY(hy_array(ctx, pieces, 1, "pieces to be pinned", &done));
    memset(done, 0, (size_t)pieces);
    pinning p = {device, pin, done};
    const hybrid_status status =
        hy_pool_for(ctx->pool, HY_COMPUTE, 0, pieces, 1, pin_pieces, &p);
    if (status != HYBRID_OK)
        unpin_pieces(&p);
    hy_array_free(ctx, done);
    if (status != HYBRID_NO_MEMORY)
        return status;
    const hy_shortage s = {
        .memory = "pinned memory",
        .what   = "the caller's array",
        .bytes  = (int64_t)pin->bytes,
        .facts =
            "the system refuses to pin it, because too much is pinned or a part of the "
            "array is pinned by other means",
        .remedy = "raise the limit on locked memory (ulimit -l)"};
    return hy_short(ctx, HYBRID_NO_MEMORY, &s);
}

static void unpin_all(hy_context *ctx, const hy_pin *pin)
{
    const pinning p = {ctx->pins.device, pin, NULL};

    if (p.device)
        unpin_pieces(&p);
}

/* ---- ranges ---------------------------------------------------------------------- */

/* Returns the number of ranges that begin at or before ptr. */
static size_t count_before(const hy_pins *all, const void *ptr)
{
    size_t low = 0, high = all->count;

    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if ((uintptr_t)all->pins[mid].ptr <= (uintptr_t)ptr)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static hybrid_status make_room(hy_context *ctx, hy_pins *all)
{
    const size_t room = 2 * all->room + 8;
    void *more;

    if (all->count < all->room)
        return HYBRID_OK;
    HY_TRY(hy_array(ctx, (int64_t)room, sizeof(hy_pin), "pinned ranges", &more));
    if (all->count > 0)
        memcpy(more, all->pins, all->count * sizeof(hy_pin));
    hy_array_free(ctx, all->pins);
    all->pins = more;
    all->room = room;
    return HYBRID_OK;
}

/* Returns 1 if the range and the bytes overlap. */
static int meets(const hy_pin *pin, const void *ptr, size_t bytes)
{
    return (uintptr_t)ptr < (uintptr_t)pin->ptr + pin->bytes &&
           (uintptr_t)pin->ptr < (uintptr_t)ptr + bytes;
}

hybrid_status hy_pins_add(hy_context *ctx, void *ptr, size_t bytes)
{
    hy_pins *all     = &ctx->pins;
    const size_t at  = count_before(all, ptr);
    const hy_pin pin = {ptr, bytes};

    for (size_t i = at > 0 ? at - 1 : 0; i < all->count && i <= at; i++)
        if (meets(&all->pins[i], ptr, bytes))
            return hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                           "the range to be pinned (%zu at %p) overlaps the %zu bytes at "
                           "%p that are already pinned; unpin those first",
                           bytes, ptr, all->pins[i].bytes, (void *)all->pins[i].ptr);
    HY_TRY(make_room(ctx, all));
    HY_TRY(pin_all(ctx, &pin));
    memmove(all->pins + at + 1, all->pins + at, (all->count - at) * sizeof pin);
    all->pins[at] = pin;
    all->count++;
    return HYBRID_OK;
}

hybrid_status hy_pins_remove(hy_context *ctx, const void *ptr)
{
    hy_pins *all    = &ctx->pins;
    const size_t at = count_before(all, ptr);

    if (at == 0 || all->pins[at - 1].ptr != ptr)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                       "no pinned memory begins at %p; pass the address that was given "
                       "to hybrid_pin()",
                       ptr);
    unpin_all(ctx, &all->pins[at - 1]);
    memmove(all->pins + at - 1, all->pins + at, (all->count - at) * sizeof(hy_pin));
    all->count--;
    return HYBRID_OK;
}

void hy_pins_close(hy_context *ctx)
{
    hy_pins *all = &ctx->pins;

    for (size_t i = 0; i < all->count; i++)
        unpin_all(ctx, &all->pins[i]);
    hy_array_free(ctx, all->pins);
    memset(all, 0, sizeof *all);
}

/* ---- ranges that are pinned for one run -------------------------------------------- */

/* List of such ranges of all engines, and its lock. A range is listed before it is pinned
   and until it is unpinned. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static hy_run_pin *runs;

/* Returns 1 if an engine other than that of `ctx` has pinned a part of the bytes for a
   run. If `ctx` is NULL, the ranges of all engines count. The caller holds the lock. */
static int is_for_a_run(const hy_context *ctx, const void *ptr, size_t bytes)
{
    for (const hy_run_pin *run = runs; run; run = run->next)
        if (run->ctx != ctx && meets(&run->range, ptr, bytes))
            return 1;
    return 0;
}

static int enlist(hy_run_pin *pin)
{
    pthread_mutex_lock(&lock);
    const int taken = is_for_a_run(NULL, pin->range.ptr, pin->range.bytes);
    if (!taken) {
        pin->next = runs;
        runs      = pin;
    }
    pthread_mutex_unlock(&lock);
    return !taken;
}

static void delist(hy_run_pin *pin)
{
    hy_run_pin **link = &runs;

    pthread_mutex_lock(&lock);
    while (*link != pin)
        link = &(*link)->next;
    *link = pin->next;
    pthread_mutex_unlock(&lock);
    pin->range.bytes = 0;
}

hybrid_status hy_run_pin_add(hy_context *ctx, const void *ptr, size_t bytes,
                             hy_run_pin *out)
{
    *out = (hy_run_pin){.ctx = ctx, .range = {(char *)(uintptr_t)ptr, bytes}};
    if (!enlist(out)) {
        out->range.bytes = 0;
        return HYBRID_OK;
    }
    const hybrid_status status = pin_all(ctx, &out->range);
    if (status != HYBRID_OK)
        delist(out);
    if (status != HYBRID_NO_MEMORY)
        return status;
    hy_message_clear(&ctx->message);
    return HYBRID_OK;
}

void hy_run_pin_remove(hy_run_pin *pin)
{
    if (pin->range.bytes == 0)
        return;
    unpin_all(pin->ctx, &pin->range);
    delist(pin);
}

/* ---- queries and copies ------------------------------------------------------------ */

static int in_range(const hy_pins *all, const void *ptr, size_t bytes)
{
    const size_t at = count_before(all, ptr);

    if (at == 0)
        return 0;
    const hy_pin *pin   = &all->pins[at - 1];
    const size_t before = (size_t)((uintptr_t)ptr - (uintptr_t)pin->ptr);
    return before <= pin->bytes && bytes <= pin->bytes - before;
}

/* Returns 1 if the device finds the bytes pinned, and not by another engine for a run.
   The lock keeps that run from ending in between. */
static int is_found(const hy_context *ctx, const void *ptr, size_t bytes)
{
    hy_backend *device = ctx->pins.device;

    pthread_mutex_lock(&lock);
    const int found = device->ops->pinned(device, ptr, bytes) >= bytes &&
                      !is_for_a_run(ctx, ptr, bytes);
    pthread_mutex_unlock(&lock);
    return found;
}

int hy_pinned(const hy_context *ctx, const void *ptr, size_t bytes)
{
    const hy_backend *device = ctx->pins.device;

    return device && (in_range(&ctx->pins, ptr, bytes) ||
                      (device->ops->pinned && is_found(ctx, ptr, bytes)));
}

/* Enqueues copies between the device and pinned bytes. `pinned` is dst or src, whichever
   is in the caller's memory. */
static hybrid_status copy_bytes(hy_lane *lane, void *dst, const void *src, size_t bytes,
                                const void *pinned)
{
    for (size_t done = 0; done < bytes;) {
        const size_t now =
            in_piece(lane->backend, (const char *)pinned + done, bytes - done);
        HY_TRY(lane->backend->ops->copy(lane, (char *)dst + done,
                                        (const char *)src + done, now));
        done += now;
    }
    return HYBRID_OK;
}

/* ---- rows ------------------------------------------------------------------------ */

/* Returns the number of rows, from the first on, that lie in one piece as a whole. */
static int64_t rows_in_piece(const hy_backend *device, const char *first, size_t pitch,
                             size_t bytes, int64_t rows)
{
    const size_t left = in_piece(device, first, SIZE_MAX);

    if (left < bytes)
        return 0;
    const size_t fit = 1 + (left - bytes) / pitch;
    return fit < (size_t)rows ? (int64_t)fit : rows;
}

/* Returns the copy of the rows from index `first` on. */
static hy_row_copy rows_from(const hy_row_copy *all, int64_t first)
{
    hy_row_copy part = *all;

    part.dst  = (char *)all->dst + (size_t)first * all->dst_pitch;
    part.src  = (const char *)all->src + (size_t)first * all->src_pitch;
    part.rows = all->rows - first;
    return part;
}

int hy_pinned_rows(const hy_context *ctx, const hy_row_copy *rows, int down)
{
    const size_t pitch = down ? rows->dst_pitch : rows->src_pitch;

    return hy_pinned(ctx, down ? rows->dst : rows->src,
                     (size_t)(rows->rows - 1) * pitch + rows->bytes);
}

hybrid_status hy_pinned_copy_rows(hy_lane *lane, const hy_row_copy *rows,
                                  const void *pinned)
{
    const int down     = pinned == rows->dst;
    const size_t pitch = down ? rows->dst_pitch : rows->src_pitch;

    for (int64_t done = 0; done < rows->rows;) {
        hy_row_copy part = rows_from(rows, done);
        const void *at   = down ? part.dst : part.src;
        part.rows        = rows_in_piece(lane->backend, at, pitch, part.bytes, part.rows);
        if (part.rows > 1)
            HY_TRY(lane->backend->ops->copy_rows(lane, &part));
        else /* one row is copied by itself, since it may lie in several pieces of pinned
                memory */
            HY_TRY(copy_bytes(lane, part.dst, part.src, part.bytes, at));
        done += part.rows > 1 ? part.rows : 1;
    }
    return HYBRID_OK;
}
