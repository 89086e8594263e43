/* partition/pack_hrpb.c - A as panels of 16 rows, their columns moved together, in
   bricks.

   Hierarchical row-panel blocking (cuTeSpMM, section 3.2): of each panel only the columns
   that have entries are kept, side by side; 16 of them are a block, four bricks of 16 x
   4, and a brick is a pattern of 64 bits and its values. Panels whose columns are too
   empty are kept as entries in the order of rows instead. Heavy panels are cut into
   parts, as many as the share of a wave of units asks for (section 5).

   Two passes over the panels: how many blocks each has; then, knowing where they start,
   the blocks. */
#include "partition/pack.h"

#include <string.h>

#include "base/csr.h"
#include "base/pool.h"
#include "partition/gather.h"
#include "partition/panel.h"

enum { PACK_ENTRIES = 1 << 15 }; /* that one worker takes at a time, about */

/* ---- layout ------------------------------------------------------------------ */

static int64_t panels_of(const hy_features *f)
{
    return (f->rows + HY_HRPB_ROWS - 1) / HY_HRPB_ROWS;
}

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* A panel of e entries has (e + 15) / 16 blocks at most, whichever kind they are. */
static int64_t most_blocks(const hy_features *f)
{
    const int64_t spare = (HY_HRPB_COLS - 1) * lesser(panels_of(f), f->nnz);
    return (f->nnz + spare) / HY_HRPB_COLS;
}

/* A panel of b blocks in parts of `longest` has less than 2 b / longest of them; longest
   is no less than rules->least, nor than a wave's share of all blocks. */
int64_t hy_pack_hrpb_partials(const hy_features *f, const hy_hrpb_rules *rules)
{
    return 2 * lesser(most_blocks(f) / rules->least + 1, rules->wave);
}

static size_t layout(const hy_features *f, const hy_hrpb_head *head, size_t at[HY_ARRAYS])
{
    const size_t size = hy_value_size(f->type);

    at[HY_HRPB_HEAD]  = 0;
    at[HY_HRPB_UNITS] = hy_align(sizeof *head);
    at[HY_HRPB_SPLITS] =
        at[HY_HRPB_UNITS] + hy_align((size_t)head->units * sizeof(hy_hrpb_unit));
    at[HY_HRPB_BLOCKS] =
        at[HY_HRPB_SPLITS] + hy_align((size_t)head->splits * sizeof(hy_hrpb_split));
    at[HY_HRPB_VAL] =
        at[HY_HRPB_BLOCKS] + hy_align((size_t)head->blocks * sizeof(hy_hrpb_block));
    at[HY_HRPB_X] = at[HY_HRPB_VAL] + hy_align((size_t)f->nnz * size);
    return at[HY_HRPB_X] + (size_t)f->gather_rows * (size_t)f->out_cols * size;
}

size_t hy_pack_hrpb_bytes(const hy_features *f, const hy_hrpb_rules *rules)
{
    const int64_t partials  = hy_pack_hrpb_partials(f, rules);
    const hy_hrpb_head most = {.units    = panels_of(f) + partials,
                               .splits   = partials / 2,
                               .partials = partials,
                               .blocks   = most_blocks(f)};
    size_t at[HY_ARRAYS];
    return layout(f, &most, at);
}

/* What the loops of one call share. */
typedef struct packing {
    const hy_job *job;
    const hybrid_csr *A;
    const hy_hrpb_rules *rules;
    int64_t first; /* entry of A */
    int64_t panels;
    int64_t *start;         /* panels+1: blocks before each */
    unsigned char *entries; /* panels: 1 = kept as entries */
    size_t size;            /* of a value */
    hy_touched touched;
    hy_hrpb_block *block;
    char *val;
} packing;

/* The panel's rows of A. */
static void panel_rows(const packing *p, int64_t panel, int64_t *begin, int64_t *rows)
{
    const hy_chunk *chunk = p->job->chunk;

    *begin = chunk->row_begin + panel * HY_HRPB_ROWS;
    *rows  = lesser(HY_HRPB_ROWS, chunk->row_end - *begin);
}

/* ---- how many blocks --------------------------------------------------------- */

static hybrid_status count_blocks(void *arg, int part, int64_t begin, int64_t end)
{
    const packing *p = arg;
    hy_panel panel;
    int64_t row, rows;
    int32_t col;

    (void)part;
    for (int64_t k = begin; k < end; k++) {
        int64_t columns = 0;
        panel_rows(p, k, &row, &rows);
        const int64_t nnz = hy_offset(p->A, row + rows) - hy_offset(p->A, row);
        hy_panel_start(p->A, row, rows, &panel);
        while (hy_panel_next(&panel, &col) != 0)
            columns++;
        p->entries[k] = (double)nnz < p->rules->fill * (double)(columns * HY_HRPB_ROWS);
        p->start[k] = ((p->entries[k] ? nnz : columns) + HY_HRPB_COLS - 1) / HY_HRPB_COLS;
    }
    return HYBRID_OK;
}

/* ---- units ------------------------------------------------------------------- */

