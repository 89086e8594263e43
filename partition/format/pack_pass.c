/* partition/format/pack_pass.c - packs one pass of a chunk: entries of A, and all rows of
   B that they multiply (partition/parts/passes.h).

   A row of the pack of a later pass begins with an entry 1 that names the row's sums,
   which the device puts behind the rows of B. */
#include <string.h>

#include "base/data/csr.h"
#include "base/threads/pool.h"
#include "partition/format/gather.h"
#include "partition/format/pack.h"
#include "partition/parts/passes.h"

enum { PACK_ENTRIES = 1 << 16 }; /* entries that one worker reads or copies at a time */

typedef struct packing {
    const hy_job *job;
    const hybrid_csr *A, *B;
    const hy_pass *pass;
    int64_t first;    /* first row of A of the chunk */
    int64_t from;     /* index in the arrays of B of the pass's first entry */
    int64_t products; /* scalar products of the pass; atomic */
    size_t size;      /* bytes of a value */
    int64_t *row_ptr, *b_row_ptr;
    int32_t *col, *b_col;
    char *val, *b_val;
} packing;

/* Returns 1 if the pass reads the sums of earlier passes. */
static int carries(const packing *p)
{
    return p->pass->number > 0;
}

/* Returns the first entry of row i of the chunk in this pass, and sets *count to the
   number of such entries. */
static int64_t entries_of(const packing *p, int64_t i, int64_t *count)
{
    const int64_t begin = hy_offset(p->A, p->first + i);
    const int64_t nnz   = hy_offset(p->A, p->first + i + 1) - begin;
    const int32_t *col  = hy_cols(p->A) + begin;
    const int64_t first = hy_columns_before(col, nnz, p->pass->begin);

    *count = hy_columns_before(col, nnz, p->pass->end) - first;
    return begin + first;
}

/* ---- A -------------------------------------------------------------------------- */

static hybrid_status count_rows(void *arg, int part, int64_t begin, int64_t end)
{
    packing *p       = arg;
    int64_t products = 0, count;

    (void)part;
    for (int64_t i = begin; i < end; i++) {
        const int32_t *rows = hy_cols(p->A) + entries_of(p, i, &count);
        p->row_ptr[i]       = count + carries(p);
        for (int64_t k = 0; k < count; k++)
            products += hy_offset(p->B, (int64_t)rows[k] + 1) - hy_offset(p->B, rows[k]);
    }
    __atomic_fetch_add(&p->products, products, __ATOMIC_RELAXED);
    return HYBRID_OK;
}

static hybrid_status pack_rows(void *arg, int part, int64_t begin, int64_t end)
{
    const packing *p  = arg;
    const int64_t b   = p->pass->end - p->pass->begin;
    const char *value = p->A->val;
    int64_t count;

    (void)part;
    for (int64_t i = begin; i < end; i++) {
        const int64_t from = entries_of(p, i, &count);
        int64_t to         = p->row_ptr[i];
        if (carries(p)) {
            p->col[to] = (int32_t)(b + i);
            hy_value_put(p->A->type, p->val, to++, 1);
        }
        for (int64_t k = 0; k < count; k++)
            p->col[to + k] = (int32_t)(hy_cols(p->A)[from + k] - p->pass->begin);
        memcpy(p->val + (size_t)to * p->size, value + (size_t)from * p->size,
               (size_t)count * p->size);
    }
    return HYBRID_OK;
}

/* ---- B -------------------------------------------------------------------------- */

static hybrid_status pack_b_offsets(void *arg, int part, int64_t begin, int64_t end)
{
    const packing *p = arg;

    (void)part;
    for (int64_t r = begin; r < end; r++)
        p->b_row_ptr[r] = hy_offset(p->B, p->pass->begin + r) - p->from;
    return HYBRID_OK;
}

