/* partition/pattern/extents.c - the range of columns in which a range of rows has
   entries. */
#include "partition/pattern/extents.h"

#include <string.h>

#include "base/data/csr.h"
#include "base/threads/pool.h"

enum {
    BLOCK = 16 /* rows of a block, for which one extent (range of columns with entries)
                  is stored */
    ,
    BLOCKS = 1 << 9 /* blocks of rows that one worker takes at a time */
};

typedef struct finding {
    const hybrid_csr *A;
    hy_extent *blocks;
    int64_t max_width;
    int too_wide; /* result of a search: 1 if the first and the last entry of some row are
                     more than `max_width` columns apart */
} finding;

static hy_extent joined(hy_extent a, hy_extent b)
{
    return (hy_extent){.first = a.first < b.first ? a.first : b.first,
                       .end   = a.end > b.end ? a.end : b.end};
}

hy_extent hy_extents_scan(const hybrid_csr *A, int64_t begin, int64_t end,
                          int64_t *widest)
{
    hy_extent all = {INT32_MAX, 0};

    for (int64_t i = begin; i < end; i++) {
        const int64_t from = hy_offset(A, i), to = hy_offset(A, i + 1);
        if (from == to)
            continue;
        const hy_extent row = {hy_cols(A)[from], hy_cols(A)[to - 1] + 1};
        const int64_t width = (int64_t)row.end - row.first;
        *widest             = width > *widest ? width : *widest;
        all                 = joined(all, row);
    }
    return all;
}

static hybrid_status find_blocks(void *arg, int part, int64_t begin, int64_t end)
{
    finding *l         = arg;
    const int64_t rows = l->A->rows;
    int64_t widest     = 0;

    (void)part;
    for (int64_t b = begin; b < end && widest <= l->max_width; b++) {
        if (__atomic_load_n(&l->too_wide, __ATOMIC_RELAXED))
            return HYBRID_OK;
        const int64_t stop = b < rows / BLOCK ? (b + 1) * BLOCK : rows;
        l->blocks[b]       = hy_extents_scan(l->A, b * BLOCK, stop, &widest);
    }
    if (widest > l->max_width)
        __atomic_store_n(&l->too_wide, 1, __ATOMIC_RELAXED);
    return HYBRID_OK;
}

hybrid_status hy_extents_find(hy_context *ctx, const hybrid_csr *A, int64_t max_width,
                              hy_extents *out)
{
    finding l = {.A = A, .max_width = max_width};
    void *memory;

    *out = (hy_extents){
        .A = A, .rows = BLOCK, .count = A->rows / BLOCK + (A->rows % BLOCK > 0)};
    HY_TRY(hy_array(ctx, out->count + 1, sizeof(hy_extent), "extents of rows", &memory));
    out->blocks = l.blocks = memory;
    HY_TRY(hy_pool_for(ctx->pool, HY_PLAN, 0, out->count, BLOCKS, find_blocks, &l));
    if (l.too_wide)
        hy_extents_free(ctx, out);
    return HYBRID_OK;
}

hybrid_status hy_extents_take(hy_context *ctx, const hybrid_csr *A,
                              const hy_profile *profile, hy_extents *out)
{
    void *memory;

    *out =
        (hy_extents){.A = A, .rows = HY_ENDS_ROWS, .count = A->rows / HY_ENDS_ROWS + 1};
    HY_TRY(hy_array(ctx, out->count, sizeof(hy_extent), "extents of rows", &memory));
    out->blocks = memory;
    for (int64_t b = 0; b < out->count; b++) {
        const int64_t end = profile->ends[b];
        out->blocks[b] =
            (hy_extent){end > 0 ? (int32_t)profile->firsts[b] : INT32_MAX, (int32_t)end};
    }
    return HYBRID_OK;
}

void hy_extents_free(hy_context *ctx, hy_extents *extents)
{
    hy_array_free(ctx, extents->blocks);
    memset(extents, 0, sizeof *extents);
}

hy_extent hy_extents_of(const hy_extents *extents, int64_t begin, int64_t end)
{
    /* blocks [from, to) lie wholly within rows [begin, end) */
    const int64_t block = extents->rows;
    const int64_t from = (begin + block - 1) / block, to = end / block;
    int64_t widest = 0;

    if (from >= to)
        return hy_extents_scan(extents->A, begin, end, &widest);
    hy_extent all = joined(hy_extents_scan(extents->A, begin, from * block, &widest),
                           hy_extents_scan(extents->A, to * block, end, &widest));
    for (int64_t b = from; b < to; b++)
        all = joined(all, extents->blocks[b]);
    return all;
}
