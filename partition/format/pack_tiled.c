/* partition/format/pack_tiled.c - A as row panels of 256 strips, with rows of X staged
   in tiles.

   This is the inspection of Tiled SpMM (section 2.5). The rows of X that a panel touches
   are cut, in order, into tiles that fit shared memory. Each tile has a stage: the list
   of its rows, and the entries of the panel that use them, with 16-bit indices into the
   tile. Entries are stored as sliced ELLPACK with a slice for each warp, so that its
   lanes read neighbours at every step. The zeros with which the paper pads slices are
   left out: the position of a lane at a step is the number of lanes before it that still
   have entries. Z in Eq. 3 of the paper is therefore 1, and the size of the pack is
   bounded by the number of entries. In the paper's form slices are padded, with indices
   that kernels skip, so that an infinity of X never meets a padding zero.

   Two passes over the panels: the first counts the rows of X that each touches, the
   second writes stages and entries to their known positions. */
#include "partition/format/pack_tiled.h"

#include <string.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/threads/pool.h"
#include "partition/format/columns.h"
#include "partition/format/gather.h"
#include "partition/tiled/strips.h"

enum { PACK_ENTRIES = 1 << 15 }; /* target for the entries that a worker packs at once */

typedef struct packing {
    const hy_job *job;
    const hy_tiled_rules *rules;
    hy_tiled_source source;
    const int32_t *col; /* columns of the chunk's entries */
    const char *from;   /* values of the chunk's entries */
    size_t size;        /* bytes of a value */
    hy_tiled_strips strips;
    hy_touched touched;
    int64_t first, end;  /* [first, end): range of the columns in which the chunk has
                            entries */
    hy_columns *columns; /* one set for each worker, opened on first use */
    int64_t panels;
    int64_t *stages, *mapped, *entries; /* panels + 1 elements each: number of stages, of
                                           listed rows of X and of entries in all earlier
                                           panels */
    int32_t *out, *map;
    hy_tiled_stage *stage;
    uint16_t *count, *index;
    char *val;
} packing;

static int32_t x_row(const packing *p, int64_t entry)
{
    return hy_tiled_col(&p->source, p->col, entry);
}

/* ---- how many rows of X ------------------------------------------------------- */

/* Sets *out to the first strip of the panel and returns their number. */
static int64_t strips_of(const packing *p, int64_t panel, const hy_tiled_strip **out)
{
    *out = p->strips.list + panel * HY_TILED_ROWS;
    return hy_min(HY_TILED_ROWS, p->strips.count - panel * HY_TILED_ROWS);
}

static hybrid_status columns_of(const packing *p, int part, hy_columns **out)
{
    *out = &p->columns[part];
    if ((*out)->used || p->first >= p->end)
        return HYBRID_OK;
    return hy_columns_open(p->job->problem->ctx, p->first, p->end, *out);
}

static hybrid_status count_panels(void *arg, int part, int64_t begin, int64_t end)
{
    const packing *p = arg;
    hy_columns *columns;

    HY_TRY(columns_of(p, part, &columns));
    for (int64_t k = begin; k < end; k++) {
        const hy_tiled_strip *list;
        const int64_t count = strips_of(p, k, &list);
        p->entries[k]       = hy_strips_columns(&p->source, list, count, columns);
        p->mapped[k]        = hy_columns_number(columns, NULL);
        if (p->rules->paper)
            p->entries[k] = hy_strips_padded(&p->source, list, count, columns);
        p->stages[k] = (p->mapped[k] + HY_TILED_COLS - 1) / HY_TILED_COLS;
        hy_columns_clear(columns);
    }
    return HYBRID_OK;
}

/* ---- entries --------------------------------------------------------------------- */

/* The entries of a slice (32 strips of a panel) that are not packed yet. */
typedef struct slice {
    /* for each strip, its entries [at, end) remain */
    int64_t at[HY_TILED_SLICE], end[HY_TILED_SLICE];
} slice;

