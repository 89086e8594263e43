/* partition/format/pack_bellpack.c - A as slices of block rows, with a lane for each
   block row.

   The format is blocked ELLPACK (Choi, Singh and Vuduc, section 5). Block rows are sorted
   by length and cut into slices of R lanes. Each slice is padded to its longest row and
   stored step after step. The order is stored too, so that results reach their rows. Rows
   are sorted within panels of PANEL block rows only, so that neighbours stay near each
   other and share X in the caches. Beyond the paper, a power of two of lanes shares a
   long row, so that slices of long rows are no taller than others. R is chosen to pad
   least, unless options give R. In the form of the paper all block rows are one panel and
   no lanes share a row.

       4 block rows of 3, 1, 3 and 2 blocks, R = 4     step 0    step 1    step 2
       A B C |                                         A E G D   B F H -   C I J -
       D     |   in the order 0, 2, 3, 1:  ABC EFI
       E F I |                             GH  D       (a letter: word e of the block,
       G H   |                                          then word e + 1 of all four) */
#include "partition/format/pack.h"

#include <string.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "partition/format/blocking.h"
#include "partition/format/gather.h"

enum {
    PANEL = 4096,      /* maximum block rows that are sorted together; a multiple of R */
    MIN_LOG_LANES = 5, /* log2 of the minimum of R, the lanes of a slice; the maximum is
                          256 */
    MAX_LOG_LANES = 8,
    MAX_LOG_WAYS  = 5, /* log2 of the maximum number of lanes for a block row, a warp */
    ALIGN_CELLS   = 32 /* the number of the first cell of a slice is a multiple of this,
                          which aligns the words that a warp reads; a cell is room for a
                          block (pack.h) */
};

/* ---- layout ------------------------------------------------------------------ */

static size_t layout(const hy_features *f, const hy_bellpack_head *head,
                     size_t at[HY_ARRAYS])
{
    const size_t size     = hy_value_size(f->type);
    const size_t elements = hy_block_elements(head->shape);
    const size_t cells    = (size_t)head->cells;

    at[HY_BELLPACK_SLICES] = 0;
    at[HY_BELLPACK_ORDER]  = hy_align((size_t)head->slices * sizeof(hy_bellpack_slice));
    at[HY_BELLPACK_COL]    = at[HY_BELLPACK_ORDER] + hy_align((size_t)head->rows * 4);
    at[HY_BELLPACK_VAL]    = at[HY_BELLPACK_COL] + hy_align(cells * 4);
    at[HY_BELLPACK_X]      = at[HY_BELLPACK_VAL] + hy_align(cells * elements * size);
    return at[HY_BELLPACK_X] + (size_t)f->gather_rows * (size_t)f->out_cols * size;
}

/* Returns the number of blocks that a GPU lane (thread) should have at most: 1/wave of
   all blocks, or `least` if that is more. A longer block row is shared by 2 to 32 lanes.
   A lane gets more blocks only if 32 lanes are too few. */
static int64_t steps_for(const hy_bellpack_rules *rules, int64_t blocks)
{
    const int64_t share = blocks / rules->wave + 1;
    return share > rules->least ? share : rules->least;
}

/* Returns an upper bound on the bytes if the shape of blocks is binding
   (hy_block_may_yield() is 0). With one lane for each row, a slice has at most as many
   cells as the previous slice of its panel has blocks. Only the first slice of a panel
   adds R x its longest row. With shared rows the arguments below hold. */
static size_t bytes_of_shape(const hy_features *f, const hy_bellpack_rules *rules)
{
    const hy_block_shape shape = {f->block_rows, f->block_cols};
    const int paper            = f->parameter[HY_BLOCK_PAPER];
    const int64_t given        = f->parameter[HY_BLOCK_LANES];
    const int64_t lanes        = given > 0 ? given : (int64_t)1 << MIN_LOG_LANES;
    const int64_t blocks       = hy_block_bound(f);
    const int64_t rows         = f->rows / shape.rows + 2;
    const int64_t longest =
        hy_min(blocks, hy_min(shape.rows * f->row_max, f->cols / shape.cols + 1));
    const int64_t steps   = hy_min(longest, steps_for(rules, blocks));
    const int64_t panels  = rows / PANEL + 1;
    const int64_t slices  = rows / lanes + 1;
    hy_bellpack_head head = {.rows = rows, .shape = shape};
    size_t at[HY_ARRAYS];

    if (paper) {
        head.slices = slices;
        head.cells  = blocks + lanes * longest;
    } else {
        head.slices = slices + panels * (MAX_LOG_WAYS + 2) + blocks / (16 * rules->least);
        head.cells  = blocks + 2 * blocks / rules->least +
                     panels * lanes * ((MAX_LOG_WAYS + 1) * steps + longest / 32 + 1);
    }
    head.cells += head.slices * ALIGN_CELLS;
    return layout(f, &head, at);
}

