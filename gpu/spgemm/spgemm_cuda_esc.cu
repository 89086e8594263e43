/* gpu/spgemm/spgemm_cuda_esc.cu - C = A*B on the GPU: expand, sort, compress.

   multiply()  counts scalar products, puts rows into bins by them, expands the long
               rows
   finish()    sorts by column within rows, adds equal columns, closes the gaps

   esc_sort.cu has both steps, and esc_work.cuh explains bins. Rows that a warp or a block
   sorts are never expanded in memory: their products are computed where they are
   sorted. */
#include "gpu/spgemm/esc_sort.cuh"

/* Returns the arrays of the kernels, which compute scalar products from the chunk of A
   and from B. */
template <typename T> static hy_esc<T> esc_of(const hy_job *job, hy_scratch *temp)
{
    const hy_csr_view a = hy_packed_a(job), b = hy_packed_b(job);
    hy_esc<T> e = hy_esc_of<T>(job, temp);

    e.a_row = a.row_ptr;
    e.a_col = a.col;
    e.a_val = static_cast<const T *>(a.val);
    e.b_row = b.row_ptr;
    e.b_col = b.col;
    e.b_val = static_cast<const T *>(b.val);
    return e;
}

template <typename T> static hybrid_status multiply_as(hy_lane *lane, const hy_job *job)
{
    hy_scratch temp;
    const hy_esc<T> e = esc_of<T>(job, &temp);

    HY_TRY(hy_scan_products(lane, temp, e.a_col, e.b_row, e.nnz, e.start));
    return hy_esc_bin_rows(lane, job, e);
}

static hybrid_status multiply(hy_lane *lane, hy_job *job)
{
    HY_TRY(hy_esc_check(lane, job));
    HY_TRY(hy_lane_enter(lane));
    return HY_CALL_BY_TYPE(job->chunk->features.type, multiply_as, lane, job);
}

template <typename T> static hybrid_status finish_as(hy_lane *lane, const hy_job *job)
{
    hy_scratch temp;
    return hy_esc_finish(lane, job, esc_of<T>(job, &temp));
}

static hybrid_status finish(hy_lane *lane, hy_job *job)
{
    HY_TRY(hy_lane_enter(lane));
    return HY_CALL_BY_TYPE(job->chunk->features.type, finish_as, lane, job);
}

static hy_cost cost(const hy_features *f, const hy_rates *r)
{
    hy_cost c = hy_esc_cost(f, r);

    c.pack_bytes = hy_pack_csr_bytes(HY_SPGEMM, f);
    c.prepare_s  = double(c.pack_bytes) / HY_PACK_BPS;
    c.multiply_s += r->launch_s + double(f->nnz) / (HY_ESC_SM_NONZEROS * r->width);
    return c;
}

extern "C" const hy_variant hy_spgemm_cuda_esc = {
    .name     = "spgemm.cuda.esc",
    .summary  = "expand, sort by column within rows, add equal ones",
    .source   = "Wu 2015 (hySpMM), the expansion moved to the GPU",
    .op       = HY_SPGEMM,
    .form     = HY_FORM_CSR,
    .csr      = 1,
    .in_place = 0,
    .rings    = 1,
    .refuse   = hy_esc_refuse,
    .cost     = cost,
    .prepare  = hy_pack_csr,
    .arrange  = hy_arrange_csr,
    .multiply = multiply,
    .finish   = finish,
};
