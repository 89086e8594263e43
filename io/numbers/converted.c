/* io/numbers/converted.c - an array in a file whose numbers are converted when they are
   read. */
#include "io/numbers/converted.h"

#include <string.h>

#include "base/data/min_max.h"
#include "base/data/value_type.h"

enum { PIECE_BYTES = 32 << 10 };

typedef struct converted {
    hy_stored inner; /* the array in the file, which this one owns */
    hy_number_kind from;
    hybrid_index index; /* type of the result, if offsets or column indices are read */
    hybrid_type type;   /* type of the result, if values are read */
    char name[];
} converted;

static hybrid_status read_values(const hy_stored *self, int64_t first, int64_t count,
                                 void *to)
{
    const converted *c = self->reader;
    const int64_t most = PIECE_BYTES / c->from.size;
    char piece[PIECE_BYTES];

    for (int64_t at = 0, n; at < count; at += n) {
        n = hy_min(most, count - at);
        HY_TRY(hy_stored_read(&c->inner, first + at, n, piece));
        (void)hy_convert_values(c->from, piece, n, c->type,
                                (char *)to + (size_t)at * self->size);
    }
    return HYBRID_OK;
}

static hybrid_status read_indices(const hy_stored *self, int64_t first, int64_t count,
                                  void *to)
{
    const converted *c = self->reader;
    const int64_t most = PIECE_BYTES / c->from.size;
    char piece[PIECE_BYTES];

    for (int64_t at = 0, n; at < count; at += n) {
        n = hy_min(most, count - at);
        HY_TRY(hy_stored_read(&c->inner, first + at, n, piece));
        const int64_t fit    = hy_convert_indices(c->from, piece, n, c->index,
                                                  (char *)to + (size_t)at * self->size);
        const int64_t number = first + at + fit;
        if (fit < n)
            return hy_fail(self->ctx, HYBRID_BAD_FILE,
                           "%s: number %lld does not fit %d bits", c->name,
                           (long long)number, (int)self->size * 8);
    }
    return HYBRID_OK;
}

static void close_converted(hy_stored *self)
{
    converted *c = self->reader;

    hy_stored_close(&c->inner);
    hy_array_free(self->ctx, c);
}

static const hy_stored_ops value_ops = {.read = read_values, .close = close_converted};
static const hy_stored_ops index_ops = {.read = read_indices, .close = close_converted};

static hybrid_status wrap(hy_stored *array, const converted *how, const char *name,
                          const hy_stored_ops *ops, size_t size)
{
    const size_t length = strlen(name) + 1;
    void *memory;

    HY_TRY(hy_array(array->ctx, 1, sizeof(converted) + length, "a converted array",
                    &memory));
    converted *c = memory;
    *c           = *how;
    c->inner     = *array;
    memcpy(c->name, name, length);
    array->ops    = ops;
    array->size   = size;
    array->reader = c;
    return HYBRID_OK;
}

hybrid_status hy_stored_to_indices(hy_stored *array, hy_number_kind from, hybrid_index to,
                                   const char *name)
{
    const converted how = {.from = from, .index = to};

    if (from.is == HY_FLOAT)
        return hy_fail(array->ctx, HYBRID_BAD_FILE, "%s: holds no whole numbers", name);
    if (hy_same_kind(from, hy_kind_of_index(to)))
        return HYBRID_OK;
    return wrap(array, &how, name, &index_ops, to == HYBRID_I64 ? 8 : 4);
}

hybrid_status hy_stored_to_values(hy_stored *array, hy_number_kind from, const char *name)
{
    const hybrid_type type = hy_type_of_kind(from);
    const converted how    = {.from = from, .type = type};

    if (hy_same_kind(from, hy_kind_of_type(type)))
        return HYBRID_OK;
    return wrap(array, &how, name, &value_ops, hy_value_size(type));
}