/* Returns the bytes with 1 x 1 blocks sorted as one panel with R = 32, in which every
   chunk can be packed if hy_block_may_yield() is 1. Let S = steps_for(), and let the ways
   of a slice be the lanes for each of its rows. A slice takes at most as many lanes x
   steps as the previous slice has blocks. The exceptions are the first slice of each
   number of ways, which takes at most 32 S, and slices of 32 ways, which are single rows.
   With 2^w > 1 lanes for a row, a row of n > S 2^(w-1) blocks is padded by less than 2^w
   < 2 n / S blocks. A slice of shared rows, except the first of its number of ways,
   follows one of at least 16 S blocks. */
size_t hy_pack_bellpack_bytes(const hy_features *f, const hy_bellpack_rules *rules)
{
    const int64_t steps = steps_for(rules, f->nnz);
    const int64_t max = hy_min(f->nnz + MAX_LOG_WAYS * 32 * steps, f->rows * f->row_max);
    const int64_t slices          = f->rows / 32 + f->nnz / (16 * rules->least) + 8;
    const hy_bellpack_head single = {.rows   = f->rows,
                                     .slices = hy_min(f->rows, slices),
                                     .cells  = max + 2 * max / rules->least + ALIGN_CELLS,
                                     .shape  = {1, 1}};
    size_t at[HY_ARRAYS];

    if (!hy_block_may_yield(f) && f->block_rows > 0)
        return bytes_of_shape(f, rules);
    return layout(f, &single, at);
}

typedef struct packing {
    hy_blocking b;
    int64_t panel;          /* number of block rows that are sorted together (panel) */
    int64_t steps;          /* maximum steps of a slice; a slice has more only if 32 lanes
                               are too few for a row */
    int32_t *order, *spare; /* `order`: block rows in sorted order; `spare`: room for
                               sorting; `rows` elements each */
    hy_bellpack_head head;
    hy_bellpack_slice *slice;
    int32_t *col;
    char *val;
} packing;

/* ---- order ------------------------------------------------------------------- */

/* Makes one stable pass of a radix sort of n block rows by 8 bits of `max - count`, from
   bit `shift` on. */
static void sort_pass(const int64_t *count, int64_t max, int shift, const int32_t *from,
                      int32_t *to, int64_t n)
{
    int64_t start[257] = {0};

    for (int64_t k = 0; k < n; k++)
        start[((max - count[from[k]]) >> shift & 255) + 1]++;
    for (int d = 0; d < 256; d++)
        start[d + 1] += start[d];
    for (int64_t k = 0; k < n; k++)
        to[start[(max - count[from[k]]) >> shift & 255]++] = from[k];
}

/* Sorts block rows [begin, end) by descending number of blocks; equal ones keep their
   order. */
static void sort_panel(const packing *p, int64_t begin, int64_t end)
{
    int32_t *from = p->order + begin, *to = p->spare + begin;
    int64_t max = 0;

    for (int64_t k = begin; k < end; k++) {
        p->order[k] = (int32_t)k;
        max         = p->b.count[k] > max ? p->b.count[k] : max;
    }
    for (int shift = 0; max >> shift > 0; shift += 8) {
        int32_t *sorted = to;
        sort_pass(p->b.count, max, shift, from, to, end - begin);
        to   = from;
        from = sorted;
    }
    if (from != p->order + begin)
        memcpy(p->order + begin, from, (size_t)(end - begin) * sizeof *from);
}

static hybrid_status sort_panels(void *arg, int part, int64_t begin, int64_t end)
{
    const packing *p = arg;

    (void)part;
    for (int64_t k = begin; k < end; k++)
        sort_panel(p, k * p->panel, hy_min((k + 1) * p->panel, p->b.rows));
    return HYBRID_OK;
}

/* ---- slices ------------------------------------------------------------------ */

static int32_t log_ways_for(const packing *p, int64_t longest)
{
    int32_t w = 0;
    while (w < MAX_LOG_WAYS && p->steps << w < longest)
        w++;
    return w;
}

/* Sets *s to the slice that begins with block row number `first` of the sorted order, and
   returns how many block rows of the order it covers. */
