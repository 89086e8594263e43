/* tests/support/fake/fake_variants.c - slow and simple variants of the fake device. */
#include <stdlib.h>

#include "base/data/csr.h"
#include "partition/format/pack.h"
#include "tests/support/fake/fake_backend.h"

static const char *never_refuse(const hy_features *f, const hy_rates *r)
{
    (void)f;
    (void)r;
    return NULL;
}

/* Returns x rounded to the type. Double arithmetic of which each result is rounded to f32
   gives the same values as f32 arithmetic. */
static double rounded(hybrid_type type, double x)
{
    return type == HYBRID_F32 ? (double)(float)x : x;
}

static double load(const void *values, hybrid_type type, int64_t k)
{
    return type == HYBRID_F32 ? (double)((const float *)values)[k]
                              : ((const double *)values)[k];
}

static void store(void *values, hybrid_type type, int64_t k, double x)
{
    if (type == HYBRID_F32)
        ((float *)values)[k] = (float)x;
    else
        ((double *)values)[k] = x;
}

/* ---- SpGEMM: expand, sort, compress ---- */

typedef struct term {
    int32_t col;
    int32_t order; /* position in its row before sorting, which makes the sort stable */
    double product;
} term;

/* Returns the start of job->work, which holds the position of each row's first term, and
   then the terms. A term is one scalar product and its column. */
static int64_t *starts_of(const hy_job *job)
{
    return job->work.ptr;
}

static term *terms_of(const hy_job *job)
{
    const size_t rows = (size_t)job->chunk->features.rows;
    return (void *)((char *)job->work.ptr + hy_align((rows + 1) * 8));
}

static hy_cost spgemm_cost(const hy_features *f, const hy_rates *r)
{
    (void)r;
    return (hy_cost){.pack_bytes = hy_pack_csr_bytes(HY_SPGEMM, f),
                     .work_bytes = hy_align(((size_t)f->rows + 1) * 8) +
                                   (size_t)f->products * sizeof(term),
                     .out_bytes = hy_rows_bytes(HY_SPGEMM, f, 0)};
}

static hybrid_status expand(hy_lane *lane, void *arg)
{
    const hy_job *job      = arg;
    const hybrid_type type = job->chunk->features.type;
    const hy_csr_view a = hy_packed_a(job), b = hy_packed_b(job);
    int64_t *start = starts_of(job);
    term *terms    = terms_of(job);
    int64_t n      = 0;

    (void)lane;
    for (int64_t i = 0; i < a.rows; i++) {
        start[i] = n;
        for (int64_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; k++) {
            const double scale = load(a.val, type, k);
            for (int64_t l = b.row_ptr[a.col[k]]; l < b.row_ptr[a.col[k] + 1]; l++, n++)
                terms[n] = (term){b.col[l], (int32_t)(n - start[i]),
                                  rounded(type, scale * load(b.val, type, l))};
        }
    }
    start[a.rows] = n;
    return HYBRID_OK;
}

