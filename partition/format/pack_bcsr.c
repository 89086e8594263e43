/* partition/format/pack_bcsr.c - A as block rows with the words of neighbouring blocks
   interleaved.

   The format is blocked CSR (Choi, Singh and Vuduc, section 4). The words of neighbouring
   blocks are interleaved in batches as long as the group of lanes (GPU threads) that
   reads them. The last batch of a row is only as wide as the remaining blocks, which
   costs no bytes and still gives the lanes of a group neighbouring words. In the form of
   the paper (section 4.3) a group is a warp, and rows are padded with blocks without
   entries to a multiple of ALIGN_BLOCKS.

       blocks of a row, 3 x 2, groups of 4        words of the first batch
       | a b | c d |   | g h |   | m n | r s |    a c g m | b d h n | . . . | f . l q
       |     |     |   | i j |   | . o | t u |    the second: r s t u v w
       | e f |     |   | k l |   | p q | v w | */
#include "partition/format/pack.h"

#include <string.h>

#include "base/data/csr.h"
#include "partition/format/blocking.h"
#include "partition/format/gather.h"

enum {
    MAX_LOG_GROUP =
        5, /* log2 of the maximum number of lanes in a group, which is a warp */
    ALIGN_BLOCKS = 16 /* in the form of the paper, block rows are padded to a multiple of
                         this many blocks: f32 words of 64 bytes, which the paper's GPUs
                         load at once */
};

static size_t layout(const hy_features *f, const hy_bcsr_head *head, size_t at[HY_ARRAYS])
{
    const size_t size     = hy_value_size(f->type);
    const size_t elements = hy_block_elements(head->shape);

    at[HY_BCSR_ROW_PTR] = 0;
    at[HY_BCSR_COL]     = hy_align((size_t)(head->rows + 1) * 4);
    at[HY_BCSR_VAL]     = at[HY_BCSR_COL] + hy_align((size_t)head->blocks * 4);
    at[HY_BCSR_X] = at[HY_BCSR_VAL] + hy_align((size_t)head->blocks * elements * size);
    return at[HY_BCSR_X] + (size_t)f->gather_rows * (size_t)f->out_cols * size;
}

/* Returns an upper bound on the bytes if the shape of blocks is binding
   (hy_block_may_yield() is 0). Rows of the first and of the last block row may lie
   outside the chunk. */
static size_t bytes_of_shape(const hy_features *f)
{
    const hy_block_shape shape = {f->block_rows, f->block_cols};
    hy_bcsr_head head          = {
                 .rows = f->rows / shape.rows + 2, .blocks = hy_block_bound(f), .shape = shape};
    size_t at[HY_ARRAYS];

    if (f->parameter[HY_BLOCK_PAPER])
        head.blocks += head.rows * (ALIGN_BLOCKS - 1);
    return layout(f, &head, at);
}

/* Returns the bytes with 1 x 1 blocks, in which every chunk can be packed if
   hy_block_may_yield() is 1. */
size_t hy_pack_bcsr_bytes(const hy_features *f)
{
    const hy_bcsr_head single = {.rows = f->rows, .blocks = f->nnz, .shape = {1, 1}};
    size_t at[HY_ARRAYS];

    if (!hy_block_may_yield(f) && f->block_rows > 0)
        return bytes_of_shape(f);
    return layout(f, &single, at);
}

/* Returns log2 of the lanes of a group: as many as a row of average length keeps busy. */
static int32_t log_group_for(const hy_bcsr_head *head)
{
    int32_t s = 0;
    while (s < MAX_LOG_GROUP && head->rows << s < head->blocks)
        s++;
    return s;
}

/* Pads each block row with empty blocks to a multiple of ALIGN_BLOCKS, as the paper
   does. */
static void pad_rows(hy_blocking *b)
{
    for (int64_t k = 0; k < b->rows; k++)
        b->count[k] = (b->count[k] + ALIGN_BLOCKS - 1) / ALIGN_BLOCKS * ALIGN_BLOCKS;
}

