/* io/sort/alike.c - an array in which all numbers are the same. */
#include "io/sort/alike.h"

#include <string.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"

enum { FIRST = 1 << 10 }; /* numbers that are made one by one; the others are copies */

typedef struct alike {
    hybrid_type type;
    double value;
} alike;

static hybrid_status repeat(const hy_stored *self, int64_t first, int64_t count, void *to)
{
    const alike *a = self->reader;

    (void)first;
    for (int64_t k = 0; k < hy_min(FIRST, count); k++)
        hy_value_put(a->type, to, k, a->value);
    for (int64_t k = FIRST; k < count; k += FIRST)
        memcpy((char *)to + (size_t)k * self->size, to,
               (size_t)hy_min(FIRST, count - k) * self->size);
    return HYBRID_OK;
}

static void close_alike(hy_stored *self)
{
    hy_array_free(self->ctx, self->reader);
}

hybrid_status hy_alike_numbers(hy_context *ctx, hybrid_type type, double value,
                               int64_t count, hy_stored *out)
{
    static const hy_stored_ops ops = {.read = repeat, .close = close_alike};
    void *memory;

    HY_TRY(hy_array(ctx, 1, sizeof(alike), "a matrix that was read", &memory));
    *(alike *)memory = (alike){type, value};
    *out             = (hy_stored){&ops, ctx, hy_value_size(type), count, memory};
    return HYBRID_OK;
}
