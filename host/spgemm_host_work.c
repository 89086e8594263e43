/* host/spgemm_host_work.c - how much work a row of C is, and a chunk. */
#include "base/csr.h"
#include "host/spgemm_host.h"
#include "partition/pack.h"

void hy_row_measure(const hybrid_csr *B, hy_row *row)
{
    row->products = 0;
    row->col_min  = INT32_MAX;
    row->col_max  = -1;
    for (int64_t t = 0; t < row->count; t++) {
        const hy_term term = row->terms[t];
        if (term.begin == term.end)
            continue;
        const int32_t first = hy_cols(B)[term.begin], last = hy_cols(B)[term.end - 1];
        row->products += term.end - term.begin;
        row->col_min = first < row->col_min ? first : row->col_min;
        row->col_max = last > row->col_max ? last : row->col_max;
    }
    row->bound = row->products < B->cols ? row->products : B->cols;
}

hybrid_status hy_row_too_long(const hy_lane *lane, int64_t row, int lanes, int64_t bound,
                              int64_t room)
{
    return hy_fail(
        lane->backend->ctx, HYBRID_BAD_STATE,
        "%d rows of C from %lld on may have %lld entries each, planned were at "
        "most %lld: the patterns are not those of the plan",
        lanes, (long long)row, (long long)bound, (long long)room);
}

hy_cost hy_spgemm_host_cost(const hy_features *f, const hy_rates *r, double cycles)
{
    const double size = f->type == HYBRID_F64 ? 8 : 4;
    const double hz =
        r->flops / (HY_HOST_CYCLE_FLOPS * (r->width > 0 ? r->width : 1)); /* of a core */
    const double out = (double)f->products / (f->out_ratio > 1 ? f->out_ratio : 1);
    const double compute =
        ((double)f->products * cycles + out * 11 + (double)f->rows * 280) /
        (hz * (r->width > 0 ? r->width : 1));
    const double memory = ((double)f->nnz * (4 + size) + out * (4 + size)) / r->mem_Bps;
    hy_cost c           = {0};

    c.out_bytes  = hy_rows_bytes(HY_SPGEMM, f, 1);
    c.multiply_s = r->launch_s + (compute > memory ? compute : memory);
    return c;
}