static hy_bcsr_head head_of(const hy_blocking *b)
{
    const int paper   = b->job->chunk->features.parameter[HY_BLOCK_PAPER];
    hy_bcsr_head head = {.rows   = b->rows,
                         .blocks = hy_blocking_total(b),
                         .shape  = b->shape,
                         .before = hy_blocking_before(b)};

    head.log_group = paper ? MAX_LOG_GROUP : log_group_for(&head);
    return head;
}

typedef struct packing {
    const hy_blocking *b;
    const int64_t *start;
    int64_t group;
    int32_t *row_ptr, *col;
    char *val;
} packing;

static void pack_row(const packing *p, int64_t row)
{
    const int64_t begin = p->start[row], end = p->start[row + 1];
    const size_t bytes = hy_block_elements(p->b->shape) * p->b->size;
    hy_block_walk walk;
    int32_t col = 0;

    hy_block_walk_start(p->b, row, &walk);
    for (int64_t first = begin; first < end; first += p->group) {
        const int64_t width = end - first < p->group ? end - first : p->group;
        char *to            = p->val + (size_t)first * bytes;
        for (int64_t lane = 0; lane < width; lane++, to += p->b->size) {
            const int real       = hy_block_next(&walk, &col);
            p->col[first + lane] = real ? col : 0;
            if (real)
                hy_block_store(&walk, col, to, width);
            else
                hy_block_store_none(p->b, to, width);
        }
    }
}

static hybrid_status pack_rows(void *arg, int part, int64_t begin, int64_t end)
{
    const packing *p = arg;

    (void)part;
    for (int64_t k = begin; k < end; k++) {
        p->row_ptr[k] = (int32_t)p->start[k];
        pack_row(p, k);
    }
    return HYBRID_OK;
}

static hybrid_status fill(const hy_blocking *b, const hy_bcsr_head *head, hy_job *job)
{
    char *base       = job->pack.mem.ptr;
    const size_t *at = job->pack.at;
    packing p        = {.b       = b,
                        .start   = b->count,
                        .group   = (int64_t)1 << head->log_group,
                        .row_ptr = (void *)(base + at[HY_BCSR_ROW_PTR]),
                        .col     = (void *)(base + at[HY_BCSR_COL]),
                        .val     = base + at[HY_BCSR_VAL]};

    memcpy(job->pack.head, head, sizeof *head);
    HY_TRY(hy_prefix_sum(job->problem->ctx, b->count, b->rows));
    p.row_ptr[b->rows] = (int32_t)head->blocks;
    HY_TRY(hy_blocking_for(b, b->rows, pack_rows, &p));
    if (b->touched.count == 0)
        return HYBRID_OK;
    return hy_pack_x(job, &b->touched, base + at[HY_BCSR_X]);
}

hybrid_status hy_pack_bcsr(hy_job *job)
{
    const hy_features *f = &job->chunk->features;
    hybrid_status status;
    hy_blocking b;

    HY_TRY_ELSE_DONE(hy_blocking_open(job, &b));
    if (f->parameter[HY_BLOCK_PAPER])
        pad_rows(&b);
    hy_bcsr_head head = head_of(&b);
    job->pack.bytes   = layout(f, &head, job->pack.at);
    if (job->pack.bytes > hy_pack_bcsr_bytes(f)) {
        if (!hy_block_may_yield(f))
            HY_TRY_ELSE_DONE(
                hy_blocking_too_large(&b, job->pack.bytes, hy_pack_bcsr_bytes(f)));
        HY_TRY_ELSE_DONE(hy_blocking_single(&b));
        head            = head_of(&b);
        job->pack.bytes = layout(f, &head, job->pack.at);
    }
    HY_TRY_ELSE_DONE(hy_pack_check(job, job->pack.bytes));
    HY_TRY_ELSE_DONE(fill(&b, &head, job));
done:
    hy_blocking_close(&b);
    return status;
}

hy_bcsr_view hy_packed_bcsr(const hy_job *job)
{
    const hy_pack *pack = &job->pack;
    const char *base    = job->in.ptr;
    hy_bcsr_view view   = {.row_ptr = (const void *)(base + pack->at[HY_BCSR_ROW_PTR]),
                           .col     = (const void *)(base + pack->at[HY_BCSR_COL]),
                           .val     = base + pack->at[HY_BCSR_VAL]};

    memcpy(&view.head, pack->head, sizeof view.head);
    return view;
}
