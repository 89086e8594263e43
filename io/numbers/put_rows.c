/* io/numbers/put_rows.c - appends the numbers of rows to regions of a file. */
#include "io/numbers/put_rows.h"

#include <string.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"

enum { PIECE = 4096 }; /* numbers that are converted at a time */

/* Converts the `count` 64-bit indices at `piece` to `kind` and appends them. They may be
   overwritten. */
static hybrid_status put_indices(hy_byte_region *to, hy_number_kind kind, int64_t *piece,
                                 int64_t count)
{
    int32_t narrow[PIECE];
    void *numbers = piece;

    if (kind.size == 4) {
        for (int64_t i = 0; i < count; i++)
            narrow[i] = (int32_t)piece[i];
        numbers = narrow;
    }
    if (kind.big_endian)
        hy_swap_bytes(numbers, count, kind.size);
    return hy_byte_region_put(to, numbers, (size_t)(count * kind.size));
}

hybrid_status hy_put_index(hy_byte_region *to, hy_number_kind kind, int64_t index)
{
    return put_indices(to, kind, &index, 1);
}

hybrid_status hy_put_offsets(hy_byte_region *to, hy_number_kind kind,
                             const hybrid_csr *rows, int64_t before)
{
    int64_t piece[PIECE];

    for (int64_t row = 0, n; row < rows->rows; row += n) {
        n = hy_min(PIECE, rows->rows - row);
        for (int64_t i = 0; i < n; i++)
            piece[i] = before + hy_offset(rows, row + i + 1);
        HY_TRY(put_indices(to, kind, piece, n));
    }
    return HYBRID_OK;
}

hybrid_status hy_put_lengths(hy_byte_region *to, hy_number_kind kind,
                             const hybrid_csr *rows)
{
    int64_t piece[PIECE];

    for (int64_t row = 0, n; row < rows->rows; row += n) {
        n = hy_min(PIECE, rows->rows - row);
        for (int64_t i = 0; i < n; i++)
            piece[i] = hy_offset(rows, row + i + 1) - hy_offset(rows, row + i);
        HY_TRY(put_indices(to, kind, piece, n));
    }
    return HYBRID_OK;
}

hybrid_status hy_put_columns(hy_byte_region *to, hy_number_kind kind,
                             const hybrid_csr *rows)
{
    const int is_wide  = rows->col_type == HYBRID_I64;
    const int32_t *col = rows->col;
    int64_t piece[PIECE];

    if (!is_wide && hy_same_kind(kind, hy_kind_of_index(HYBRID_I32)))
        return hy_byte_region_put(to, col, (size_t)rows->nnz * 4);
    for (int64_t at = 0, n; at < rows->nnz; at += n) {
        n = hy_min(PIECE, rows->nnz - at);
        for (int64_t i = 0; i < n; i++)
            piece[i] = is_wide ? ((const int64_t *)rows->col)[at + i] : col[at + i];
        HY_TRY(put_indices(to, kind, piece, n));
    }
    return HYBRID_OK;
}

hybrid_status hy_put_values(hy_byte_region *to, hy_number_kind kind, hybrid_type type,
                            const void *values, int64_t count)
{
    const hy_number_kind own = hy_kind_of_type(type);
    double piece[PIECE];

    if (hy_same_kind(kind, own))
        return hy_byte_region_put(to, values, (size_t)(count * own.size));
    for (int64_t at = 0, n; at < count; at += n) {
        n = hy_min(PIECE, count - at);
        if (hy_convert_values(own, (const char *)values + at * own.size, n,
                              hy_type_of_kind(kind), piece) < n)
            return hy_fail(to->file->ctx, HYBRID_BAD_ARGUMENT,
                           "%s: a value is too large for %d bits", to->file->path,
                           kind.size * 8);
        if (kind.big_endian)
            hy_swap_bytes(piece, n, kind.size);
        HY_TRY(hy_byte_region_put(to, piece, (size_t)(n * kind.size)));
    }
    return HYBRID_OK;
}
