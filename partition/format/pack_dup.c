/* partition/format/pack_dup.c - duplicates the rows of B in the order of the scalar
   products.

   For each entry of a chunk of A, in order, the row of B that it selects is copied behind
   the previous one. All irregular reads of the product thus happen here, on the CPU
   (hySpMM, Wu 2015, section 3.1). Two passes run over blocks of entries: the first counts
   the scalar products (here: products), the second copies rows to their known positions.
   Rows of B are fetched into the CPU's caches some entries in advance (cache prefetch),
   because the next row may be anywhere. */
#include "partition/format/pack.h"

#include <string.h>

#include "base/data/csr.h"
#include "base/threads/pool.h"
#include "partition/format/gather.h"

enum {
    PACK_ROWS       = 1 << 14, /* rows of A that one worker takes at a time */
    BLOCK_PRODUCTS  = 1 << 16, /* target for the scalar products of a block */
    BLOCK_NONZEROS  = 1 << 13, /* maximum entries of A in a block */
    OFFSET_DISTANCE = 32, /* an offset of B is prefetched into the cache this many entries
                             of A before its use */
    ENTRY_DISTANCE = 8,   /* a row of B is prefetched this many entries of A before its
                             use */
    FEW_ENTRIES = 32,     /* entries of a row of B that are prefetched; the processor
                             prefetches the rest of the row */
    LINE_BYTES  = 64,
    SHORT_BYTES = 128 /* maximum bytes of a row that is copied without memcpy */
};

/* ---- layout ------------------------------------------------------------------ */

static size_t layout(const hy_features *f, size_t at[HY_ARRAYS])
{
    const size_t size = hy_value_size(f->type);

    at[HY_DUP_ROW_START] = 0;
    at[HY_DUP_START]     = hy_align(((size_t)f->rows + 1) * 4);
    at[HY_DUP_A_VAL]     = at[HY_DUP_START] + hy_align(((size_t)f->nnz + 1) * 4);
    at[HY_DUP_COL]       = at[HY_DUP_A_VAL] + hy_align((size_t)f->nnz * size);
    at[HY_DUP_VAL]       = at[HY_DUP_COL] + hy_align((size_t)f->products * 4);
    return at[HY_DUP_VAL] + (size_t)f->products * size;
}

size_t hy_pack_dup_bytes(const hy_features *f)
{
    size_t at[HY_ARRAYS];
    return layout(f, at);
}

size_t hy_pack_dup_work(const hy_features *f)
{
    const size_t entries = (size_t)f->nnz + (size_t)f->products;
    return (entries * (4 + hy_value_size(f->type)) * 11 + 8) / 9;
}

typedef struct packing {
    const hy_job *job;
    const hybrid_csr *A, *B;
    int64_t first; /* index in A's arrays of the chunk's first entry */
    int64_t nnz;   /* number of entries of A in the chunk */
    int64_t block; /* number of entries of A in a block */
    int64_t *sum;  /* blocks + 1 elements: number of scalar products of each block; later
                      the number before each block */
    size_t size;   /* bytes of a value */
    int32_t *row_start, *start, *col;
    char *a_val, *val;
} packing;

static int64_t block_end(const packing *p, int64_t block)
{
    const int64_t end = (block + 1) * p->block;
    return end < p->nnz ? end : p->nnz;
}

/* ---- counting products ----------------------------------------------------------- */

static inline void ask_offset(const packing *p, int64_t k)
{
    if (k >= p->nnz)
        return;
    const int64_t row = hy_cols(p->A)[p->first + k];
    const size_t size = p->B->offset_type == HYBRID_I32 ? 4 : 8;
    __builtin_prefetch((const char *)p->B->row_ptr + (size_t)row * size);
}

/* For the entries of A in blocks [begin, end): sets start[k] to the number of entries of
   the row of B that entry k selects, and sum[] to the scalar products of each block. */