/* Blocks that a unit has at most. */
static int64_t longest_unit(const packing *p)
{
    const int64_t share = (p->start[p->panels] + p->rules->wave - 1) / p->rules->wave;
    return share > p->rules->least ? share : p->rules->least;
}

static int64_t parts_of(const packing *p, int64_t panel, int64_t longest)
{
    const int64_t blocks = p->start[panel + 1] - p->start[panel];
    return blocks > longest ? (blocks + longest - 1) / longest : 1;
}

static hy_hrpb_head count_units(const packing *p, int64_t longest)
{
    hy_hrpb_head head = {.blocks = p->start[p->panels]};

    for (int64_t k = 0; k < p->panels; k++) {
        const int64_t parts = parts_of(p, k, longest);
        head.units += parts;
        head.splits += parts > 1;
        head.partials += parts > 1 ? parts : 0;
    }
    return head;
}

static void list_units(const packing *p, int64_t longest, hy_hrpb_unit *unit,
                       hy_hrpb_split *split)
{
    int32_t partial = 0;

    for (int64_t k = 0; k < p->panels; k++) {
        const int64_t parts  = parts_of(p, k, longest);
        const int64_t blocks = p->start[k + 1] - p->start[k];
        const int32_t row    = (int32_t)(k * HY_HRPB_ROWS);
        if (parts > 1)
            *split++ = (hy_hrpb_split){row, partial, (int32_t)parts};
        for (int64_t i = 0; i < parts; i++)
            *unit++ =
                (hy_hrpb_unit){.row   = row,
                               .begin = (int32_t)(p->start[k] + i * blocks / parts),
                               .end   = (int32_t)(p->start[k] + (i + 1) * blocks / parts),
                               .partial = parts > 1 ? partial++ : -1,
                               .entries = p->entries[k]};
    }
}

/* ---- blocks ------------------------------------------------------------------ */

static int32_t x_row(const packing *p, int32_t col)
{
    return p->touched.rows ? hy_renumbered(&p->touched, col) : col;
}

/* Bit r of the 16 moves to bit 4 r. */
static uint64_t spread(uint64_t rows)
{
    rows = (rows | rows << 24) & 0x000000ff000000ff;
    rows = (rows | rows << 12) & 0x000f000f000f000f;
    rows = (rows | rows << 6) & 0x0303030303030303;
    return (rows | rows << 3) & 0x1111111111111111;
}

/* The values of a brick that the panel has just passed over, row by row: those of row r
   end before panel->at[r]. */
static char *copy_values(const packing *p, const hy_panel *panel, uint64_t pattern,
                         uint32_t rows, char *to)
{
    for (; rows != 0; rows &= rows - 1) {
        const int r    = __builtin_ctz(rows);
        const int n    = __builtin_popcount((unsigned)(pattern >> (4 * r)) & 15);
        const char *at = (const char *)p->A->val + (size_t)(panel->at[r] - n) * p->size;
        if (p->size == 4)
            for (int i = 0; i < n; i++, to += 4, at += 4)
                memcpy(to, at, 4);
        else
            for (int i = 0; i < n; i++, to += 8, at += 8)
                memcpy(to, at, 8);
    }
    return to;
}

/* The next four columns; returns how many there were. */
static int pack_brick(const packing *p, hy_panel *panel, int32_t *col, uint32_t *bits,
                      char **val)
{
    uint64_t pattern = 0;
    uint32_t any     = 0;
    int k            = 0;

    for (; k < HY_HRPB_BRICK; k++) {
        int32_t c;
        const uint32_t rows = hy_panel_next(panel, &c);
        if (rows == 0)
            break;
        col[k] = x_row(p, c);
        pattern |= spread(rows) << k;
        any |= rows;
    }
    bits[0] = (uint32_t)pattern;
    bits[1] = (uint32_t)(pattern >> 32);
    *val    = copy_values(p, panel, pattern, any, *val);
    return k;
}

static void fill_up(hy_hrpb_block *b, int columns)
{
    for (int k = columns; k < HY_HRPB_COLS; k++)
        b->col[k] = b->col[columns - 1];
}

static void pack_bricks(const packing *p, int64_t k, int64_t row, int64_t rows)
{
    int64_t next = hy_offset(p->A, row) - p->first;
    char *val    = p->val + (size_t)next * p->size;
    hy_panel panel;

    hy_panel_start(p->A, row, rows, &panel);
    for (int64_t i = p->start[k]; i < p->start[k + 1]; i++) {
        hy_hrpb_block *b = &p->block[i];
        int columns      = 0;
        b->first         = (int32_t)((size_t)(val - p->val) / p->size);
        for (int brick = 0; brick < HY_HRPB_BRICKS; brick++)
            columns += pack_brick(p, &panel, b->col + columns, b->bits + 2 * brick, &val);
        fill_up(b, columns);
    }
}

/* Entry e of the block is in row `nibble`. */
static void put_entry(hy_hrpb_block *b, int e, int32_t col, int64_t nibble)
{
    b->col[e] = col;
    b->bits[e / 8] |= (uint32_t)nibble << (4 * (e % 8));
    b->bits[2]++;
}

