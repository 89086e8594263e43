/* partition/move/rows.c - the layout of the memory that holds a chunk's result. */
#include "partition/format/pack.h"

#include "base/data/csr.h"

/* Offsets of the arrays of a SpGEMM result: row_ptr | row_at | col | val. */
typedef struct layout {
    size_t row_at, col, val, bytes;
} layout;

static layout csr_layout(const hy_features *f, int with_row_at)
{
    const size_t rows = (size_t)f->rows, entries = (size_t)hy_out_room(f);
    layout at;

    at.row_at = hy_align((rows + 1) * 8);
    at.col    = at.row_at + (with_row_at ? hy_align(rows * 8) : 0);
    at.val    = at.col + hy_align(entries * 4);
    at.bytes  = at.val + entries * hy_value_size(f->type);
    return at;
}

size_t hy_rows_bytes(hy_op op, const hy_features *f, int with_row_at)
{
    if (op == HY_SPMM)
        return (size_t)f->out_bound * hy_value_size(f->type);
    return csr_layout(f, with_row_at).bytes;
}

hy_rows hy_rows_in(void *block, hy_op op, const hy_features *f, int with_row_at)
{
    char *base = block;

    if (op == HY_SPMM)
        return (hy_rows){.val = block};
    const layout at = csr_layout(f, with_row_at);
    return (hy_rows){.row_ptr = block,
                     .row_at  = with_row_at ? (void *)(base + at.row_at) : NULL,
                     .col     = (void *)(base + at.col),
                     .val     = base + at.val};
}
