/* pipeline/load/room.c - device memory in which column-major X and Y are transposed. */
#include "pipeline/load/room.h"

#include "base/data/csr.h"
#include "base/data/min_max.h"

enum {
    ROOM_BYTES = 16 << 20,
    ROOM_SHARE = 32, /* device memory for transposing X takes at most 1 / ROOM_SHARE of
                        the budget, and that for Y as much */
    LEAST_ROWS = 64  /* a room that holds fewer rows of X or Y than this is not set aside,
                        unless it holds all rows */
};

size_t hy_room_bytes(const hy_backend *backend, const hy_features *f, int64_t x_rows,
                     size_t memory)
{
    const size_t row   = (size_t)f->out_cols * hy_value_size(f->type);
    const size_t all   = hy_align((size_t)hy_max(f->rows, x_rows) * row);
    const size_t least = hy_smaller(all, LEAST_ROWS * row);
    const size_t most  = hy_smaller(ROOM_BYTES, memory / ROOM_SHARE & ~(size_t)255);
    const size_t room  = hy_smaller(all, most);

    if (!backend->ops->transpose || !backend->ops->copy_rows || f->out_cols < 2)
        return 0;
    return room >= least ? room : 0;
}
