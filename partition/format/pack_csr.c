/* partition/format/pack_csr.c - packs rows of A in CSR, and the rows of B or X that they
   touch if chunks gather them. */
#include "partition/format/pack.h"

#include <string.h>

#include "base/data/csr.h"
#include "base/threads/pool.h"
#include "partition/format/gather.h"
#include "partition/format/ring.h"

enum {
    PACK_ROWS    = 1 << 14, /* rows that one worker packs at a time */
    LIST_ROWS    = 1 << 12, /* rows of B that one worker looks up at a time */
    PACK_ENTRIES = 1 << 16,
    MOST_EACH    = 400 << 20 /* maximum bytes of a B whose rows are read in any order */
};

/* ---- layout ------------------------------------------------------------------ */

size_t hy_pack_csr_at(hy_op op, const hy_features *f, size_t at[HY_ARRAYS])
{
    const size_t size = hy_value_size(f->type);
    const size_t rows = (size_t)f->gather_rows, entries = (size_t)f->gather_nnz;

    at[HY_A_ROW_PTR]      = 0;
    at[HY_A_COL]          = hy_align(((size_t)f->rows + 1) * 8);
    at[HY_A_VAL]          = at[HY_A_COL] + hy_align((size_t)f->nnz * 4);
    const size_t end_a    = at[HY_A_VAL] + (size_t)f->nnz * size;
    at[HY_GATHER_ROW_PTR] = at[HY_GATHER_COL] = at[HY_GATHER_VAL] = 0;
    if (rows == 0)
        return end_a;
    if (op == HY_SPMM) {
        at[HY_GATHER_VAL] = hy_align(end_a);
        return at[HY_GATHER_VAL] + rows * (size_t)f->out_cols * size;
    }
    at[HY_GATHER_ROW_PTR] = hy_align(end_a);
    at[HY_GATHER_COL]     = at[HY_GATHER_ROW_PTR] + hy_align((rows + 1) * 8);
    at[HY_GATHER_VAL]     = at[HY_GATHER_COL] + hy_align(entries * 4);
    return at[HY_GATHER_VAL] + entries * size;
}

size_t hy_pack_csr_bytes(hy_op op, const hy_features *f)
{
    size_t at[HY_ARRAYS];
    return hy_pack_csr_at(op, f, at);
}

typedef struct packing {
    hy_job *job;
    const hybrid_csr *A;
    int64_t first; /* index in A's arrays of the chunk's first entry */
    size_t size;   /* bytes of a value */
    int64_t *row_ptr;
    int32_t *col;
    char *val;
    const int32_t *rows; /* rows of B that the chunk brings; borrowed */
    int64_t count;       /* number of these rows */
    int each; /* 1: the chunk brings a row of B for each of its entries; else each row
                 that it touches once */
    hy_touched touched; /* empty if `each` is 1 */
    hy_ring ring;       /* ring of rows of X; 0 rows if there is none */
    int64_t *gather_row_ptr;
    int32_t *gather_col;
    char *gather_val;
    int64_t *list; /* positions of the gathered rows in the arrays of B, if the device
                      reads these rows; else NULL */
} packing;

/* ---- A ----------------------------------------------------------------------- */

/* Checks that rows [begin, end) of the chunk touch only rows of B that the ring of
   entries holds while this chunk computes. The plan ensures that, unless A has
   changed. */
static hybrid_status check_rows(void *arg, int part, int64_t begin, int64_t end)
{
    const hy_job *job     = arg;
    const hy_chunk *chunk = job->chunk;
    const hy_ring reads   = hy_ring_reads(chunk);

    (void)part;
    return hy_ring_covers(&reads, job->problem->A, chunk->row_begin + begin,
                          chunk->row_begin + end)
               ? HYBRID_OK
               : hy_pack_outside(job);
}

static hybrid_status check_in_ring(hy_job *job)
{
    const hy_problem *problem = job->problem;

    if (problem->image.axis != HY_AXIS_ENTRIES)
        return HYBRID_OK;
    return hy_pool_for(problem->ctx->pool, HY_PACK, 0, job->chunk->features.rows,
                       PACK_ROWS, check_rows, job);
}

static hybrid_status pack_row_ptr(void *arg, int part, int64_t begin, int64_t end)
{
    const packing *p    = arg;
    const int64_t first = p->job->chunk->row_begin;

    (void)part;
    for (int64_t i = begin; i < end; i++)
        p->row_ptr[i] = hy_offset(p->A, first + i) - p->first;
    return HYBRID_OK;
}

