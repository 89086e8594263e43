/* partition/tiled/tiled_reuse.c - what the strips of a panel of spmm.cuda.tiled have
   in common: the numbers from which the model of Tiled SpMM follows.

   The columns of a panel are a bitmap, so the rows of X that it stages, their cache lines
   and the rows that other panels stage too are counted a word at a time. */
#include "partition/tiled/strips.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/threads/pool.h"

enum {
    SLICE   = 32,      /* strips of a slice */
    PIECE   = 1 << 15, /* target for the entries that a worker inspects at a time */
    OFFSET  = 4,       /* bytes of an index into device memory */
    IN_TILE = 2        /* bytes of an index into a tile */
};

/* ---- columns of strips --------------------------------------------------------- */

static const int32_t *cols_of(const hy_tiled_source *source)
{
    return hy_cols(source->A) + hy_offset(source->A, source->begin);
}

/* Reads only the first and the last entry of each strip, because columns ascend in each
   row. */
void hy_strips_range(const hy_tiled_source *source, const hy_tiled_strips *strips,
                     int64_t *first, int64_t *end)
{
    const int32_t *col = cols_of(source);

    *first = *end = 0;
    for (int64_t i = 0; i < strips->count; i++) {
        const hy_tiled_strip *p = &strips->list[i];
        if (p->begin == p->end)
            continue;
        const int64_t low  = hy_tiled_col(source, col, p->begin);
        const int64_t high = hy_tiled_col(source, col, p->end - 1) + 1;
        *first             = *end == 0 || low < *first ? low : *first;
        *end               = hy_max(high, *end);
    }
}

int64_t hy_strips_columns(const hy_tiled_source *source, const hy_tiled_strip *list,
                          int64_t count, hy_columns *columns)
{
    const int32_t *col = cols_of(source);
    int64_t entries    = 0;

    for (int64_t i = 0; i < count; i++) {
        entries += list[i].end - list[i].begin;
        for (int64_t k = list[i].begin; k < list[i].end; k++)
            hy_columns_add(columns, hy_tiled_col(source, col, k));
    }
    return entries;
}

/* Advances at[i] of each strip behind its entries in tile `tile`. Returns the largest
   number of entries that one strip has there. */
static int64_t longest_in(const hy_tiled_source *source, const hy_tiled_strip *list,
                          int64_t count, const hy_columns *columns, int64_t tile,
                          int64_t *at)
{
    const int32_t *col = cols_of(source);
    int64_t longest    = 0;

    for (int64_t i = 0; i < count; i++) {
        const int64_t begin = at[i];
        while (at[i] < list[i].end &&
               hy_columns_at(columns, hy_tiled_col(source, col, at[i])) / HY_TILED_COLS <=
                   tile)
            at[i]++;
        longest = hy_max(longest, at[i] - begin);
    }
    return longest;
}

int64_t hy_strips_padded(const hy_tiled_source *source, const hy_tiled_strip *list,
                         int64_t count, const hy_columns *columns)
{
    int64_t padded = 0;

    for (int64_t first = 0; first < count; first += SLICE) {
        const hy_tiled_strip *slice = list + first;
        const int64_t strips        = hy_min(SLICE, count - first);
        int64_t at[SLICE], left = 0;
        for (int64_t i = 0; i < strips; i++) {
            at[i] = slice[i].begin;
            left += slice[i].end - slice[i].begin;
        }
        for (int64_t tile = 0; left > 0; tile++) {
            padded += SLICE * longest_in(source, slice, strips, columns, tile, at);
            left = 0;
            for (int64_t i = 0; i < strips; i++)
                left += slice[i].end - at[i];
        }
    }
    return padded;
}

/* ---- all panels -------------------------------------------------------------------- */

typedef struct inspection {
    const hy_tiled_source *source;
    const hy_tiled_strips *strips;
    int padded;
    int64_t first, end, per_line; /* range [first, end) of columns; per_line: number of
                                     values in a cache line */
    hy_columns *columns;          /* one set for each worker, opened on first use */
    hy_tiled_reuse *sums;         /* sums over the panels that each worker has inspected;
                                     `distinct` is not used in them */
    uint64_t *seen;               /* a bit for each column from `first` on, set once a
                                     panel has used the column */
} inspection;

