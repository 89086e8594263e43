/* partition/format/pack_bcsr.c - A as block rows with the words of neighbouring blocks
   interleaved.

   The format is blocked CSR (Choi, Singh and Vuduc, section 4). The words of neighbouring
   blocks are interleaved in batches as long as the group of lanes (GPU threads) that
   reads them. The paper pads each row to full batches. Here the last batch of a row is
   only as wide as the remaining blocks, which costs no bytes and still gives the lanes of
   a group neighbouring words.

       blocks of a row, 3 x 2, groups of 4        words of the first batch
       | a b | c d |   | g h |   | m n | r s |    a c g m | b d h n | . . . | f . l q
       |     |     |   | i j |   | . o | t u |    the second: r s t u v w
       | e f |     |   | k l |   | p q | v w | */
#include "partition/format/pack.h"

#include <string.h>

#include "base/data/csr.h"
#include "partition/format/blocking.h"
#include "partition/format/gather.h"

enum { MAX_LOG_GROUP = 5 };

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

/* Returns the bytes with 1 x 1 blocks, which every chunk can fall back on. */
size_t hy_pack_bcsr_bytes(const hy_features *f)
{
    const hy_bcsr_head single = {.rows = f->rows, .blocks = f->nnz, .shape = {1, 1}};
    size_t at[HY_ARRAYS];
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

static hy_bcsr_head head_of(const hy_blocking *b)
{
    hy_bcsr_head head = {
        .rows = b->rows, .shape = b->shape, .before = hy_blocking_before(b)};

    for (int64_t k = 0; k < b->rows; k++)
        head.blocks += b->count[k];
    head.log_group = log_group_for(&head);
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
            hy_block_next(&walk, &col);
            p->col[first + lane] = col;
            hy_block_store(&walk, col, to, width);
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
    hy_bcsr_head head = head_of(&b);
    job->pack.bytes   = layout(f, &head, job->pack.at);
    if (job->pack.bytes > hy_pack_bcsr_bytes(f)) {
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