static void put_entry(const packing *p, int64_t to, int64_t index, int64_t entry)
{
    p->index[to] = (uint16_t)index;
    if (p->size == 4)
        memcpy(p->val + to * 4, p->from + entry * 4, 4);
    else
        memcpy(p->val + to * 8, p->from + entry * 8, 8);
}

/* Returns the index of the first of entries [at, end) that uses row `limit` of X or a
   later one; `end` if there is none. */
static int64_t part_end(const packing *p, int64_t at, int64_t end, int64_t limit)
{
    if (limit == INT64_MAX)
        return end;
    while (at < end && x_row(p, at) < limit)
        at++;
    return at;
}

/* Puts padding into a slice of `most` steps where its strips have no entry: count[l] is
   the number of entries of strip l, and `most` the largest count. The slice begins at
   index `first`. */
static void pad_slice(const packing *p, const uint16_t *count, int64_t most,
                      int64_t first)
{
    for (int64_t t = 0; t < most; t++)
        for (int l = 0; l < HY_TILED_SLICE; l++)
            if (count[l] <= t) {
                const int64_t to = first + t * HY_TILED_SLICE + l;
                p->index[to]     = HY_TILED_PAD;
                memset(p->val + to * (int64_t)p->size, 0, p->size);
            }
}

/* Does what pack_slice() does, with padding: entry t of strip l is at step t, place l,
   and every count[l] becomes the largest count. */
static int64_t pack_padded(const packing *p, const hy_columns *columns, slice *s,
                           int64_t limit, int64_t below, uint16_t *count, int64_t next)
{
    int64_t most = 0;

    for (int l = 0; l < HY_TILED_SLICE; l++) {
        const int64_t stop = part_end(p, s->at[l], s->end[l], limit);
        count[l]           = (uint16_t)(stop - s->at[l]);
        most               = hy_max(most, count[l]);
        for (int64_t t = 0; s->at[l] < stop; t++, s->at[l]++) {
            const int64_t x = hy_columns_at(columns, x_row(p, s->at[l])) - below;
            put_entry(p, next + t * HY_TILED_SLICE + l, x, s->at[l]);
        }
    }
    pad_slice(p, count, most, next);
    for (int l = 0; l < HY_TILED_SLICE; l++)
        count[l] = (uint16_t)most;
    return next + most * HY_TILED_SLICE;
}

/* Packs those entries of the slice that use rows of X below `limit`, from index `next` of
   the pack on: at each step one entry of every strip that has more. `below` is the
   number of rows of X in earlier stages of the panel. Sets count[] to the entries of each
   strip. Returns the index after the packed entries. */
static int64_t pack_slice(const packing *p, const hy_columns *columns, slice *s,
                          int64_t limit, int64_t below, uint16_t *count, int64_t next)
{
    int64_t stop[HY_TILED_SLICE];
    uint32_t more = 0;

    for (int l = 0; l < HY_TILED_SLICE; l++) {
        stop[l]  = part_end(p, s->at[l], s->end[l], limit);
        count[l] = (uint16_t)(stop[l] - s->at[l]);
        more |= (uint32_t)(count[l] > 0) << l;
    }
    while (more != 0)
        for (uint32_t left = more; left != 0; left &= left - 1) {
            const int l     = __builtin_ctz(left);
            const int64_t k = s->at[l]++;
            const int64_t x = hy_columns_at(columns, x_row(p, k)) - below;
            put_entry(p, next++, x, k);
            if (s->at[l] == stop[l])
                more &= ~(1u << l);
        }
    return next;
}

/* ---- panels ----------------------------------------------------------------------- */