static hybrid_status count(void *arg, int part, int64_t begin, int64_t end)
{
    const packing *p = arg;

    (void)part;
    for (int64_t block = begin; block < end; block++) {
        const int64_t last = block_end(p, block);
        int64_t sum        = 0;
        for (int64_t k = block * p->block; k < last; k++) {
            ask_offset(p, k + OFFSET_DISTANCE);
            const int64_t row = hy_cols(p->A)[p->first + k];
            const int64_t n   = hy_offset(p->B, row + 1) - hy_offset(p->B, row);
            p->start[k]       = (int32_t)n;
            sum += n;
        }
        p->sum[block] = sum;
    }
    return HYBRID_OK;
}

/* ---- the copies -------------------------------------------------------------- */

/* Starts fetching the row of B for entry k into the cache; start[k] must still be the
   length of that row. */
static inline void ask_row(const packing *p, int64_t k)
{
    const int64_t n = p->start[k] < FEW_ENTRIES ? p->start[k] : FEW_ENTRIES;
    if (n == 0)
        return;
    const int64_t from = hy_offset(p->B, hy_cols(p->A)[p->first + k]);
    const char *col    = (const char *)(hy_cols(p->B) + from);
    const char *val    = (const char *)p->B->val + (size_t)from * p->size;
    for (int64_t i = 0; i < n * 4; i += LINE_BYTES)
        __builtin_prefetch(col + i);
    for (int64_t i = 0; i < n * (int64_t)p->size; i += LINE_BYTES)
        __builtin_prefetch(val + i);
    __builtin_prefetch(col + n * 4 - 1); /* also the last byte, because rows need not
                                            begin at a cache line */
    __builtin_prefetch(val + n * (int64_t)p->size - 1);
}

/* Copies n > 0 bytes, a multiple of 4, without memcpy if n is small: most rows are so
   short that calling memcpy would double the time. */
static inline void copy(char *restrict to, const char *restrict from, size_t n)
{
    if (n > SHORT_BYTES) {
        memcpy(to, from, n);
    } else if (n >= 16) {
        for (size_t i = 0; i + 16 <= n; i += 16)
            memcpy(to + i, from + i, 16);
        memcpy(to + n - 16, from + n - 16, 16);
    } else if (n >= 8) {
        memcpy(to, from, 8);
        memcpy(to + n - 8, from + n - 8, 8);
    } else {
        memcpy(to, from, 4);
    }
}

static hybrid_status duplicate(void *arg, int part, int64_t begin, int64_t end)
{
    const packing *p  = arg;
    const size_t size = p->size;

    (void)part;
    for (int64_t block = begin; block < end; block++) {
        const int64_t first = block * p->block, last = block_end(p, block);
        size_t to = (size_t)p->sum[block];
        memcpy(p->a_val + (size_t)first * size,
               (const char *)p->A->val + (size_t)(p->first + first) * size,
               (size_t)(last - first) * size);
        for (int64_t k = first; k < last; k++) {
            ask_offset(p, k + OFFSET_DISTANCE);
            if (k + ENTRY_DISTANCE < last)
                ask_row(p, k + ENTRY_DISTANCE);
            const size_t n    = (size_t)p->start[k];
            const size_t from = (size_t)hy_offset(p->B, hy_cols(p->A)[p->first + k]);
            p->start[k]       = (int32_t)to;
            if (n == 0)
                continue;
            copy((char *)(p->col + to), (const char *)(hy_cols(p->B) + from), n * 4);
            copy(p->val + to * size, (const char *)p->B->val + from * size, n * size);
            to += n;
        }
    }
    return HYBRID_OK;
}

static hybrid_status start_rows(void *arg, int part, int64_t begin, int64_t end)
{
    const packing *p    = arg;
    const int64_t first = p->job->chunk->row_begin;

    (void)part;
    for (int64_t i = begin; i < end; i++)
        p->row_start[i] = p->start[hy_offset(p->A, first + i) - p->first];
    return HYBRID_OK;
}

/* ---- the pack ---------------------------------------------------------------- */

