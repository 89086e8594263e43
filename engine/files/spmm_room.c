/* engine/files/spmm_room.c - how Y = alpha*A*X with operands in files divides host
 * memory.
 */
#include "engine/files/spmm_room.h"

#include <math.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "partition/parts/x_block.h"

enum {
    SPARE = 16,             /* 1 / SPARE of free host memory stays free */
    WHOLE = 2,              /* an X that is read completely takes at most 1 / WHOLE of the
                               memory for operands and Y */
    PIECE = 32,             /* a piece of Y that is written takes 1 / PIECE of this
                               memory, within the bounds below */
    LEAST_PIECE = 1 << 18,  /* minimum bytes of such a piece */
    MOST_PIECE  = 8 << 20,  /* maximum bytes of such a piece */
    MOST_PANEL  = 64 << 20, /* maximum bytes of a panel of Y if X is in memory, so that
                               rows are written while others are computed */
    ROW_BYTES = 24,         /* bytes of a row of A besides its entries, for blocks of X */
    UNEVEN    = 8           /* a part may have 1 / UNEVEN more bytes than its rows have on
                               average */
};

/* Returns the bytes that operands and Y may take. If there are devices, the chunks for
   them may take as much. */
static int64_t bytes_of(const hy_files *call)
{
    const int64_t left = hy_files_free(call);
    const int64_t ours = left - left / SPARE;

    return call->engine->device_count > 0 ? ours / 2 : ours;
}

/* Returns the bytes of host memory that X takes: an X in a file all of its bytes if
   `whole` is 1, else those of its blocks; an X in memory none, because the caller holds
   it. */
static int64_t x_bytes(const hy_files *call, const hy_source *X, int whole)
{
    const int64_t all   = X->rows * X->cols * (int64_t)hy_value_size(X->dense->type);
    const int64_t block = hy_min(all, hy_x_block_bytes(&call->engine->ctx));

    if (hy_source_at_hand(X))
        return 0;
    if (whole)
        return all;
    /* a column-major block is copied to rows */
    return X->order == HYBRID_COL_MAJOR ? 3 * block : 2 * block;
}

/* Returns the number of rows of a part, at least 1, for which `bytes` bytes are enough.
   They hold the part twice, because two parts are in memory, a third time if X comes in
   blocks, and y_row bytes of Y for each row. */
static int64_t rows_of(const hybrid_csr *A, int64_t bytes, int in_blocks, int64_t y_row)
{
    const double all  = (double)hy_csr_bytes(A->rows, A->nnz, A->type);
    const double a    = all / (double)hy_max(1, A->rows) * (1 + 1.0 / UNEVEN);
    const double each = (in_blocks ? 3 * a + ROW_BYTES : 2 * a) + (double)y_row;

    return hy_max(1, hy_min(A->rows, (int64_t)((double)bytes / each)));
}

static int64_t part_bytes_of(const hybrid_csr *A, int64_t rows)
{
    const double all = (double)hy_csr_bytes(A->rows, A->nnz, A->type);

    return hy_max(1, (int64_t)(all / (double)hy_max(1, A->rows) * (double)rows *
                               (1 + 1.0 / UNEVEN)));
}

/* Returns the bytes of the entries of A that refer to the rows of a block of X, if A is
   banded: a part of its rows then touches as large a part of X. Other parts touch more,
   so that fewer of their entries refer to a block. */
static double tile_bytes(const hy_spmm_room *room, const hybrid_csr *A, int64_t rows,
                         double x_all, double x_block)
{
    const double touched = x_all * (double)rows / (double)hy_max(1, A->rows);
    const double share   = touched > x_block ? x_block / touched : 1;

    return share * (double)room->part_bytes;
}

/* Sets room->x_passes and room->peak_bytes, for parts of `rows` rows and a panel of Y
   with rows of y_row bytes. */