/* Replaces column numbers by places (row numbers) in the ring of rows of X. A column that
   the plan did not foresee is an error, because its row of X may not be in the ring. */
static hybrid_status place_cols(const packing *p, const int32_t *col, int64_t begin,
                                int64_t end)
{
    const hy_ring ring = p->ring;
    int inside         = 1;

    for (int64_t k = begin; k < end; k++) {
        inside &= hy_ring_has(&ring, col[k]);
        p->col[k] = hy_ring_position(&ring, col[k]);
    }
    return inside ? HYBRID_OK : hy_pack_outside(p->job);
}

static void number_entries(int32_t *col, int64_t begin, int64_t end)
{
    for (int64_t k = begin; k < end; k++)
        col[k] = (int32_t)k;
}

static hybrid_status pack_entries(void *arg, int part, int64_t begin, int64_t end)
{
    const packing *p   = arg;
    const int32_t *col = hy_cols(p->A) + p->first;
    const size_t n     = (size_t)(end - begin);

    (void)part;
    if (p->ring.rows > 0)
        HY_TRY(place_cols(p, col, begin, end));
    else if (p->each)
        number_entries(p->col, begin, end);
    else if (p->touched.rows)
        hy_renumber(&p->touched, col + begin, end - begin, p->col + begin);
    else
        memcpy(p->col + begin, col + begin, n * 4);
    memcpy(p->val + (size_t)begin * p->size,
           (const char *)p->A->val + (size_t)(p->first + begin) * p->size, n * p->size);
    return HYBRID_OK;
}

static hybrid_status pack_a(packing *p)
{
    const hy_features *f = &p->job->chunk->features;
    hy_pool *pool        = p->job->problem->ctx->pool;

    HY_TRY(hy_pool_for(pool, HY_PACK, 0, f->rows + 1, PACK_ROWS, pack_row_ptr, p));
    return hy_pool_for(pool, HY_PACK, 0, f->nnz, PACK_ENTRIES, pack_entries, p);
}

/* ---- rows of B --------------------------------------------------------------- */

static hybrid_status gather_b_rows(void *arg, int part, int64_t begin, int64_t end)
{
    const packing *p    = arg;
    const hybrid_csr *B = p->job->problem->B;

    (void)part;
    for (int64_t r = begin; r < end; r++) {
        const int64_t from = hy_offset(B, p->rows[r]);
        const int64_t to   = p->gather_row_ptr[r];
        const size_t n     = (size_t)(p->gather_row_ptr[r + 1] - to);
        memcpy(p->gather_col + to, hy_cols(B) + from, n * 4);
        memcpy(p->gather_val + (size_t)to * p->size,
               (const char *)B->val + (size_t)from * p->size, n * p->size);
    }
    return HYBRID_OK;
}

/* Returns where to note the positions of the rows in the arrays of B, if the device reads
   their entries; the list takes the place of the entries. Returns NULL if workers gather
   the rows, as they do if rows of B have too few entries for the list to fit. */
static int64_t *list_of(const packing *p)
{
    const size_t room = p->job->pack.bytes - p->job->pack.at[HY_GATHER_COL];
    const int fits    = (size_t)p->count * sizeof(int64_t) <= room;

    return hy_job_collects(p->job) && fits ? (void *)p->gather_col : NULL;
}

static hybrid_status gather_b_lengths(void *arg, int part, int64_t begin, int64_t end)
{
    const packing *p    = arg;
    const hybrid_csr *B = p->job->problem->B;

    (void)part;
    for (int64_t r = begin; r < end; r++) {
        const int64_t row = p->rows[r], from = hy_offset(B, row);
        p->gather_row_ptr[r] = hy_offset(B, row + 1) - from;
        if (p->list)
            p->list[r] = from;
    }
    return HYBRID_OK;
}

static hybrid_status gather_b(packing *p)
{
    const hy_features *f = &p->job->chunk->features;
    hy_context *ctx      = p->job->problem->ctx;
    const int64_t rows   = p->count;

    p->list = list_of(p);
    HY_TRY(hy_pool_for(ctx->pool, HY_PACK, 0, rows, LIST_ROWS, gather_b_lengths, p));
    HY_TRY(hy_prefix_sum(ctx, p->gather_row_ptr, rows));
    if (!hy_pack_as_planned(p->job, p->gather_row_ptr[rows], f->gather_nnz))
        return hy_pack_changed(p->job, "touch", p->gather_row_ptr[rows], "entries of B",
                               f->gather_nnz);
    if (p->list) {
        p->job->listed = (hy_listed){p->list, rows, p->gather_row_ptr[rows]};
        return HYBRID_OK;
    }
    const int64_t grain = 1 + PACK_ENTRIES / (1 + f->gather_nnz / rows);
    return hy_pool_for(ctx->pool, HY_PACK, 0, rows, grain, gather_b_rows, p);
}

