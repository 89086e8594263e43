/* partition/format/pack_hrpb.c - A as row panels of 16 rows with compacted columns, in
   bricks.

   The format is hierarchical row-panel blocking (cuTeSpMM, section 3.2). Only the columns
   in which a panel has entries are stored, side by side. 16 of them form a block of four
   bricks of 16 x 4. A brick is a pattern of 64 bits and its values. A unit is the work of
   a warp: a panel, or a part of a heavy one. Panels are cut so that no unit exceeds its
   share of a wave, the units that run at once (section 5).

   Two passes over the panels: the first counts the blocks of each, the second packs them
   at their known positions (pack_bricks.c). */
#include <string.h>

#include "base/data/min_max.h"
#include "base/threads/pool.h"
#include "partition/format/bricks.h"
#include "partition/format/gather.h"

enum { PACK_ENTRIES = 1 << 15 }; /* target for the entries that a worker packs at once */

/* ---- layout ------------------------------------------------------------------ */

static int64_t panels_of(const hy_features *f)
{
    return (f->rows + HY_HRPB_ROWS - 1) / HY_HRPB_ROWS;
}

/* Returns an upper bound on the blocks of all panels. A panel of e entries has at most (e
   + 15) / 16 blocks. */
static int64_t max_blocks(const hy_features *f)
{
    const int64_t spare = (HY_HRPB_COLS - 1) * hy_min(panels_of(f), f->nnz);
    return (f->nnz + spare) / HY_HRPB_COLS;
}

/* Returns an upper bound on the partials of a pack (the parts of cut panels). A panel of
   b blocks cut into parts of at most `longest` blocks has less than 2 b / longest parts.
   `longest` is at least rules->least and at least all blocks / wave. */
int64_t hy_pack_hrpb_partials(const hy_features *f, const hy_hrpb_rules *rules)
{
    return 2 * hy_min(max_blocks(f) / rules->least + 1, rules->wave);
}

static size_t layout(const hy_features *f, const hy_hrpb_head *head, size_t at[HY_ARRAYS])
{
    const size_t size = hy_value_size(f->type);

    at[HY_HRPB_UNITS] = 0;
    at[HY_HRPB_SPLITS] =
        at[HY_HRPB_UNITS] + hy_align((size_t)head->units * sizeof(hy_hrpb_unit));
    at[HY_HRPB_BLOCKS] =
        at[HY_HRPB_SPLITS] + hy_align((size_t)head->splits * sizeof(hy_hrpb_split));
    at[HY_HRPB_VAL] =
        at[HY_HRPB_BLOCKS] + hy_align((size_t)head->blocks * sizeof(hy_hrpb_block));
    at[HY_HRPB_X] = at[HY_HRPB_VAL] + hy_align(((size_t)f->nnz + 1) * size);
    return at[HY_HRPB_X] + (size_t)f->gather_rows * (size_t)f->out_cols * size;
}

size_t hy_pack_hrpb_bytes(const hy_features *f, const hy_hrpb_rules *rules)
{
    const int64_t partials = hy_pack_hrpb_partials(f, rules);
    const hy_hrpb_head max = {.units    = panels_of(f) + partials,
                              .splits   = partials / 2,
                              .partials = partials,
                              .blocks   = max_blocks(f)};
    size_t at[HY_ARRAYS];
    return layout(f, &max, at);
}

typedef struct packing {
    const hy_job *job;
    const hybrid_csr *A;
    int64_t first; /* index in A's arrays of the chunk's first entry */
    int64_t panels;
    int64_t *start;      /* panels + 1 elements: number of blocks before each panel */
    hy_brick_work *work; /* workspace for packing bricks, one for each thread */
    hy_touched touched;
    hy_ring ring;
    hy_hrpb_block *block;
    char *val;
} packing;

static hy_brick_panel panel_of(const packing *p, int64_t panel)
{
    const hy_chunk *chunk  = p->job->chunk;
    const int64_t row      = chunk->row_begin + panel * HY_HRPB_ROWS;
    const hy_brick_panel b = {.A       = p->A,
                              .row     = row,
                              .rows    = hy_min(HY_HRPB_ROWS, chunk->row_end - row),
                              .touched = &p->touched,
                              .ring    = &p->ring};
    return b;
}

/* ---- units ------------------------------------------------------------------- */