static int by_column(const void *a, const void *b)
{
    const term *x = a, *y = b;

    if (x->col != y->col)
        return x->col < y->col ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Adds the terms of equal column of one sorted row, and stores the entries from index
   `at` on, except those for which there is no room. Returns the index after the last
   entry. */
static int64_t compress_row(const hy_job *job, const term *terms, int64_t count,
                            int64_t at)
{
    const hybrid_type type = job->chunk->features.type;
    const int64_t room     = hy_out_room(&job->chunk->features);

    for (int64_t k = 0; k < count; at++) {
        const int32_t col = terms[k].col;
        /* 0.0 + x is never -0, so sums begin with +0 */
        double sum = 0.0 + terms[k++].product;
        for (; k < count && terms[k].col == col; k++)
            sum = rounded(type, sum + terms[k].product);
        if (at >= room)
            continue;
        job->out.col[at] = col;
        store(job->out.val, type, at, sum);
    }
    return at;
}

static hybrid_status compress(hy_lane *lane, void *arg)
{
    const hy_job *job    = arg;
    const int64_t *start = starts_of(job);
    term *terms          = terms_of(job);
    int64_t n            = 0;

    (void)lane;
    for (int64_t i = 0; i < hy_job_rows(job); i++) {
        const int64_t count = start[i + 1] - start[i];
        qsort(terms + start[i], (size_t)count, sizeof *terms, by_column);
        job->out.row_ptr[i] = n;
        n                   = compress_row(job, terms + start[i], count, n);
    }
    job->out.row_ptr[hy_job_rows(job)] = n;
    *job->out_nnz                      = n;
    return HYBRID_OK;
}

static hybrid_status spgemm_multiply(hy_lane *lane, hy_job *job)
{
    return hy_fake_enqueue(lane, expand, job);
}

static hybrid_status spgemm_finish(hy_lane *lane, hy_job *job)
{
    return hy_fake_enqueue(lane, compress, job);
}

/* Computes rows of C from a pack that contains a copy of a row of B for each entry of
   A. */
static hybrid_status multiply_dup(hy_lane *lane, void *arg)
{
    const hy_job *job      = arg;
    const hybrid_type type = job->chunk->features.type;
    const hy_dup_view d    = hy_packed_dup(job);
    int64_t *start         = starts_of(job);
    term *terms            = terms_of(job);

    (void)lane;
    for (int64_t i = 0; i <= d.rows; i++)
        start[i] = d.row_start[i];
    for (int64_t k = 0, row = 0; k < d.nnz; k++)
        for (int64_t t = d.start[k]; t < d.start[k + 1]; t++) {
            while (t >= start[row + 1])
                row++;
            terms[t] =
                (term){d.col[t], (int32_t)(t - start[row]),
                       rounded(type, load(d.a_val, type, k) * load(d.val, type, t))};
        }
    return HYBRID_OK;
}

static hy_cost dup_cost(const hy_features *f, const hy_rates *r)
{
    hy_cost cost = spgemm_cost(f, r);

    cost.pack_bytes = hy_pack_dup_bytes(f);
    if (cost.work_bytes < hy_pack_dup_work(f))
        cost.work_bytes = hy_pack_dup_work(f);
    return cost;
}

static hybrid_status dup_multiply(hy_lane *lane, hy_job *job)
{
    return hy_fake_enqueue(lane, multiply_dup, job);
}

const hy_variant hy_spgemm_fake_dup = {
    .name     = "spgemm.fake.dup",
    .summary  = "the same, with the rows of B duplicated by the packer",
    .source   = "for tests",
    .op       = HY_SPGEMM,
    .refuse   = never_refuse,
    .cost     = dup_cost,
    .prepare  = hy_pack_dup,
    .multiply = dup_multiply,
    .finish   = spgemm_finish,
};

const hy_variant hy_spgemm_fake_esc = {
    .name      = "spgemm.fake.esc",
    .summary   = "expand, sort, compress, on the fake device",
    .source    = "for tests",
    .op        = HY_SPGEMM,
    .form      = HY_FORM_CSR,
    .csr       = 1,
    .overflows = 1,
    .rings     = 1,
    .refuse    = never_refuse,
    .cost      = spgemm_cost,
    .prepare   = hy_pack_csr,
    .arrange   = hy_arrange_csr,
    .multiply  = spgemm_multiply,
    .finish    = spgemm_finish,
};

/* ---- SpMM: row after row ---- */

static hy_cost spmm_cost(const hy_features *f, const hy_rates *r)
{
    (void)r;
    return (hy_cost){.pack_bytes = hy_pack_csr_bytes(HY_SPMM, f),
                     .out_bytes  = hy_rows_bytes(HY_SPMM, f, 0)};
}

/* Returns element (row, j) of X as the chunk has it, with `cols` columns. */
static double x_at(const hy_dense_view *x, hybrid_type type, int64_t cols, int64_t row,
                   int64_t j)
{
    const int64_t lines = cols - x->rest_cols;

    return j < lines ? load(x->x, type, row * x->ld + j)
                     : load(x->rest, type, row * x->rest_ld + j - lines);
}

static hybrid_status rows_times_x(hy_lane *lane, void *arg)
{
    const hy_job *job      = arg;
    const hybrid_type type = job->chunk->features.type;
    const int64_t cols     = job->chunk->col_end - job->chunk->col_begin;
    const hy_csr_view a    = hy_packed_a(job);
    const hy_dense_view x  = hy_packed_x(job);
    /* -1: the gate of hy_rebasing was 0; compute nothing */
    const int64_t rows = a.row_ptr[0] < 0 ? 0 : a.rows;

    (void)lane;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++) {
            double sum = 0;
            for (int64_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; k++)
                sum = rounded(type,
                              sum + rounded(type, load(a.val, type, k) *
                                                      x_at(&x, type, cols, a.col[k], j)));
            store(job->out.val, type, i * cols + j, sum);
        }
    return HYBRID_OK;
}

static hybrid_status spmm_multiply(hy_lane *lane, hy_job *job)
{
    return hy_fake_enqueue(lane, rows_times_x, job);
}

const hy_variant hy_spmm_fake_rows = {
    .name       = "spmm.fake.rows",
    .summary    = "row after row, on the fake device",
    .source     = "for tests",
    .op         = HY_SPMM,
    .form       = HY_FORM_ROWS,
    .csr        = 1,
    .tail_lines = 1,
    .rings      = 1,
    .refuse     = never_refuse,
    .cost       = spmm_cost,
    .prepare    = hy_pack_csr,
    .arrange    = hy_arrange_csr,
    .multiply   = spmm_multiply,
};