/* ---- the pack ---------------------------------------------------------------- */

/* Returns 1 if the device reads a row of B for each entry of the chunk. The plan has room
   for that if hardly any two entries touch the same row (partition/pattern/gathered.c).
   Reading these rows twice takes less time than finding and numbering the rows that are
   touched. The rows of a large B are listed in ascending order all the same: in the order
   of the entries, an H100 reads rows of 0.9 GB half as fast. It reads rows of 0.3 GB as
   fast in either order. */
static int brings_each(const hy_job *job)
{
    const hy_features *f = &job->chunk->features;
    const hybrid_csr *B  = job->problem->B;

    return hy_job_collects(job) && job->chunk->fewer && f->gather_rows >= f->nnz &&
           f->gather_nnz >= f->products &&
           hy_csr_bytes(B->rows, B->nnz, B->type) <= MOST_EACH;
}

static hybrid_status gather(packing *p)
{
    p->each = brings_each(p->job);
    if (p->each) {
        p->rows  = hy_cols(p->A) + p->first;
        p->count = p->job->chunk->features.nnz;
    } else {
        HY_TRY(hy_pack_touched(p->job, &p->touched));
        p->rows  = p->touched.rows;
        p->count = p->touched.count;
    }
    if (p->count == 0)
        return HYBRID_OK;
    return p->job->problem->op == HY_SPMM ? hy_pack_x(p->job, &p->touched, p->gather_val)
                                          : gather_b(p);
}

/* Packs A in CSR, and the gathered rows of B or X. Packs nothing for rows of A that are
   on the device already (job->a_on_device). */
hybrid_status hy_pack_csr(hy_job *job)
{
    const hy_problem *problem = job->problem;
    const hy_chunk *chunk     = job->chunk;
    char *base                = job->pack.mem.ptr;
    hy_pack *pack             = &job->pack;
    hybrid_status status      = HYBRID_OK;

    if (hy_job_in_passes(job))
        return hy_pack_pass(job);
    pack->bytes = hy_pack_csr_at(problem->op, &chunk->features, pack->at);
    HY_TRY(hy_pack_check(job, pack->bytes));
    HY_TRY(check_in_ring(job));
    if (job->a_on_device)
        return HYBRID_OK;
    packing p = {.job            = job,
                 .A              = problem->A,
                 .first          = hy_offset(problem->A, chunk->row_begin),
                 .size           = hy_value_size(problem->A->type),
                 .row_ptr        = (void *)(base + pack->at[HY_A_ROW_PTR]),
                 .col            = (void *)(base + pack->at[HY_A_COL]),
                 .val            = base + pack->at[HY_A_VAL],
                 .gather_row_ptr = (void *)(base + pack->at[HY_GATHER_ROW_PTR]),
                 .gather_col     = (void *)(base + pack->at[HY_GATHER_COL]),
                 .gather_val     = base + pack->at[HY_GATHER_VAL]};
    if (problem->image.axis == HY_AXIS_ROWS)
        p.ring = hy_ring_of(&problem->image, chunk);
    if (hy_job_gathers(job))
        HY_TRY_ELSE_DONE(gather(&p));
    HY_TRY_ELSE_DONE(pack_a(&p));
done:
    hy_touched_free(problem->ctx, &p.touched);
    return status;
}

/* ---- on the device ------------------------------------------------------------- */

static size_t offsets_bytes(const hy_features *f)
{
    return hy_align(((size_t)f->rows + 1) * 8);
}

hybrid_status hy_arrange_csr(hy_lane *lane, hy_job *job)
{
    const hybrid_csr *A   = job->problem->a_source.on_device.csr;
    const hy_rebasing all = {.to        = job->in.ptr,
                             .from      = A->row_ptr,
                             .to_type   = HYBRID_I64,
                             .from_type = A->offset_type,
                             .count     = A->rows + 1,
                             .gate      = job->gate};

    job->pack.bytes = job->pack.rest = offsets_bytes(&job->chunk->features);
    return lane->backend->ops->rebase(lane, &all);
}

size_t hy_arranged_bytes(hy_op op, const hy_features *f, const hy_cost *cost)
{
    const size_t csr = hy_align(hy_pack_csr_bytes(op, f));

    return offsets_bytes(f) + (cost->pack_bytes > csr ? cost->pack_bytes - csr : 0);
}