static hybrid_status pack_b_entries(void *arg, int part, int64_t begin, int64_t end)
{
    const packing *p   = arg;
    const size_t count = (size_t)(end - begin), size = p->size;
    const char *value = (const char *)p->B->val + (size_t)(p->from + begin) * size;

    (void)part;
    memcpy(p->b_col + begin, hy_cols(p->B) + p->from + begin, count * 4);
    memcpy(p->b_val + (size_t)begin * size, value, count * size);
    return HYBRID_OK;
}

static hybrid_status pack_b(packing *p)
{
    hy_pool *pool      = p->job->problem->ctx->pool;
    const int64_t rows = p->pass->end - p->pass->begin;

    HY_TRY(hy_pool_for(pool, HY_PACK, 0, rows + 1, PACK_ENTRIES, pack_b_offsets, p));
    return hy_pool_for(pool, HY_PACK, 0, hy_pass_nnz(p->job), PACK_ENTRIES,
                       pack_b_entries, p);
}

/* ---- the pack ------------------------------------------------------------------- */

/* Sets the features of the pass, whose largest values the plan knows. */
static hybrid_status measure(hy_job *job, const packing *p)
{
    hy_features *f       = &job->pass.chunk.features;
    const hy_features of = job->pass.planned->features;
    const int64_t nnz    = p->row_ptr[of.rows];

    f->nnz         = nnz;
    f->products    = p->products + job->pass.carried;
    f->gather_rows = job->pass.end - job->pass.begin + (carries(p) ? of.rows : 0);
    f->gather_nnz  = hy_pass_nnz(job) + job->pass.carried;
    if (nnz > of.nnz)
        return hy_pack_changed(job, "have", nnz, "entries in a pass", of.nnz);
    return f->products <= of.products
               ? HYBRID_OK
               : hy_pack_changed(job, "need", f->products, "multiplications in a pass",
                                 of.products);
}

/* Points at the arrays of the pack, which is laid out for the features of the pass.
   Another B than that of the plan may have more entries in a pass. */
static hybrid_status lay_out(hy_job *job, packing *p)
{
    char *base         = job->pack.mem.ptr;
    hy_pack *pack      = &job->pack;
    const int64_t room = (int64_t)pack->mem.bytes;

    pack->bytes  = hy_pack_csr_at(HY_SPGEMM, &job->chunk->features, pack->at);
    p->col       = (void *)(base + pack->at[HY_A_COL]);
    p->val       = base + pack->at[HY_A_VAL];
    p->b_row_ptr = (void *)(base + pack->at[HY_GATHER_ROW_PTR]);
    p->b_col     = (void *)(base + pack->at[HY_GATHER_COL]);
    p->b_val     = base + pack->at[HY_GATHER_VAL];
    return (int64_t)pack->bytes <= room
               ? HYBRID_OK
               : hy_pack_changed(job, "need", (int64_t)pack->bytes, "bytes in a pass",
                                 room);
}

hybrid_status hy_pack_pass(hy_job *job)
{
    const hy_problem *problem = job->problem;
    hy_pool *pool             = problem->ctx->pool;
    const int64_t rows        = job->chunk->row_end - job->chunk->row_begin;
    packing p                 = {.job     = job,
                                 .A       = problem->A,
                                 .B       = problem->B,
                                 .pass    = &job->pass,
                                 .first   = job->chunk->row_begin,
                                 .from    = hy_offset(problem->B, job->pass.begin),
                                 .size    = hy_value_size(problem->A->type),
                                 .row_ptr = job->pack.mem.ptr};
    const int64_t entries     = hy_offset(p.A, p.first + rows) - hy_offset(p.A, p.first);
    const int64_t grain       = 1 + PACK_ENTRIES / (1 + entries / rows);

    HY_TRY(hy_pool_for(pool, HY_PACK, 0, rows, grain, count_rows, &p));
    HY_TRY(hy_prefix_sum(problem->ctx, p.row_ptr, rows));
    HY_TRY(measure(job, &p));
    HY_TRY(lay_out(job, &p));
    HY_TRY(hy_pool_for(pool, HY_PACK, 0, rows, grain, pack_rows, &p));
    return pack_b(&p);
}