/* Returns UNSUPPORTED if the chunk has too many scalar products, BAD_STATE if it does not
   have the planned pattern or its pack exceeds the memory given. */
static hybrid_status check(const hy_job *job, size_t bytes)
{
    return job->chunk->features.products > INT32_MAX ? hy_pack_too_many(job, INT32_MAX)
                                                     : hy_pack_check(job, bytes);
}

/* Turns the counts of scalar products of blocks (p->sum) into sums over all earlier
   blocks and checks that their total is as planned. */
static hybrid_status add_up(const packing *p, int64_t blocks)
{
    const hy_chunk *chunk = p->job->chunk;

    HY_TRY(hy_prefix_sum(p->job->problem->ctx, p->sum, blocks));
    if (p->sum[blocks] == chunk->features.products)
        return HYBRID_OK;
    return hy_pack_changed(p->job, "need", p->sum[blocks], "multiplications",
                           chunk->features.products);
}

static hybrid_status fill(packing *p)
{
    const hy_features *f = &p->job->chunk->features;
    hy_pool *pool        = p->job->problem->ctx->pool;
    const int64_t each   = f->nnz > 0 ? f->products / f->nnz : 0;
    hybrid_status status;
    void *sum;

    p->block = BLOCK_PRODUCTS / (each + 1) + 1;
    if (p->block > BLOCK_NONZEROS)
        p->block = BLOCK_NONZEROS;
    const int64_t blocks = (p->nnz + p->block - 1) / p->block;
    HY_TRY(hy_array(p->job->problem->ctx, blocks + 1, 8, "sums of products", &sum));
    p->sum = sum;
    HY_TRY_ELSE_DONE(hy_pool_for(pool, HY_PACK, 0, blocks, 1, count, p));
    HY_TRY_ELSE_DONE(add_up(p, blocks));
    p->start[p->nnz] = (int32_t)f->products;
    HY_TRY_ELSE_DONE(hy_pool_for(pool, HY_PACK, 0, blocks, 1, duplicate, p));
    HY_TRY_ELSE_DONE(
        hy_pool_for(pool, HY_PACK, 0, f->rows + 1, PACK_ROWS, start_rows, p));
done:
    hy_array_free(p->job->problem->ctx, sum);
    return status;
}

hybrid_status hy_pack_dup(hy_job *job)
{
    const hy_problem *problem = job->problem;
    const hy_chunk *chunk     = job->chunk;
    char *base                = job->pack.mem.ptr;
    hy_pack *pack             = &job->pack;

    pack->bytes = layout(&chunk->features, pack->at);
    HY_TRY(check(job, pack->bytes));
    packing p = {.job       = job,
                 .A         = problem->A,
                 .B         = problem->B,
                 .first     = hy_offset(problem->A, chunk->row_begin),
                 .nnz       = chunk->features.nnz,
                 .size      = hy_value_size(problem->A->type),
                 .row_start = (void *)(base + pack->at[HY_DUP_ROW_START]),
                 .start     = (void *)(base + pack->at[HY_DUP_START]),
                 .col       = (void *)(base + pack->at[HY_DUP_COL]),
                 .a_val     = base + pack->at[HY_DUP_A_VAL],
                 .val       = base + pack->at[HY_DUP_VAL]};
    return fill(&p);
}

hy_dup_view hy_packed_dup(const hy_job *job)
{
    const hy_features *f = &job->chunk->features;
    char *base           = job->in.ptr;
    const size_t *at     = job->pack.at;

    return (hy_dup_view){.rows      = f->rows,
                         .nnz       = f->nnz,
                         .products  = f->products,
                         .row_start = (void *)(base + at[HY_DUP_ROW_START]),
                         .start     = (void *)(base + at[HY_DUP_START]),
                         .a_val     = base + at[HY_DUP_A_VAL],
                         .col       = (void *)(base + at[HY_DUP_COL]),
                         .val       = base + at[HY_DUP_VAL]};
}
