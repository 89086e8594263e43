/* tests/support/subjects/chunk_variants.c - variants that compute nothing. */
#include "tests/support/subjects/chunk_variants.h"

#include "partition/format/pack.h"

static hy_cost cost_of(hy_op op, const hy_features *f)
{
    return (hy_cost){.pack_bytes = hy_pack_csr_bytes(op, f),
                     .work_bytes = op == HY_SPGEMM ? (size_t)f->products * 16 : 64,
                     .out_bytes  = hy_rows_bytes(op, f, 0)};
}

static hy_cost spgemm_cost(const hy_features *f, const hy_rates *rates)
{
    (void)rates;
    return cost_of(HY_SPGEMM, f);
}

static hy_cost spmm_cost(const hy_features *f, const hy_rates *rates)
{
    (void)rates;
    return cost_of(HY_SPMM, f);
}

const hy_variant chunk_spgemm = {.name = "test", .op = HY_SPGEMM, .cost = spgemm_cost};
const hy_variant chunk_spmm   = {.name = "test", .op = HY_SPMM, .cost = spmm_cost};
