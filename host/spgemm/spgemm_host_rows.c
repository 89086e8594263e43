/* host/spgemm/spgemm_host_rows.c - spgemm.host.rows: makes each row of C by the
   accumulator that is expected to be fastest for it: counting, a dense window or a hash
   table. */
#include "host/spgemm/spgemm_host.h"

/* maximum number of rows of C that one call makes together, if their rows of A have
   entries in the same columns */
enum { LANES = 4 };
/* hy_row_few() (counting) is faster than a dense window for a row of at most HY_FEW
   scalar products if the row spans more than NEAR columns per scalar product */
enum { NEAR = 256 };
/* a hash table is faster than a dense window for a row that spans more than SPREAD
   columns per scalar product */
enum { SPREAD = 512 };
/* maximum columns of a dense window: a wider one would not fit a core's share of the L3
   cache */
enum { WINDOW_COLUMNS = 4 << 20 };

static hybrid_status make_any(const hy_seat *seat, const hy_row *rows, int64_t *nnz)
{
    const int64_t range = (int64_t)rows->col_max - rows->col_min + 1;
    const int dense     = range <= rows->products * SPREAD && range <= WINDOW_COLUMNS;
    const int few       = !rows->shuffled && rows->products <= HY_FEW &&
                    rows->products == rows->bound &&
                    (rows->count == 1 || range > rows->products * NEAR);

    if (dense && !few)
        return hy_row_recipe(seat, rows, hy_row_dense, nnz);
    for (int r = 0; r < rows->lanes; r++) {
        hy_row row = *rows;
        row.lanes  = 1;
        row.a[0]   = rows->a[r];
        row.col[0] = rows->col[r];
        row.val[0] = rows->val[r];
        HY_TRY((few ? hy_row_few : hy_row_hash)(seat, &row, nnz));
    }
    return HYBRID_OK;
}

static const char *refuse(const hy_features *f, const hy_rates *r)
{
    (void)f, (void)r;
    return NULL;
}

static hy_cost cost(const hy_features *f, const hy_rates *r)
{
    return hy_spgemm_host_cost(f, r, 1.9);
}

static hybrid_status run(hy_lane *lane, void *job)
{
    return hy_spgemm_host_run(lane, job, make_any, LANES);
}

static hybrid_status multiply(hy_lane *lane, hy_job *job)
{
    return hy_host_enqueue(lane, run, job);
}

const hy_variant hy_spgemm_host_rows = {
    .name     = "spgemm.host.rows",
    .summary  = "the accumulator that suits it, for each row",
    .source   = "Gustavson 1978; choice of accumulator by row after spECK (Parger 2020)",
    .op       = HY_SPGEMM,
    .refuse   = refuse,
    .cost     = cost,
    .multiply = multiply,
};