static int64_t slice_at(const packing *p, int64_t first, int log_lanes,
                        hy_bellpack_slice *s)
{
    const int64_t beyond  = hy_min((first / p->panel + 1) * p->panel, p->b.rows);
    const int64_t longest = p->b.count[p->order[first]];

    s->first           = (int32_t)first;
    s->log_ways        = log_ways_for(p, longest);
    const int64_t max  = (int64_t)1 << (log_lanes - s->log_ways);
    const int64_t rows = hy_min(max, beyond - first);
    s->lanes           = (int32_t)(rows << s->log_ways);
    s->steps = (int32_t)((longest + ((int64_t)1 << s->log_ways) - 1) >> s->log_ways);
    return rows;
}

/* Cuts all slices with R = 2^log_lanes, and returns the head. Writes the slices to
   `slice` unless it is NULL. */
static hy_bellpack_head cut_slices(const packing *p, int log_lanes,
                                   hy_bellpack_slice *slice)
{
    hy_bellpack_head head = {.rows      = p->b.rows,
                             .shape     = p->b.shape,
                             .log_lanes = log_lanes,
                             .before    = hy_blocking_before(&p->b)};
    hy_bellpack_slice s;

    for (int64_t first = 0; first < p->b.rows; head.slices++) {
        first += slice_at(p, first, log_lanes, &s);
        s.at = head.cells;
        if (slice)
            slice[head.slices] = s;
        head.cells += (int64_t)s.lanes * s.steps;
        head.cells = (head.cells + ALIGN_CELLS - 1) / ALIGN_CELLS * ALIGN_CELLS;
    }
    return head;
}

/* Chooses the R that options give, or the R with which the pack takes the fewest bytes,
   and of several such R the largest. Returns these bytes. */
static size_t choose_lanes(packing *p, size_t at[HY_ARRAYS])
{
    const hy_features *f = &p->b.job->chunk->features;
    const int given      = f->parameter[HY_BLOCK_LANES];
    size_t min           = SIZE_MAX;

    for (int s = MAX_LOG_LANES; s >= MIN_LOG_LANES; s--) {
        if (given > 0 && given != 1 << s)
            continue;
        const hy_bellpack_head head = cut_slices(p, s, NULL);
        const size_t bytes          = layout(f, &head, at);
        if (bytes < min) {
            min     = bytes;
            p->head = head;
        }
    }
    return layout(f, &p->head, at);
}

static hybrid_status arrange(packing *p, const hy_bellpack_rules *rules, int64_t panel,
                             size_t at[HY_ARRAYS], size_t *bytes)
{
    const int paper = p->b.job->chunk->features.parameter[HY_BLOCK_PAPER];

    p->steps = paper ? INT32_MAX : steps_for(rules, hy_blocking_total(&p->b));
    p->panel = panel;
    HY_TRY(hy_blocking_for(&p->b, (p->b.rows + panel - 1) / panel, sort_panels, p));
    *bytes = choose_lanes(p, at);
    return HYBRID_OK;
}

/* ---- cells ------------------------------------------------------------------- */

/* Stores cells without entries for one lane, from step `step` to the end of the slice. */
static void pad_lane(const packing *p, const hy_bellpack_slice *s, int64_t lane,
                     int64_t step)
{
    const size_t elements = hy_block_elements(p->head.shape);

    for (; step < s->steps; step++) {
        const int64_t row  = s->at + step * s->lanes;
        p->col[row + lane] = 0;
        hy_block_store_none(&p->b,
                            p->val + ((size_t)row * elements + (size_t)lane) * p->b.size,
                            s->lanes);
    }
}

static void pack_row(const packing *p, const hy_bellpack_slice *s, int64_t place)
{
    const size_t elements = hy_block_elements(p->head.shape);
    const int64_t ways = (int64_t)1 << s->log_ways, first = place << s->log_ways;
    hy_block_walk walk;
    int64_t block = 0;
    int32_t col;

    hy_block_walk_start(&p->b, p->order[s->first + place], &walk);
    for (; hy_block_next(&walk, &col); block++) {
        const int64_t lane = first + (block & (ways - 1));
        const int64_t row  = s->at + (block >> s->log_ways) * s->lanes;
        p->col[row + lane] = col;
        hy_block_store(&walk, col,
                       p->val + ((size_t)row * elements + (size_t)lane) * p->b.size,
                       s->lanes);
    }
    for (int64_t way = 0; way < ways; way++)
        pad_lane(p, s, first + way, (block - way + ways - 1) >> s->log_ways);
}

