/* partition/format/pack_views.c - packs and images as kernels see them. */
#include "base/data/csr.h"
#include "partition/format/pack.h"
#include "partition/format/ring.h"

static const void *packed(const hy_job *job, int array)
{
    return (const char *)job->in.ptr + job->pack.at[array];
}

hy_csr_view hy_image_b(const hy_image *image, const void *base)
{
    const char *at      = base;
    const hy_region col = hy_image_region(image, HY_CSR_COLS);
    const hy_region val = hy_image_region(image, HY_CSR_VALUES);

    return (hy_csr_view){.rows    = image->rows,
                         .nnz     = image->nnz,
                         .row_ptr = base,
                         .col     = (const void *)(at + col.at),
                         .val     = at + val.at};
}

int hy_pack_csr_same(const hy_variant *variant, const hybrid_csr *A, const hybrid_csr *B)
{
    return variant->prepare == hy_pack_csr && A->row_ptr == B->row_ptr &&
           A->col == B->col && A->val == B->val;
}

int hy_pack_csr_shares(const hy_job *job)
{
    const hy_problem *p = job->problem;

    return p->op == HY_SPGEMM && !hy_job_gathers(job) && p->image_memory.ptr &&
           hy_pack_csr_same(job->variant, p->A, p->B);
}

/* Returns the view of a matrix on the device. Its offsets must have 64 bits if kernels
   read them. */
static hy_csr_view view_of(const hybrid_csr *A)
{
    return (hy_csr_view){.rows    = A->rows,
                         .nnz     = A->nnz,
                         .row_ptr = A->row_ptr,
                         .col     = A->col,
                         .val     = A->val};
}

/* Returns B as the chunk reads it from the image. If the image is a ring of entries, the
   arrays are shifted so that the offsets of the chunk's rows of B lead to places in the
   ring. */
static hy_csr_view image_of(const hy_job *job)
{
    const hy_problem *problem = job->problem;
    const hy_image *image     = &problem->image;
    hy_csr_view b             = hy_image_b(image, problem->image_memory.ptr);

    if (image->axis != HY_AXIS_ENTRIES)
        return b;
    const int64_t base =
        hy_entry_ring_base(image, hy_offset(problem->B, job->chunk->x_begin));
    b.col -= base;
    b.val = (const char *)b.val - (size_t)base * hy_value_size(image->type);
    return b;
}

hy_csr_view hy_packed_b(const hy_job *job)
{
    const hybrid_csr *B = job->problem->source.on_device.csr;

    if (B)
        return view_of(B);
    if (!hy_job_gathers(job))
        return image_of(job);
    return (hy_csr_view){.rows    = job->chunk->features.gather_rows,
                         .nnz     = job->chunk->features.gather_nnz,
                         .row_ptr = packed(job, HY_GATHER_ROW_PTR),
                         .col     = packed(job, HY_GATHER_COL),
                         .val     = packed(job, HY_GATHER_VAL)};
}

hy_csr_view hy_packed_a(const hy_job *job)
{
    const int64_t *row_ptr = packed(job, HY_A_ROW_PTR);
    const int64_t left_out = job->rows_before + job->rows_after;
    hy_csr_view a          = {.rows    = job->chunk->features.rows - left_out,
                              .nnz     = job->chunk->features.nnz,
                              .row_ptr = row_ptr + job->rows_before,
                              .col     = packed(job, HY_A_COL),
                              .val     = packed(job, HY_A_VAL)};

    if (job->a_on_device) {
        const hybrid_csr *A = job->problem->a_source.on_device.csr;
        const hy_csr_view b = A ? view_of(A) : hy_packed_b(job);
        const int64_t first = hy_offset(job->problem->A, job->chunk->row_begin);
        a.col               = b.col + first;
        a.val =
            (const char *)b.val + (size_t)first * hy_value_size(job->problem->A->type);
    }
    return a;
}

/* Returns the view of the chunk's columns of X in the image. The chunk may compute only
   some columns of the column block (hy_region) that is on the device. */
static hy_dense_view shared_x(const hy_problem *p, const hy_chunk *chunk)
{
    const hy_region x   = hy_image_region_of(&p->image, chunk->col_begin);
    const char *base    = (const char *)p->image_memory.ptr;
    const int64_t lines = x.cols - x.tail;
    const int64_t begin = chunk->col_begin - x.begin, end = chunk->col_end - x.begin;
    /* number of tail columns of the region that precede the chunk's first column */
    const int64_t skip = begin > lines ? begin - lines : 0;
    const char *tail = base + hy_image_tail_at(&p->image, &x, 0) + (size_t)skip * x.size;

    if (begin >= lines && x.tail > 0)
        return (hy_dense_view){.x = tail, .ld = x.tail_ld};
    return (hy_dense_view){.x         = base + x.at + (size_t)begin * x.size,
                           .ld        = x.ld,
                           .rest      = tail,
                           .rest_ld   = x.tail_ld,
                           .rest_cols = end > lines ? end - lines : 0};
}

hy_dense_view hy_packed_x(const hy_job *job)
{
    const hy_chunk *chunk = job->chunk;
    const hy_problem *p   = job->problem;
    const hybrid_dense *X = p->source.on_device.dense;

    if (X)
        return (hy_dense_view){.x = hy_dense_at(X, chunk->col_begin), .ld = X->ld};
    if (hy_job_gathers(job))
        return (hy_dense_view){.x  = packed(job, HY_GATHER_VAL),
                               .ld = chunk->col_end - chunk->col_begin};
    return shared_x(p, chunk);
}

hy_cols_view hy_packed_x_cols(const hy_job *job)
{
    const hy_chunk *chunk = job->chunk;
    const hy_image *image = &job->problem->image;

    if (hy_job_gathers(job))
        return (hy_cols_view){.x     = packed(job, HY_GATHER_VAL),
                              .rows  = chunk->features.gather_rows,
                              .cols  = chunk->col_end - chunk->col_begin,
                              .shift = 32};
    return (hy_cols_view){.x     = job->problem->image_memory.ptr,
                          .rows  = image->rows,
                          .cols  = image->cols,
                          .first = chunk->col_begin,
                          .shift = HY_X_SHIFT};
}