static void start_slices(const packing *p, int64_t panel, slice *slices)
{
    const hy_tiled_strip *strip;
    const int64_t count = strips_of(p, panel, &strip);

    for (int64_t i = 0; i < HY_TILED_ROWS; i++) {
        slice *s                          = &slices[i / HY_TILED_SLICE];
        const int l                       = (int)(i % HY_TILED_SLICE);
        s->at[l]                          = i < count ? strip[i].begin : 0;
        s->end[l]                         = i < count ? strip[i].end : 0;
        p->out[panel * HY_TILED_ROWS + i] = i < count ? strip[i].out : HY_TILED_NONE;
    }
}

static void pack_panel(const packing *p, int64_t panel, hy_columns *columns)
{
    const int64_t first  = p->mapped[panel];
    const int64_t mapped = p->mapped[panel + 1] - first;
    int64_t next         = p->entries[panel];
    slice slices[HY_TILED_SLICES];
    const hy_tiled_strip *list;

    const int64_t count = strips_of(p, panel, &list);
    hy_strips_columns(&p->source, list, count, columns);
    hy_columns_number(columns, p->map + first);
    start_slices(p, panel, slices);
    for (int64_t done = 0, k = p->stages[panel]; done < mapped;
         done += HY_TILED_COLS, k++) {
        const int64_t end   = done + HY_TILED_COLS;
        const int64_t limit = end < mapped ? p->map[first + end] : INT64_MAX;
        hy_tiled_stage *s   = &p->stage[k];
        s->first            = (int32_t)(first + done);
        s->columns          = (int32_t)(hy_min(end, mapped) - done);
        for (int w = 0; w < HY_TILED_SLICES; w++) {
            uint16_t *counts = p->count + k * HY_TILED_ROWS + w * HY_TILED_SLICE;
            s->entry[w]      = (int32_t)next;
            next             = (p->rules->paper ? pack_padded : pack_slice)(
                p, columns, &slices[w], limit, done, counts, next);
        }
    }
    hy_columns_clear(columns);
}

static hybrid_status pack_panels(void *arg, int part, int64_t begin, int64_t end)
{
    const packing *p = arg;
    hy_columns *columns;

    HY_TRY(columns_of(p, part, &columns));
    for (int64_t k = begin; k < end; k++)
        pack_panel(p, k, columns);
    return HYBRID_OK;
}

/* ---- the pack ---------------------------------------------------------------------- */

static hybrid_status over_panels(packing *p, hy_loop_fn fn)
{
    const int64_t each = p->job->chunk->features.nnz / (p->panels + 1) + 1;
    return hy_pool_for(p->job->problem->ctx->pool, HY_PACK, 0, p->panels,
                       1 + PACK_ENTRIES / each, fn, p);
}

static hybrid_status count(packing *p)
{
    hy_context *ctx   = p->job->problem->ctx;
    int64_t **array[] = {&p->stages, &p->mapped, &p->entries};
    const int threads = hy_pool_threads(ctx->pool);
    void *memory;

    hy_strips_range(&p->source, &p->strips, &p->first, &p->end);
    HY_TRY(hy_array(ctx, threads, sizeof *p->columns, "columns of workers", &memory));
    p->columns = memory;
    memset(p->columns, 0, (size_t)threads * sizeof *p->columns);
    for (int i = 0; i < 3; i++) {
        HY_TRY(hy_array(ctx, p->panels + 1, 8, "counts of panels", &memory));
        *array[i] = memory;
    }
    HY_TRY(over_panels(p, count_panels));
    for (int i = 0; i < 3; i++)
        HY_TRY(hy_prefix_sum(ctx, *array[i], p->panels));
    return HYBRID_OK;
}

static void place_arrays(packing *p, const hy_tiled_head *head, char *base)
{
    const hy_tiled_places at = hy_tiled_places_of(head, p->size);
    int32_t *start           = (void *)(base + at.start);

    p->out   = (void *)(base + at.out);
    p->stage = (void *)(base + at.stage);
    p->count = (void *)(base + at.count);
    p->map   = (void *)(base + at.map);
    p->index = (void *)(base + at.index);
    p->val   = base + at.val;
    for (int64_t k = 0; k <= p->panels; k++)
        start[k] = (int32_t)p->stages[k];
    if (head->splits > 0)
        memcpy(base + at.split, p->strips.split,
               (size_t)head->splits * sizeof(hy_tiled_split));
}

