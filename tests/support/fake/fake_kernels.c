/* tests/support/fake/fake_kernels.c - kernels of the fake device, enqueued in lanes. */
#include "tests/support/fake/fake_backend.h"

#include <string.h>

#include "base/data/csr.h"
#include "tests/support/fake/fake_lane.h"

static int64_t transposes, counts, collected;

int64_t fake_transposes(void)
{
    return __atomic_load_n(&transposes, __ATOMIC_RELAXED);
}

int64_t fake_counts(void)
{
    return __atomic_load_n(&counts, __ATOMIC_RELAXED);
}

int64_t fake_collected(void)
{
    return __atomic_load_n(&collected, __ATOMIC_RELAXED);
}

/* ---- columns and rows ---- */

/* Returns 1 if `lines` lines of `length` elements of `size` bytes each are in device
   memory. Lines begin `ld` elements apart; returns 0 also if length > ld. */
static int on_device(hy_backend *self, const void *ptr, int64_t lines, int64_t ld,
                     int64_t length, size_t size)
{
    return length <= ld &&
           fake_on_device(self, ptr, (size_t)((lines - 1) * ld + length) * size);
}

static hybrid_status do_turn(hy_lane *lane, void *arg)
{
    const hy_transposition *t = arg;

    (void)lane;
    for (int64_t i = 0; i < t->lines; i++)
        for (int64_t j = 0; j < t->filled; j++) {
            char *to = (char *)t->to + (size_t)(i * t->to_ld + j) * t->size;
            if (j >= t->length)
                memset(to, 0, t->size);
            else
                memcpy(to, (const char *)t->from + (size_t)(j * t->from_ld + i) * t->size,
                       t->size);
        }
    return HYBRID_OK;
}

hybrid_status fake_transpose(hy_lane *lane, const hy_transposition *t)
{
    hy_backend *self = lane->backend;

    if (t->lines == 0 || t->length == 0)
        return HYBRID_OK;
    if (t->filled < t->length ||
        !on_device(self, t->to, t->lines, t->to_ld, t->filled, t->size) ||
        !on_device(self, t->from, t->length, t->from_ld, t->lines, t->size))
        return hy_fail(self->ctx, HYBRID_DEVICE_FAILED,
                       "fake device: what is turned is not in blocks of the device");
    __atomic_add_fetch(&transposes, 1, __ATOMIC_RELAXED);
    return hy_fake_enqueue_copy(lane, do_turn, t, sizeof *t);
}

/* ---- offsets ---- */

static hybrid_status do_rebase(hy_lane *lane, void *arg)
{
    const hy_rebasing *r  = arg;
    const hybrid_csr from = {.row_ptr     = (void *)(uintptr_t)r->from,
                             .offset_type = r->from_type};

    (void)lane;
    for (int64_t i = 0; i < r->count; i++) {
        const int64_t number =
            r->gate && *r->gate == 0 ? -1 : hy_offset(&from, i) - r->base;
        if (r->to_type == HYBRID_I64)
            ((int64_t *)r->to)[i] = number;
        else
            ((int32_t *)r->to)[i] = (int32_t)number;
    }
    return HYBRID_OK;
}

hybrid_status fake_rebase(hy_lane *lane, const hy_rebasing *r)
{
    hy_backend *self  = lane->backend;
    const size_t from = (size_t)r->count * hy_index_size(r->from_type);
    const size_t to   = (size_t)r->count * hy_index_size(r->to_type);

    if (!fake_on_device(self, r->from, from) || !fake_on_device(self, r->to, to))
        return hy_fail(self->ctx, HYBRID_DEVICE_FAILED,
                       "fake device: offsets are not in its memory");
    return hy_fake_enqueue_copy(lane, do_rebase, r, sizeof *r);
}

/* ---- rows of B in host memory ---- */

static hybrid_status do_collect(hy_lane *lane, void *arg)
{
    const hy_collecting *c = arg;

    (void)lane;
    for (int64_t r = 0; r < c->rows; r++) {
        const int64_t at = c->row_ptr[r], n = c->row_ptr[r + 1] - at;
        memcpy(c->to_col + at, c->col + c->from[r], (size_t)n * 4);
        memcpy((char *)c->to_val + (size_t)at * c->size,
               (const char *)c->val + (size_t)c->from[r] * c->size, (size_t)n * c->size);
    }
    return HYBRID_OK;
}

hybrid_status fake_collect(hy_lane *lane, const hy_collecting *c)
{
    hy_backend *self     = lane->backend;
    const size_t entries = (size_t)c->entries;

    if (!fake_on_device(self, c->row_ptr, (size_t)(c->rows + 1) * 8) ||
        !fake_on_device(self, c->to_col, entries * 4) ||
        !fake_on_device(self, c->to_val, entries * c->size))
        return hy_fail(self->ctx, HYBRID_DEVICE_FAILED,
                       "fake device: collected rows are not in its memory");
    if (entries > 0 &&
        (fake_pinned(self, c->col, 4) == 0 || fake_pinned(self, c->val, c->size) == 0))
        return hy_fail(self->ctx, HYBRID_DEVICE_FAILED,
                       "fake device: rows to be collected are not pinned");
    __atomic_add_fetch(&collected, c->entries, __ATOMIC_RELAXED);
    return hy_fake_enqueue_copy(lane, do_collect, c, sizeof *c);
}

/* ---- scalar products of rows ---- */

typedef struct counting {
    int64_t rows;
    const int64_t *a_row_ptr;
    const int32_t *a_col;
    const int64_t *b_row_ptr;
    uint32_t *products;
} counting;

static hybrid_status do_count(hy_lane *lane, void *arg)
{
    const counting *c = arg;

    (void)lane;
    for (int64_t i = 0; i < c->rows; i++) {
        c->products[i] = 0;
        for (int64_t k = c->a_row_ptr[i]; k < c->a_row_ptr[i + 1]; k++) {
            const int64_t *row = c->b_row_ptr + c->a_col[k];
            c->products[i] += (uint32_t)(row[1] - row[0]);
        }
    }
    return HYBRID_OK;
}

hybrid_status fake_products(hy_lane *lane, int64_t rows, const int64_t *a_row_ptr,
                            const int32_t *a_col, const int64_t *b_row_ptr,
                            uint32_t *products)
{
    const counting c = {rows, a_row_ptr, a_col, b_row_ptr, products};

    __atomic_add_fetch(&counts, 1, __ATOMIC_RELAXED);
    return hy_fake_enqueue_copy(lane, do_count, &c, sizeof c);
}