static int64_t lines_of(uint64_t bits, int64_t per_line)
{
    const uint64_t mask = ((uint64_t)1 << per_line) - 1;
    int64_t lines       = 0;

    for (; bits != 0; bits >>= per_line)
        lines += (bits & mask) != 0;
    return lines;
}

/* Adds the columns of a panel (the set `c`) to the sums and to the columns seen, and
   empties the set. */
static void take_columns(const inspection *s, hy_columns *c, hy_tiled_reuse *sums)
{
    for (int64_t g = 0; g < c->groups; g++)
        for (uint64_t used = c->used[g]; used != 0; used &= used - 1) {
            const int64_t w     = g * 64 + __builtin_ctzll(used);
            const uint64_t bits = c->bits[w];
            sums->staged += __builtin_popcountll(bits);
            sums->lines += lines_of(bits, s->per_line);
            if (bits & ~__atomic_load_n(&s->seen[w], __ATOMIC_RELAXED))
                __atomic_fetch_or(&s->seen[w], bits, __ATOMIC_RELAXED);
        }
    hy_columns_clear(c);
}

static hybrid_status inspect_panels(void *arg, int part, int64_t begin, int64_t end)
{
    const inspection *s      = arg;
    const hy_tiled_strips *p = s->strips;
    hy_columns *columns      = &s->columns[part];
    hy_tiled_reuse *sums     = &s->sums[part];

    if (!columns->used)
        HY_TRY(hy_columns_open(s->source->ctx, s->first, s->end, columns));
    for (int64_t k = begin; k < end; k++) {
        const hy_tiled_strip *list = p->list + k * HY_TILED_ROWS;
        const int64_t count        = hy_min(HY_TILED_ROWS, p->count - k * HY_TILED_ROWS);
        int64_t entries            = hy_strips_columns(s->source, list, count, columns);
        if (s->padded) {
            hy_columns_number(columns, NULL);
            entries = hy_strips_padded(s->source, list, count, columns);
        }
        sums->entries += entries;
        take_columns(s, columns, sums);
    }
    return HYBRID_OK;
}

static hybrid_status inspect(inspection *s, hy_tiled_reuse *out)
{
    hy_context *ctx      = s->source->ctx;
    const int threads    = hy_pool_threads(ctx->pool);
    const int64_t words  = (s->end - s->first + 4095) / 4096 * 64;
    const int64_t panels = (s->strips->count + HY_TILED_ROWS - 1) / HY_TILED_ROWS;
    const int64_t nnz    = hy_offset(s->source->A, s->source->end) -
                        hy_offset(s->source->A, s->source->begin);
    const int64_t grain = 1 + PIECE / (nnz / panels + 1);
    void *array;

    HY_TRY(hy_array(ctx, threads, sizeof *s->columns, "columns of workers", &array));
    s->columns = memset(array, 0, (size_t)threads * sizeof *s->columns);
    HY_TRY(hy_array(ctx, threads, sizeof *s->sums, "sums of workers", &array));
    s->sums = memset(array, 0, (size_t)threads * sizeof *s->sums);
    HY_TRY(hy_array(ctx, words, 8, "columns of panels", &array));
    s->seen = memset(array, 0, (size_t)words * 8);
    HY_TRY(hy_pool_for(ctx->pool, HY_PLAN, 0, panels, grain, inspect_panels, s));
    for (int i = 0; i < threads; i++) {
        out->staged += s->sums[i].staged;
        out->lines += s->sums[i].lines;
        out->entries += s->sums[i].entries;
    }
    for (int64_t w = 0; w < words; w++)
        out->distinct += __builtin_popcountll(s->seen[w]);
    return HYBRID_OK;
}

hybrid_status hy_tiled_reuse_find(const hy_tiled_source *source,
                                  const hy_tiled_strips *strips, int padded,
                                  hy_tiled_reuse *out)
{
    hy_context *ctx = source->ctx;
    inspection s    = {.source   = source,
                       .strips   = strips,
                       .padded   = padded,
                       .per_line = HY_CACHE_LINE / (int64_t)hy_value_size(source->A->type)};

    *out = (hy_tiled_reuse){0};
    hy_strips_range(source, strips, &s.first, &s.end);
    s.first = s.first / 64 * 64; /* the first bit of a word then stands for a row of X at
                                    the beginning of a cache line */
    if (s.first >= s.end)
        return HYBRID_OK;
    const hybrid_status status = inspect(&s, out);
    for (int i = 0; s.columns && i < hy_pool_threads(ctx->pool); i++)
        hy_columns_close(ctx, &s.columns[i]);
    hy_array_free(ctx, s.columns);
    hy_array_free(ctx, s.sums);
    hy_array_free(ctx, s.seen);
    return status;
}

