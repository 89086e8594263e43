/* partition/parts/passes.c - ranges of rows of B, and chunks that multiply them in
   passes.

   A chunk fits its slot if each of its passes does. So the entries of A, and the scalar
   products, of every pass are counted: first those of blocks of rows, in parallel, then
   those of single rows of a block that does not fit a slot as a whole. */
#include "partition/parts/passes.h"

#include <math.h>
#include <string.h>

#include "base/data/min_max.h"
#include "base/threads/pool.h"
#include "partition/pattern/lengths.h"

enum {
    BLOCKS = 1024, /* maximum number of blocks of rows of A */
    BATCH  = 256   /* entries of A whose scalar products are added up at a time */
};

/* Maximum bytes of rows of B in a pass, so that all its entries, with those of earlier
   sums, can be numbered with 31 bits (hy_chunk_is_counted()). */
static const int64_t MOST_BYTES = (int64_t)1 << 33;

/* ---- ranges of rows of B --------------------------------------------------------- */

int64_t hy_passes(const hy_image *image)
{
    if (!hy_image_in_passes(image))
        return 1;
    return (hy_csr_bytes(image->rows, image->nnz, image->type) - 8) / image->block + 1;
}

int64_t hy_pass_begin(const hy_image *image, const hybrid_csr *B, int64_t k)
{
    int64_t low = 0, high = B->rows;

    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (hy_pass_at(B, middle) < k * image->block)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

hy_image hy_image_of_passes(const hy_image *whole, const hybrid_csr *B, int64_t bytes)
{
    hy_image image = hy_image_gathered(whole);

    image.axis    = HY_AXIS_PASSES;
    image.block   = hy_min(hy_max(bytes, 1), MOST_BYTES);
    int64_t begin = 0;
    for (int64_t k = 0; k < hy_passes(&image); k++) {
        const int64_t end = hy_pass_begin(&image, B, k + 1);
        image.held        = hy_max(image.held, end - begin);
        image.span        = hy_max(image.span, hy_offset(B, end) - hy_offset(B, begin));
        begin             = end;
    }
    return image;
}

/* ---- features of a pass ---------------------------------------------------------- */

/* Numbers of entries of A and of scalar products of a pass. */
typedef struct load {
    int64_t nnz, products;
} load;

/* Returns the features of a pass that multiplies `most` and reads the sums of the passes
   before it. */
static hy_features features_of(const hy_image *image, const hy_features *all, load most)
{
    const double expected = (double)all->products / fmax(all->out_ratio, 1);
    const int64_t row     = hy_min(all->products_max, all->out_cols);
    hy_features f         = *all;

    f.out_room     = 0;
    f.nnz          = most.nnz + all->rows;
    f.products     = most.products + all->out_bound;
    f.row_max      = all->row_max + 1;
    f.products_max = all->products_max + row;
    f.out_ratio    = fmax(1, (double)f.products / fmax(expected, 1));
    f.gather_rows  = image->held + all->rows;
    f.gather_nnz   = image->span + all->out_bound;
    return f;
}

hy_features hy_pass_features(const hy_image *image, const hy_features *f)
{
    const int64_t n = hy_passes(image);

    if (!hy_image_in_passes(image))
        return *f;
    return features_of(image, f, (load){f->nnz / n + 1, f->products / n + 1});
}

hy_features hy_pass_packed(const hy_image *image, const hy_features *f)
{
    const int64_t n    = hy_passes(image);
    hy_features packed = *f;

    if (!hy_image_in_passes(image))
        return *f;
    packed.gather_rows = image->rows / n;
    packed.gather_nnz  = image->nnz / n;
    return packed;
}

/* ---- counts ---------------------------------------------------------------------- */

typedef struct cutter {
    hy_context *ctx;
    const hy_cut *cut;
    hy_chunk_array *out;
    int64_t passes;
    int64_t rows;       /* rows of A in a block */
    hy_lengths lengths; /* lengths of the rows of B; none if the profile is sampled */
    int64_t *first;     /* first row of B of each pass, and the number of rows of B */
    load *blocks;       /* for each block of rows, the load of each pass */
    load *row;          /* load of each pass of a row that is counted on its own */
    load *chunk;        /* load of each pass of rows [begin, end) */
    int64_t begin, end; /* rows of the chunk that is being cut */
} cutter;

/* Adds rows [begin, end) of A to the load of each pass, as if their entries were spread
   evenly. A sampled profile is an estimate, for which A need not be read. */
static void spread(const cutter *c, int64_t begin, int64_t end, load *sum)
{
    const hy_profile *p = c->cut->profile;
    const hy_features f = hy_profile_range(p, begin, end, p->out_cols);

    for (int64_t k = 0; k < c->passes; k++) {
        sum[k].nnz += f.nnz / c->passes + 1;
        sum[k].products += f.products / c->passes + 1;
    }
}

/* Returns the scalar products of `n` entries of A in these columns. */
static int64_t products_of(const cutter *c, const int32_t *col, int64_t n)
{
    int64_t sums[BATCH], sum = 0;

    for (int64_t k = 0; k < n; k += BATCH)
        sum = hy_lengths_sums(&c->lengths, col + k, hy_min(n - k, BATCH), sum, sums);
    return sum;
}

/* Adds rows [begin, end) of A, whose columns ascend, to the load of each pass. */
static void count(const cutter *c, int64_t begin, int64_t end, load *sum)
{
    const hybrid_csr *A = c->cut->A;

    if (hy_profile_is_sampled(c->cut->profile)) {
        spread(c, begin, end, sum);
        return;
    }
    for (int64_t i = begin; i < end; i++) {
        const int32_t *col = hy_cols(A) + hy_offset(A, i);
        int64_t left       = hy_offset(A, i + 1) - hy_offset(A, i);
        for (int64_t n; left > 0; left -= n, col += n) {
            const int64_t pass = hy_pass_of(&c->cut->image, c->cut->B, *col);
            n                  = hy_columns_before(col, left, c->first[pass + 1]);
            sum[pass].nnz += n;
            sum[pass].products += products_of(c, col, n);
        }
    }
}

static int64_t block_begin(const cutter *c, int64_t block)
{
    const hy_profile *p = c->cut->profile;

    return hy_min(p->begin + block * c->rows, p->end);
}

static hybrid_status count_blocks(void *arg, int part, int64_t begin, int64_t end)
{
    const cutter *c = arg;

    (void)part;
    for (int64_t b = begin; b < end; b++) {
        HY_TRY(hy_progress_check(&c->ctx->progress));
        count(c, block_begin(c, b), block_begin(c, b + 1), c->blocks + b * c->passes);
    }
    return HYBRID_OK;
}

/* ---- chunks ---------------------------------------------------------------------- */

/* Sets *out to the features of the largest pass of rows [c->begin, end). `added` has the
   loads of the rows from c->end on. Returns 1 if a chunk may have these rows. */
static int fits(const cutter *c, int64_t end, const load *added, hy_features *out)
{
    const hy_profile *p   = c->cut->profile;
    const hy_features all = hy_profile_range(p, c->begin, end, p->out_cols);
    load most             = {0, 0};

    for (int64_t k = 0; k < c->passes; k++) {
        most.nnz      = hy_max(most.nnz, c->chunk[k].nnz + added[k].nnz);
        most.products = hy_max(most.products, c->chunk[k].products + added[k].products);
    }
    *out = features_of(&c->cut->image, &all, most);
    return hy_cut_bytes(c->cut, out) <= c->cut->slot_bytes &&
           (all.rows == 1 || hy_cut_is_moderate(c->cut, out, all.products));
}

/* Appends rows [c->begin, c->end) as a chunk with the features of their largest pass. */
static hybrid_status close(cutter *c, const hy_features *features)
{
    const hy_chunk chunk = {.row_begin = c->begin,
                            .row_end   = c->end,
                            .col_end   = c->cut->profile->out_cols,
                            .features  = *features,
                            .variant   = c->cut->variant};

    memset(c->chunk, 0, (size_t)c->passes * sizeof *c->chunk);
    c->begin = c->end;
    return hy_chunk_array_append(c->ctx, c->out, &chunk);
}

/* Returns 1 if the chunk may end before rows [c->end, end), which it has no room for. If
   the caller asks for a number of rows, the chunk gets as many of these rows as fit. */
static int may_close(const cutter *c, int64_t end)
{
    return c->begin < c->end && (c->cut->chunk_rows <= 0 || end == c->end + 1);
}

/* Adds rows [c->end, end), whose loads are `added`, to the chunk. Ends the chunk before
   these rows if they do not fit, and it may end there. Sets *fit to 0 if they fit neither
   the chunk nor one of their own. `now` has the features of the chunk. */
static hybrid_status add(cutter *c, int64_t end, const load *added, hy_features *now,
                         int *fit)
{
    hy_features with;

    *fit = fits(c, end, added, &with);
    if (!*fit && may_close(c, end)) {
        HY_TRY(close(c, now));
        *fit = fits(c, end, added, &with);
    }
    if (!*fit)
        return HYBRID_OK;
    for (int64_t k = 0; k < c->passes; k++) {
        c->chunk[k].nnz += added[k].nnz;
        c->chunk[k].products += added[k].products;
    }
    c->end = end;
    *now   = with;
    return HYBRID_OK;
}

/* Adds the rows up to `end` one by one. */
static hybrid_status add_rows(cutter *c, int64_t end, hy_features *now)
{
    hy_features row;
    int fit;

    while (c->end < end) {
        memset(c->row, 0, (size_t)c->passes * sizeof *c->row);
        count(c, c->end, c->end + 1, c->row);
        HY_TRY(add(c, c->end + 1, c->row, now, &fit));
        if (fit)
            continue;
        (void)fits(c, c->end + 1, c->row, &row);
        return hy_cut_refuse(c->ctx, c->cut, c->end, &row);
    }
    return HYBRID_OK;
}

static hybrid_status cut_blocks(cutter *c, int64_t blocks)
{
    hy_features now = {0};
    int fit;

    HY_TRY(hy_pool_for(c->ctx->pool, HY_PLAN, 0, blocks, 1, count_blocks, c));
    for (int64_t b = 0; b < blocks; b++) {
        const int64_t end = block_begin(c, b + 1);
        HY_TRY(hy_progress_check(&c->ctx->progress));
        HY_TRY(add(c, end, c->blocks + b * c->passes, &now, &fit));
        if (!fit)
            HY_TRY(add_rows(c, end, &now));
    }
    return c->begin < c->end ? close(c, &now) : HYBRID_OK;
}

/* Allocates the arrays, which begin at c->first, in one block. */
static hybrid_status allocate(cutter *c, int64_t blocks)
{
    const size_t first = ((size_t)c->passes + 1) * sizeof *c->first;
    const size_t loads = (size_t)((blocks + 2) * c->passes) * sizeof *c->blocks;
    void *memory;

    HY_TRY(hy_array(c->ctx, 1, first + loads, "entries of A in each pass", &memory));
    memset(memory, 0, first + loads);
    c->first  = memory;
    c->row    = (load *)(c->first + c->passes + 1);
    c->chunk  = c->row + c->passes;
    c->blocks = c->chunk + c->passes;
    for (int64_t k = 0; k <= c->passes; k++)
        c->first[k] = hy_pass_begin(&c->cut->image, c->cut->B, k);
    return HYBRID_OK;
}

hybrid_status hy_cut_passes(hy_context *ctx, const hy_cut *cut, hy_chunk_array *out)
{
    const hy_profile *p  = cut->profile;
    const int64_t rows   = p->end - p->begin;
    const int64_t each   = (rows + BLOCKS - 1) / BLOCKS;
    const int64_t blocks = each > 0 ? (rows + each - 1) / each : 0;
    cutter c             = {.ctx    = ctx,
                            .cut    = cut,
                            .out    = out,
                            .passes = hy_passes(&cut->image),
                            .rows   = each,
                            .begin  = p->begin,
                            .end    = p->begin};
    hybrid_status status;

    if (!hy_profile_is_sampled(p))
        HY_TRY(hy_lengths_note(ctx, cut->B, &c.lengths));
    HY_TRY_ELSE_DONE(allocate(&c, blocks));
    HY_TRY_ELSE_DONE(cut_blocks(&c, blocks));
done:
    hy_lengths_free(ctx, &c.lengths);
    hy_array_free(ctx, c.first);
    return status;
}