static void predict(const hy_files *call, const hy_sparse *A, const hy_source *X,
                    int64_t rows, int64_t y_row, hy_spmm_room *room)
{
    const hybrid_csr *csr = A->source.csr;
    const int x_is_read   = !hy_source_at_hand(X);
    const int in_blocks   = x_is_read && !room->whole_x;
    const int64_t parts   = (csr->rows + rows - 1) / hy_max(1, rows);
    const double x_all =
        (double)X->rows * (double)X->cols * (double)hy_value_size(X->dense->type);
    const double x_block =
        (double)hy_min((int64_t)x_all, hy_x_block_bytes(&call->engine->ctx));
    const int a_is_read  = room->in_parts || !hy_source_at_hand(&A->source);
    const double copied  = a_is_read ? (parts > 1 ? 2 : 1) : 0;
    const double written = y_row > 0 ? 2 * (double)room->piece_bytes : 0;
    double peak = copied * (double)room->part_bytes + (double)rows * (double)y_row +
                  fmin(written, 2 * (double)csr->rows * (double)y_row);
    double blocks = 0;

    if (in_blocks)
        blocks = (double)x_bytes(call, X, 0) +
                 tile_bytes(room, csr, rows, x_all, x_block) + 16 * (double)rows;
    else
        peak += (double)x_bytes(call, X, room->whole_x);
    peak += blocks;
    room->block_bytes = (int64_t)blocks;
    room->x_passes    = x_is_read ? (room->whole_x ? 1 : parts) : 0;
    room->peak_bytes  = hy_meter_used(&call->engine->ctx.memory.meter) + (int64_t)peak;
}

/* Returns the sizes that a test has set. */
static hy_spmm_room set_room(const hy_sparse *A, const hy_source *X, int to_file,
                             int64_t piece)
{
    const int64_t row = X->cols * (int64_t)hy_value_size(X->dense->type);

    return (hy_spmm_room){.whole_x     = !hy_source_at_hand(X) && X->rows * row <= piece,
                          .in_parts    = to_file,
                          .part_bytes  = piece,
                          .panel_rows  = to_file ? hy_max(1, piece / hy_max(1, row))
                                                 : A->source.rows,
                          .piece_bytes = piece};
}

hy_spmm_room hy_spmm_room_of(const hy_files *call, const hy_sparse *A, const hy_source *X,
                             int to_file)
{
    const hybrid_csr *csr = A->source.csr;
    const int is_read     = !hy_source_at_hand(X);
    const int64_t set     = hy_settings_of(call->engine)->piece_bytes;
    const int64_t bytes   = bytes_of(call);
    const int64_t piece   = hy_max(LEAST_PIECE, hy_min(MOST_PIECE, bytes / PIECE));
    const int64_t left    = bytes - (to_file ? 2 * piece : 0);
    const int64_t y_row   = to_file ? X->cols * (int64_t)hy_value_size(csr->type) : 0;
    int64_t rows          = rows_of(csr, left - x_bytes(call, X, 0), is_read, y_row);
    hy_spmm_room room     = {.piece_bytes = piece};

    if (set > 0)
        return set_room(A, X, to_file, set);
    room.in_parts = to_file || (is_read && rows < csr->rows);
    room.whole_x  = is_read && rows < csr->rows && x_bytes(call, X, 1) <= bytes / WHOLE;
    if (room.whole_x)
        rows = rows_of(csr, left - x_bytes(call, X, 1), 0, y_row);
    room.part_bytes = part_bytes_of(csr, rows);
    if (room.whole_x || !is_read) { /* parts need not be large: each is read once */
        room.part_bytes = hy_min(room.part_bytes, hy_files_part_bytes(call, A));
        rows            = y_row > 0 ? hy_max(1, hy_min(rows, MOST_PANEL / y_row)) : rows;
    }
    room.panel_rows = to_file ? rows : csr->rows;
    predict(call, A, X, rows, y_row, &room);
    return room;
}