static hybrid_status check_padding(const packing *p, const hy_tiled_head *head)
{
    const hy_features *f = &p->job->chunk->features;
    const int64_t most   = hy_min(hy_tiled_most_entries(f, p->rules), INT32_MAX);

    if (!p->rules->paper || head->entries <= most)
        return HYBRID_OK;
    return hy_fail(
        p->job->problem->ctx, HYBRID_UNSUPPORTED,
        "spmm.cuda.tiled:paper=1 pads %lld entries to %lld, more than its pack "
        "holds; add segment=on, or leave out paper",
        (long long)f->nnz, (long long)head->entries);
}

static hybrid_status fill(packing *p, hy_job *job, int sorted)
{
    const hy_tiled_head head = {.panels    = p->panels,
                                .stages    = p->stages[p->panels],
                                .mapped    = p->mapped[p->panels],
                                .splits    = p->strips.splits,
                                .partials  = p->strips.partials,
                                .entries   = p->entries[p->panels],
                                .reordered = sorted};
    char *base               = job->pack.mem.ptr;

    HY_TRY(check_padding(p, &head));
    job->pack.bytes = hy_tiled_lay_out(&job->chunk->features, &head, job->pack.at);
    HY_TRY(hy_pack_check(job, job->pack.bytes));
    memcpy(job->pack.head, &head, sizeof head);
    place_arrays(p, &head, base + job->pack.at[HY_TILED_A]);
    HY_TRY(over_panels(p, pack_panels));
    return p->touched.count == 0
               ? HYBRID_OK
               : hy_pack_x(job, &p->touched, base + job->pack.at[HY_TILED_X]);
}

static void release(packing *p)
{
    hy_context *ctx = p->job->problem->ctx;

    for (int i = 0; p->columns && i < hy_pool_threads(ctx->pool); i++)
        hy_columns_close(ctx, &p->columns[i]);
    hy_array_free(ctx, p->columns);
    hy_array_free(ctx, p->stages);
    hy_array_free(ctx, p->mapped);
    hy_array_free(ctx, p->entries);
    hy_strips_free(ctx, &p->strips);
    hy_touched_free(ctx, &p->touched);
}

hybrid_status hy_pack_tiled(hy_job *job, const hy_tiled_rules *rules)
{
    const hybrid_csr *A  = job->problem->A;
    const int64_t first  = hy_offset(A, job->chunk->row_begin);
    hybrid_status status = HYBRID_OK;
    int sorted;
    packing p = {.job    = job,
                 .rules  = rules,
                 .source = {job->problem->ctx, A, job->chunk->row_begin,
                            job->chunk->row_end, NULL},
                 .col    = hy_cols(A) + first,
                 .size   = hy_value_size(A->type)};

    p.from = (const char *)A->val + (size_t)first * p.size;
    HY_TRY(hy_pack_check(job, 0));
    if (hy_job_gathers(job))
        HY_TRY_ELSE_DONE(hy_pack_touched(job, &p.touched));
    p.source.touched = p.touched.rows ? &p.touched : NULL;
    HY_TRY_ELSE_DONE(hy_strips_make(&p.source, rules->segment, &p.strips));
    HY_TRY_ELSE_DONE(hy_strips_order(&p.source, rules, &p.strips, &sorted));
    p.panels = (p.strips.count + HY_TILED_ROWS - 1) / HY_TILED_ROWS;
    HY_TRY_ELSE_DONE(count(&p));
    HY_TRY_ELSE_DONE(fill(&p, job, sorted));
done:
    release(&p);
    return status;
}
