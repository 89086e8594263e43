/* io/hdf5/h5_whole.c - reads numbers that lie in a file without chunks, one after the
   other, or in the header of their dataset. */
#include <string.h>

#include "base/data/min_max.h"
#include "base/memory/memory.h"
#include "io/hdf5/h5_array.h"

enum { PIECE_BYTES = 32 << 10 };

/* Reads numbers [first, first + count) of the dataset to `piece`, in the type of the
   file. */
static hybrid_status fetch(const hy_h5_reader *r, int64_t first, int64_t count,
                           char *piece)
{
    const hy_h5_array *a = &r->array;
    const int64_t size   = (int64_t)a->number.bytes;

    if (a->compact)
        memcpy(piece, a->compact + first * size, (size_t)(count * size));
    else if (a->at < 0)
        hy_h5_fill(a, count, piece);
    else
        return hy_h5_pread(r->ctx, r->fd, r->path, a->at + first * size,
                           (size_t)(count * size), piece);
    return HYBRID_OK;
}

static int is_stored_as_wanted(const hy_h5_reader *r)
{
    const hy_h5_number *from = &r->array.number;

    return from->kind == r->to.kind && from->bytes == r->to.bytes && !from->big_endian;
}

static hybrid_status read_numbers(const hy_stored *self, int64_t first, int64_t count,
                                  void *to)
{
    const hy_h5_reader *r = self->reader;
    const int64_t most    = PIECE_BYTES / (int64_t)r->array.number.bytes;
    char piece[PIECE_BYTES];

    if (is_stored_as_wanted(r))
        return fetch(r, first, count, to);
    for (int64_t i = 0; i < count; i += most) {
        const int64_t n = hy_min(most, count - i);
        HY_TRY(fetch(r, first + i, n, piece));
        HY_TRY(
            hy_h5_deliver(r, piece, first + i, n, (char *)to + i * (int64_t)self->size));
    }
    return HYBRID_OK;
}

static void close_reader(hy_stored *self)
{
    hy_h5_reader_free(self->reader);
    hy_array_free(self->ctx, self->reader);
}

const hy_stored_ops hy_h5_whole = {.read = read_numbers, .close = close_reader};

hybrid_status hy_h5_whole_make(const hy_h5_reader *reader, void **out)
{
    HY_TRY(hy_array(reader->ctx, 1, sizeof *reader, "a part of a file", out));
    memcpy(*out, reader, sizeof *reader);
    return HYBRID_OK;
}