/* ---- the model -----------------------------------------------------------------------
 */

/* Returns the parameters of the model for rows that were cut into `strips`. */
static hy_intensity intensity(const hy_features *f, const hy_tiled_strips *strips,
                              const hy_tiled_rules *rules, const hy_tiled_reuse *reuse)
{
    const double size   = (double)hy_value_size(f->type);
    const double nnz    = (double)f->nnz;
    const double staged = (double)reuse->staged;

    return (hy_intensity){.value    = size,
                          .index    = OFFSET,
                          .in_tile  = IN_TILE,
                          .metadata = HY_METADATA,
                          .R        = rules->R,
                          .mu       = nnz / (double)f->rows,
                          .mu_cut   = nnz / (double)strips->count,
                          .rho      = nnz / staged,
                          .C = hy_intensity_lines((double)reuse->lines, staged, size),
                          .L = hy_intensity_repeats(staged, (double)reuse->distinct),
                          .Z = (double)reuse->entries / nnz};
}

/* A buffer that receives text. */
typedef struct writing {
    char *at;
    size_t room;
} writing;

HY_PRINTF(2, 3) static void put(writing *w, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    const int length = vsnprintf(w->at, w->room, format, list);
    va_end(list);
    if (length < 0 || (size_t)length >= w->room)
        return;
    w->at += length;
    w->room -= (size_t)length;
}

static void describe(const hy_features *f, const hy_rates *r, const hy_tiled_rules *rules,
                     const hy_tiled_strips *p, const hy_tiled_reuse *reuse, int sorted,
                     writing *w)
{
    const hy_intensity m = intensity(f, p, rules, reuse);
    double (*of)(const hy_intensity *, double) =
        p->splits ? hy_intensity_segmented : hy_intensity_tiled;
    const double least = of(&m, m.C), most = of(&m, hy_intensity_gamma(&m));
    const double GBps = 1e-9 * r->mem_Bps;

    put(w, "U %.3g, sigma/mu %.3g, R %d: ", hy_tiled_utilization(f, r, rules->R),
        f->row_cv, rules->R);
    if (p->splits)
        put(w, "%lld rows cut into segments of at most %lld entries",
            (long long)p->splits, (long long)rules->segment);
    else
        put(w, "whole rows");
    put(w, sorted ? ", sorted by their columns\n" : ", in the order of A\n");
    put(w, "rho %.3g, C %.3g, L %.3g, Z %.3g, mu %.4g, mu* %.4g\n", m.rho, m.C, m.L, m.Z,
        m.mu, m.mu_cut);
    put(w,
        "flops per byte: naive %.3g, tiled %.3g (all accesses miss) to %.3g (cold "
        "misses)\n",
        hy_intensity_naive(&m), least, most);
    put(w, "at %.4g GB/s: %.4g to %.4g GFLOP/s\n", GBps, least * GBps, most * GBps);
}

hybrid_status hy_tiled_model(hy_context *ctx, const hybrid_csr *A, const hy_features *f,
                             const hy_rates *r, char *text, size_t room)
{
    const hy_tiled_rules rules   = hy_tiled_rules_for(f, r);
    const hy_tiled_source source = {.ctx = ctx, .A = A, .end = A->rows};
    hy_tiled_strips strips       = {.list = NULL};
    hy_tiled_reuse reuse;
    hybrid_status status;
    int sorted;

    *text = '\0';
    if (f->nnz == 0)
        return HYBRID_OK;
    HY_TRY_ELSE_DONE(hy_strips_make(&source, rules.segment, &strips));
    HY_TRY_ELSE_DONE(hy_strips_order(&source, &rules, &strips, &sorted));
    HY_TRY_ELSE_DONE(hy_tiled_reuse_find(&source, &strips, rules.paper, &reuse));
    describe(f, r, &rules, &strips, &reuse, sorted, &(writing){text, room});
done:
    hy_strips_free(ctx, &strips);
    return status;
}
