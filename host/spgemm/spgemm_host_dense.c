/* host/spgemm/spgemm_host_dense.c - makes a row of C in a dense window of columns.

   The window spans [col_min, col_max] of the row's products (scalar products). It is cut
   into blocks of a cache line (16 floats, 8 doubles), and a byte for each block marks the
   blocks that received products. Elements need no mark: an element without products holds
   -0, and a sum that starts with +0 is never -0. (Products are added to +0 before they
   are added to the window, which changes -0 and nothing else.) Accumulating is thus one
   addition and one store per product. Reading back visits the marked blocks only, in
   order, so the row comes out sorted.

   Up to 4 rows of A with entries in the same columns are made together: an element of the
   window is then a vector with a number for each row.

   Between rows the window is all -0 and the marks are all 0. */
#include "host/spgemm/spgemm_host.h"

#include <string.h>

#include "base/data/csr.h"
#include "host/spgemm/spgemm_host_blocks.h"
#include "host/backend/target.h"
#include "partition/format/pack.h"

enum {
    SHORT = 12, /* the scalar products of a row are listed before they are added to the
                   window only if its terms (rows of B) have at most SHORT entries on
                   average */
    FEW = 16,   /* minimum scalar products of a row that are listed before they are added:
                   listing fewer would wait for the stores of the list */
    FLAT =
        512 /* maximum scalar products of a row that are listed before they are added */
};

/* The window of one row, or of up to four. `acc` has the sums; `mark` has a byte for each
   block, in a multiple of 64 bytes. */
typedef struct window {
    void *acc;
    uint8_t *mark;
    int32_t base; /* column of acc[0], a multiple of the columns of a block */
    int64_t blocks;
} window;

/* Returns `array` minus `bytes` bytes: the address that column 0 would have if the array
   began that far behind it. The address is used only with the index of a column inside
   the array. */
static inline void *before(void *array, size_t bytes)
{
    return (void *)((uintptr_t)array - bytes);
}

/* The loops of the dense window for a value type and an instruction set. */
typedef struct window_loops {
    /* `make` adds the scalar products of a row to the window and writes the row, `add`
       only adds them; element 0 is for one row, element 1 for up to four rows */
    int64_t (*make[2])(const hy_row *row, const window *w);
    void (*add[2])(const hy_row *row, const window *w);
} window_loops;

#define LOOPS(suffix)                                                                    \
    {                                                                                    \
        {row_##suffix, rows_##suffix},                                                   \
        {                                                                                \
            add_row_##suffix, add_rows_##suffix                                          \
        }                                                                                \
    }

#define HY_LOOPS "host/spgemm/spgemm_host_dense.inc"
#include "host/backend/each_type.inc"

#define INSTANCES(is, T, suffix, ...) {HY_EACH_TARGET(LOOPS, suffix)},

/* [type (hy_type_index())][instruction set (hy_target)] */
static const window_loops loops[][HY_TARGETS] = {HY_VALUE_TYPES(INSTANCES)};

static const window_loops *loops_for(const hy_seat *seat)
{
    return &loops[hy_type_index(seat->type)][hy_target_best()];
}

/* ---- the window -------------------------------------------------------------------- */

static void clear_window(hybrid_type type, void *acc, size_t bytes)
{
    const size_t size = hy_value_size(type);

    for (int64_t i = 0; i < (int64_t)(bytes / size); i++)
        hy_value_put(type, acc, i, -0.0);
}

static hybrid_status open_window(const hy_seat *seat, const hy_row *row, window *w)
{
    const int32_t block = HY_LINE / (int32_t)hy_value_size(seat->type);
    const int64_t width = row->lanes > 1 ? 4 : 1;
    void *made          = NULL;
    size_t fresh;

    w->base                 = row->col_min & ~(block - 1);
    w->blocks               = (row->col_max - w->base) / block + 1;
    const size_t acc_bytes  = (size_t)(w->blocks * width) * 64;
    const size_t mark_bytes = (size_t)(w->blocks + 63) & ~(size_t)63;
    HY_TRY(hy_host_workspace(seat->lane, hy_scratch_of(HY_SCRATCH_DENSE, seat->type),
                             acc_bytes, &w->acc, &fresh));
    if (fresh)
        clear_window(seat->type, w->acc, fresh);
    HY_TRY(hy_host_workspace(seat->lane, HY_SCRATCH_MARKS, mark_bytes, &made, &fresh));
    w->mark = made;
    if (fresh)
        memset(w->mark, 0, fresh);
    return HYBRID_OK;
}

/* Makes a row in stretches of at most HY_UNCHECKED scalar products. If the call is
   cancelled, the row is still written, which clears the window. */
static hybrid_status make_long_row(const hy_seat *seat, const hy_row *row,
                                   const window *w, int64_t *nnz)
{
    const window_loops *own = loops_for(seat);
    const int many          = row->lanes > 1;
    hy_stretch stretch      = {.whole = row};
    hy_row added            = *row;
    hybrid_status status    = HYBRID_OK;

    while (status == HYBRID_OK && hy_stretch_next(&stretch, seat->type)) {
        own->add[many](&stretch.row, w);
        status = hy_seat_check(seat, 0);
    }
    added.count = 0;
    *nnz        = own->make[many](&added, w);
    return status;
}

hybrid_status hy_row_dense(const hy_seat *seat, const hy_row *row, int64_t *nnz)
{
    window w;

    HY_TRY(open_window(seat, row, &w));
    if (row->products > HY_UNCHECKED)
        return make_long_row(seat, row, &w, nnz);
    *nnz = loops_for(seat)->make[row->lanes > 1](row, &w);
    return HYBRID_OK;
}

/* ---- spgemm.host.dense ------------------------------------------------------------ */

enum { WINDOW_BYTES = 64 << 20 };

/* Refuses products for which a window of one row over all columns of B takes more than
   WINDOW_BYTES: it would fill memory, not cache, on every core. */
static const char *refuse(const hy_features *f, const hy_rates *r)
{
    (void)r;
    return f->out_cols * (int64_t)hy_value_size(f->type) > WINDOW_BYTES
               ? "a window over all columns takes more than 64 MiB on each core"
               : NULL;
}

static hy_cost cost(const hy_features *f, const hy_rates *r)
{
    return hy_spgemm_host_cost(f, r, 4);
}

static hybrid_status run(hy_lane *lane, void *job)
{
    return hy_spgemm_host_run(lane, job, hy_row_dense, 1);
}

static hybrid_status multiply(hy_lane *lane, hy_job *job)
{
    return hy_host_enqueue(lane, run, job);
}

const hy_variant hy_spgemm_host_dense = {
    .name     = "spgemm.host.dense",
    .summary  = "a dense window of columns for each row",
    .source   = "Gilbert, Moler, Schreiber 1992 (SPA); windows and marks of blocks",
    .op       = HY_SPGEMM,
    .by_name  = 1,
    .refuse   = refuse,
    .cost     = cost,
    .multiply = multiply,
};