static int64_t longest_unit(const packing *p, const hy_hrpb_rules *rules)
{
    const int64_t share = (p->start[p->panels] + rules->wave - 1) / rules->wave;
    return share > rules->least ? share : rules->least;
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

/* Writes one unit for each of the `parts` parts of a panel to `unit` and returns the
   place after them. */
static hy_hrpb_unit *list_parts(const packing *p, int64_t panel, int64_t parts,
                                int32_t partial, hy_hrpb_unit *unit)
{
    const int64_t first = p->start[panel], blocks = p->start[panel + 1] - first;

    for (int64_t i = 0; i < parts; i++)
        *unit++ = (hy_hrpb_unit){.row     = (int32_t)(panel * HY_HRPB_ROWS),
                                 .begin   = (int32_t)(first + i * blocks / parts),
                                 .end     = (int32_t)(first + (i + 1) * blocks / parts),
                                 .partial = parts > 1 ? partial + (int32_t)i : -1};
    return unit;
}

/* Lists the units. Units of heavy panels, with more than longest / 4 blocks, come first,
   so that none starts when the others are nearly done. Light panels keep their order,
   because neighbours share rows of X. */
static void list_units(const packing *p, int64_t longest, hy_hrpb_unit *unit,
                       hy_hrpb_split *split)
{
    int32_t partial = 0;

    for (int light = 0; light < 2; light++)
        for (int64_t k = 0; k < p->panels; k++) {
            const int64_t parts = parts_of(p, k, longest);
            if ((p->start[k + 1] - p->start[k] <= longest / 4) != light)
                continue;
            unit = list_parts(p, k, parts, partial, unit);
            if (parts > 1) {
                *split++ =
                    (hy_hrpb_split){(int32_t)(k * HY_HRPB_ROWS), partial, (int32_t)parts};
                partial += (int32_t)parts;
            }
        }
}

/* ---- the pack ---------------------------------------------------------------- */

static hybrid_status count_blocks(void *arg, int part, int64_t begin, int64_t end)
{
    const packing *p = arg;

    for (int64_t k = begin; k < end; k++) {
        const hy_brick_panel panel = panel_of(p, k);
        if (p->ring.rows > 0 &&
            !hy_ring_covers(&p->ring, p->A, panel.row, panel.row + panel.rows))
            return hy_pack_outside(p->job);
        p->start[k] =
            (hy_brick_columns(&panel, &p->work[part]) + HY_HRPB_COLS - 1) / HY_HRPB_COLS;
    }
    return HYBRID_OK;
}

static hybrid_status pack_panels(void *arg, int part, int64_t begin, int64_t end)
{
    const packing *p = arg;

    for (int64_t k = begin; k < end; k++) {
        const hy_brick_panel panel = panel_of(p, k);
        hy_brick_pack(&panel, p->start[k + 1] - p->start[k],
                      hy_offset(p->A, panel.row) - p->first, &p->work[part],
                      p->block + p->start[k], p->val);
    }
    return HYBRID_OK;
}

static hybrid_status over_panels(packing *p, hy_loop_fn fn)
{
    const int64_t each = p->job->chunk->features.nnz / (p->panels + 1) + 1;
    return hy_pool_for(p->job->problem->ctx->pool, HY_PACK, 0, p->panels,
                       1 + PACK_ENTRIES / each, fn, p);
}

static hybrid_status count(packing *p)
{
    hy_context *ctx   = p->job->problem->ctx;
    const int threads = hy_pool_threads(ctx->pool);
    void *array;

    HY_TRY(hy_array(ctx, p->panels + 1, 8, "blocks of panels", &array));
    p->start = array;
    HY_TRY(hy_array(ctx, threads, sizeof(hy_brick_work), "columns of panels", &array));
    p->work = array;
    HY_TRY(over_panels(p, count_blocks));
    return hy_prefix_sum(ctx, p->start, p->panels);
}

static hybrid_status fill(packing *p, hy_job *job, const hy_hrpb_rules *rules)
{
    const int64_t longest   = longest_unit(p, rules);
    const hy_hrpb_head head = count_units(p, longest);
    char *base              = job->pack.mem.ptr;
    const size_t size       = hy_value_size(p->A->type);
    size_t *at              = job->pack.at;

    job->pack.bytes = layout(&job->chunk->features, &head, at);
    HY_TRY(hy_pack_check(job, job->pack.bytes));
    memcpy(job->pack.head, &head, sizeof head);
    p->block = (void *)(base + at[HY_HRPB_BLOCKS]);
    p->val   = base + at[HY_HRPB_VAL];
    list_units(p, longest, (void *)(base + at[HY_HRPB_UNITS]),
               (void *)(base + at[HY_HRPB_SPLITS]));
    HY_TRY(over_panels(p, pack_panels));
    memset(p->val + (size_t)job->chunk->features.nnz * size, 0, size);
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
                                 .first  = hy_offset(problem->A, chunk->row_begin),
                                 .panels = panels_of(&chunk->features)};

    HY_TRY(hy_pack_check(job, 0));
    if (problem->image.axis == HY_AXIS_ROWS)
        p.ring = hy_ring_of(&problem->image, chunk);
    if (hy_job_gathers(job))
        HY_TRY_ELSE_DONE(hy_pack_touched(job, &p.touched));
    HY_TRY_ELSE_DONE(count(&p));
    HY_TRY_ELSE_DONE(fill(&p, job, rules));
done:
    hy_touched_free(problem->ctx, &p.touched);
    hy_array_free(problem->ctx, p.start);
    hy_array_free(problem->ctx, p.work);
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

    memcpy(&view.head, pack->head, sizeof view.head);
    return view;
}