/* Packs slices, and stores cells without entries between a slice and the next. */
static hybrid_status pack_slices(void *arg, int part, int64_t begin, int64_t end)
{
    const packing *p      = arg;
    const size_t elements = hy_block_elements(p->head.shape);

    (void)part;
    for (int64_t k = begin; k < end; k++) {
        const hy_bellpack_slice *s = &p->slice[k];
        const int64_t used         = s->at + (int64_t)s->lanes * s->steps;
        const int64_t beyond       = k + 1 < p->head.slices ? s[1].at : p->head.cells;
        for (int64_t place = 0; place < s->lanes >> s->log_ways; place++)
            pack_row(p, s, place);
        for (int64_t cell = used; cell < beyond; cell++) {
            p->col[cell] = 0;
            hy_block_store_none(&p->b, p->val + (size_t)cell * elements * p->b.size, 1);
        }
    }
    return HYBRID_OK;
}

/* ---- the pack ---------------------------------------------------------------- */

static hybrid_status fill(packing *p, hy_job *job)
{
    char *base       = job->pack.mem.ptr;
    const size_t *at = job->pack.at;

    p->slice = (void *)(base + at[HY_BELLPACK_SLICES]);
    p->col   = (void *)(base + at[HY_BELLPACK_COL]);
    p->val   = base + at[HY_BELLPACK_VAL];
    memcpy(job->pack.head, &p->head, sizeof p->head);
    memcpy(base + at[HY_BELLPACK_ORDER], p->order, (size_t)p->b.rows * sizeof *p->order);
    cut_slices(p, p->head.log_lanes, p->slice);
    HY_TRY(hy_blocking_for(&p->b, p->head.slices, pack_slices, p));
    if (p->b.touched.count == 0)
        return HYBRID_OK;
    return hy_pack_x(job, &p->b.touched, base + at[HY_BELLPACK_X]);
}

/* Allocates p->order and p->spare for `rows` block rows: the rows of the chunk, because
   blocks may become 1 x 1. */
static hybrid_status alloc_order(packing *p, hy_context *ctx, int64_t rows)
{
    void *array;

    HY_TRY(hy_array(ctx, rows, sizeof *p->order, "the order of block rows", &array));
    p->order = array;
    HY_TRY(hy_array(ctx, rows, sizeof *p->order, "the order of block rows", &array));
    p->spare = array;
    return HYBRID_OK;
}

hybrid_status hy_pack_bellpack(hy_job *job, const hy_bellpack_rules *rules)
{
    const hy_features *f = &job->chunk->features;
    const size_t max     = hy_pack_bellpack_bytes(f, rules);
    hy_context *ctx      = job->problem->ctx;
    size_t *at = job->pack.at, *bytes = &job->pack.bytes;
    packing p = {0};
    hybrid_status status;

    HY_TRY_ELSE_DONE(hy_blocking_open(job, &p.b));
    const int64_t panel = f->parameter[HY_BLOCK_PAPER] ? hy_max(p.b.rows, 1) : PANEL;
    HY_TRY_ELSE_DONE(alloc_order(&p, ctx, f->rows));
    HY_TRY_ELSE_DONE(arrange(&p, rules, panel, at, bytes));
    if (*bytes > max) {
        if (!hy_block_may_yield(f))
            HY_TRY_ELSE_DONE(hy_blocking_too_large(&p.b, *bytes, max));
        HY_TRY_ELSE_DONE(hy_blocking_single(&p.b));
        HY_TRY_ELSE_DONE(arrange(&p, rules, f->rows, at, bytes));
    }
    HY_TRY_ELSE_DONE(hy_pack_check(job, *bytes));
    HY_TRY_ELSE_DONE(fill(&p, job));
done:
    hy_blocking_close(&p.b);
    hy_array_free(ctx, p.order);
    hy_array_free(ctx, p.spare);
    return status;
}

hy_bellpack_view hy_packed_bellpack(const hy_job *job)
{
    const hy_pack *pack   = &job->pack;
    const char *base      = job->in.ptr;
    hy_bellpack_view view = {.slice = (const void *)(base + pack->at[HY_BELLPACK_SLICES]),
                             .order = (const void *)(base + pack->at[HY_BELLPACK_ORDER]),
                             .col   = (const void *)(base + pack->at[HY_BELLPACK_COL]),
                             .val   = base + pack->at[HY_BELLPACK_VAL]};

    memcpy(&view.head, pack->head, sizeof view.head);
    return view;
}