static void pack_entries(const packing *p, int64_t k, int64_t row, int64_t rows)
{
    const int64_t begin = hy_offset(p->A, row), end = hy_offset(p->A, row + rows);
    hy_hrpb_block *b = &p->block[p->start[k]];
    int64_t at       = begin;

    for (int64_t r = 0; r < rows; r++)
        for (; at < hy_offset(p->A, row + r + 1); at++) {
            const int e = (int)((at - begin) % HY_HRPB_COLS);
            if (e == 0) {
                b = &p->block[p->start[k] + (at - begin) / HY_HRPB_COLS];
                memset(b->bits, 0, sizeof b->bits);
                b->first = (int32_t)(at - p->first);
            }
            put_entry(b, e, x_row(p, p->A->col[at]), r);
        }
    if (begin < end)
        fill_up(b, (int)b->bits[2]);
    memcpy(p->val + (size_t)(begin - p->first) * p->size,
           (const char *)p->A->val + (size_t)begin * p->size,
           (size_t)(end - begin) * p->size);
}

static hybrid_status pack_panels(void *arg, int part, int64_t begin, int64_t end)
{
    const packing *p = arg;
    int64_t row, rows;

    (void)part;
    for (int64_t k = begin; k < end; k++) {
        panel_rows(p, k, &row, &rows);
        if (p->entries[k])
            pack_entries(p, k, row, rows);
        else
            pack_bricks(p, k, row, rows);
    }
    return HYBRID_OK;
}

/* ---- the pack ---------------------------------------------------------------- */

static hybrid_status over_panels(packing *p, hy_loop_fn fn)
{
    const int64_t each = p->job->chunk->features.nnz / (p->panels + 1) + 1;
    return hy_pool_for(p->job->problem->ctx->pool, HY_PACK, 0, p->panels,
                       1 + PACK_ENTRIES / each, fn, p);
}

static hybrid_status count(packing *p)
{
    hy_context *ctx = p->job->problem->ctx;
    void *array;

    HY_TRY(hy_array(ctx, p->panels + 1, 8, "blocks of panels", &array));
    p->start = array;
    HY_TRY(hy_array(ctx, p->panels, 1, "kinds of panels", &array));
    p->entries = array;
    HY_TRY(over_panels(p, count_blocks));
    return hy_prefix_sum(ctx, p->start, p->panels);
}

static hybrid_status fill(packing *p, hy_job *job)
{
    const int64_t longest   = longest_unit(p);
    const hy_hrpb_head head = count_units(p, longest);
    char *base              = job->pack.mem.ptr;
    size_t *at              = job->pack.at;

    job->pack.bytes = layout(&job->chunk->features, &head, at);
    HY_TRY(hy_pack_check(job, job->pack.bytes));
    memcpy(base + at[HY_HRPB_HEAD], &head, sizeof head);
    p->block = (void *)(base + at[HY_HRPB_BLOCKS]);
    p->val   = base + at[HY_HRPB_VAL];
    list_units(p, longest, (void *)(base + at[HY_HRPB_UNITS]),
               (void *)(base + at[HY_HRPB_SPLITS]));
    HY_TRY(over_panels(p, pack_panels));
    if (p->touched.count == 0)
        return HYBRID_OK;
    return hy_pack_x(job, &p->touched, base + at[HY_HRPB_X]);
}

hybrid_status hy_pack_hrpb(hy_job *job, const hy_hrpb_rules *rules)
{
    const hy_problem *problem = job->problem;
    const hy_chunk *chunk     = job->chunk;
    hybrid_status status      = HYBRID_OK;
    packing p                 = {.job    = job,
                                 .A      = problem->A,
                                 .rules  = rules,
                                 .first  = hy_offset(problem->A, chunk->row_begin),
                                 .panels = panels_of(&chunk->features),
                                 .size   = hy_value_size(problem->A->type)};

    HY_TRY(hy_pack_check(job, 0));
    if (chunk->gathered)
        HY_TRY_ELSE_DONE(hy_pack_touched(job, &p.touched));
    HY_TRY_ELSE_DONE(count(&p));
    HY_TRY_ELSE_DONE(fill(&p, job));
done:
    hy_touched_free(problem->ctx, &p.touched);
    hy_array_free(problem->ctx, p.start);
    hy_array_free(problem->ctx, p.entries);
    return status;
}

hy_hrpb_view hy_packed_hrpb(const hy_job *job)
{
    const hy_pack *pack = &job->pack;
    const char *base    = job->in.ptr;
    hy_hrpb_view view   = {.unit  = (const void *)(base + pack->at[HY_HRPB_UNITS]),
                           .split = (const void *)(base + pack->at[HY_HRPB_SPLITS]),
                           .block = (const void *)(base + pack->at[HY_HRPB_BLOCKS]),
                           .val   = base + pack->at[HY_HRPB_VAL]};

    memcpy(&view.head, (const char *)pack->mem.ptr + pack->at[HY_HRPB_HEAD],
           sizeof view.head);
    return view;
}
