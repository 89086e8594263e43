/* engine/rates/estimate.c - estimates of a device and of the host.

   The constants are fitted, in logarithms, to runs on an H200 with 16 cores. The runs
   multiply every second matrix of a collection of 43; docs/performance.md has the errors
   for the other matrices. On a machine that was calibrated, factors correct what the
   constants predict (factors.h). */
#include "engine/rates/estimate.h"

#include <math.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "engine/rates/factors.h"
#include "engine/rates/traffic.h"
#include "engine/schedules/column_blocks.h"
#include "partition/parts/passes.h"
#include "partition/pattern/chunks.h"

/* Row length, in bytes, at which the bus reaches half of its rate if the device copies
   separate rows. Measured rate each way: 55 GB/s in whole blocks, 46 GB/s with rows of
   256 bytes, 35 GB/s with rows of 128 bytes (docs/lab/pinned-panels.md). */
static const double HALF_ROW = 86;

/* Fixed costs of an SpMM on a device, as multiples of the seconds of a kernel launch
   (launch_s of the device's rates, 5 us in the fitted runs). A run costs CALL, plus
   WORKERS if workers load X and store Y, plus PACKING if workers pack rows of A. A chunk
   costs CHUNK, plus WORKERS_CHUNK if workers load X and store Y. */
static const double CALL = 4.8, WORKERS = 13, PACKING = 19.4;
static const double CHUNK = 2.4, WORKERS_CHUNK = 4;

/* Additional cost per chunk of a ring of rows, whose chunks wait for free places, as a
   multiple of the time of a kernel launch. */
static const double RING_CHUNK = 5.6;

/* Fixed costs of an SpGEMM on a device, per run and per chunk, as multiples of the time
   of a kernel launch. Chunks wait for the size of their result. */
static const double SPARSE_CALL = 62, SPARSE_CHUNK = 7;

/* Core seconds of SpGEMM for each row of B that a chunk gathers, beside the bytes of the
   row. ROW_S is for rows that follow each other in memory, as bands touch them, and
   SCATTERED_ROW_S is added if each entry of A touches a row of its own: workers then wait
   for several cache lines of host memory. Fitted to A*A of stencil27:160 and er:4000000,8
   with 256 MiB on a host with 16 cores, where workers need 1.1 and 3.4 s for 16 and 31
   million rows with 3.6 and 2.3 GiB. */
static const double ROW_S = 25e-9, SCATTERED_ROW_S = 70e-9;

/* Rows of B that a device reads from host memory: the share of the bus's rate at which
   they arrive, and bytes that a row costs in addition, because its columns and values
   begin and end in the middle of what the bus carries at once. On an H100 rows of 8, 32
   and 500 entries arrived at 18, 36 and 40 GB/s, and copies at 55. */
static const double COLLECT_RATE = 0.72, COLLECT_ROW = 64;

/* Fixed cost of a call on the host: HOST_S seconds, plus the seconds to start HOST_LOOPS
   parallel loops (SpMM) or HOST_SPARSE_LOOPS (SpGEMM). Starting a loop takes launch_s of
   the host's rates, 20 us in the fitted runs. */
static const double HOST_S = 3e-6, HOST_LOOPS = 0.5, HOST_SPARSE_LOOPS = 5.4;

/* Bytes of host memory moved per byte of a result that workers store. Every byte is read
   once and written once. */
static const double STORE_PASSES = 2;

/* SPARSE_DOWN: bytes copied to the host per byte of C; columns are delta-coded.
   SPARSE_STORED: bytes that workers move in host memory per byte of C; the device copies
   a part of C to its final place. */
static const double SPARSE_DOWN = 0.7, SPARSE_STORED = 0.7;

/* Bytes of host memory moved per byte of Y, if X comes in column blocks and workers load
   and store parts of rows (docs/lab/pinned-panels.md). An entry is for parts of `row`
   bytes or more. `lines` applies if all parts begin and end at cache lines, else
   `else_`. */
static const struct {
    double row, lines, else_;
} part_passes[] = {{2 * HY_LINE, 3.7, 5.7},
                   {HY_LINE, 8.3, 8.3},
                   {0.5 * HY_LINE, 15.2, 15.2},
                   {0, 30, 30}};

/* Bytes of host memory moved per byte of A, X and Y, if rows of X that neighbouring rows
   of A share stay in the caches. */
static const double NEAR_PASSES = 1.31;

double hy_estimate_min_s(const hy_rates *site)
{
    return (CALL + PACKING + CHUNK) * site->launch_s * hy_call_factor(HY_SPMM, site);
}

/* ---- a device ---------------------------------------------------------------------- */

/* Returns the share, 0 to 1, of a chunk's pack that is made in this run. */
static double made_of(const hy_portion *portion, const hy_layout *layout,
                      const hy_chunk *chunk, const hy_circumstances *found)
{
    if (portion->product->a_on ||
        (found->rows_of_b && !hy_image_is_gathered(&layout->image)))
        return 0;
    if (!chunk->cached)
        return 1;
    return chunk->col_begin > 0 ? 0 : 1 - found->cached;
}

/* Returns the core seconds for finding and copying the rows of B that a chunk gathers,
   beside their bytes. */
static double gather_s(const hy_features *f)
{
    const double rows   = (double)f->gather_rows;
    const double shares = rows / (double)hy_max(f->nnz, 1);

    return f->gather_nnz > 0 ? rows * (ROW_S + SCATTERED_ROW_S * fmin(shares, 1)) : 0;
}

/* Adds to *e a chunk's pack, which is made `made` times. */
static void add_pack(const hy_portion *portion, const hy_layout *layout,
                     const hy_chunk *chunk, double made, hy_estimate *e)
{
    const hy_features f  = hy_pass_packed(&layout->image, &chunk->features);
    const hy_cost cost   = hy_cost_of(chunk->variant, &f, &portion->rates);
    const double rows    = (double)f.gather_rows;
    const double entries = (double)f.gather_nnz * (4 + (double)hy_value_size(f.type));
    double sent = hy_sent_bytes(&cost), packed = sent;
    double core_s = cost.prepare_s;

    if (!hy_image_in_passes(&layout->image)) /* a pass copies all its rows together */
        core_s += gather_s(&f);
    if (hy_image_is_collected(&layout->image)) {
        /* workers pack a list of the rows in place of their entries */
        packed = sent - entries + 8 * rows;
        core_s = cost.prepare_s * packed / sent + rows * ROW_S;
        sent   = packed + (entries + COLLECT_ROW * rows) / COLLECT_RATE;
    }
    e->up_bytes += made * sent;
    e->core_s += made * core_s;
    e->memory_bytes += made * (HY_PACK_PASSES * packed + sent - packed);
}

/* Adds to *e the kernels of all chunks, and the packs made in this run. Every pass of a
   chunk counts `times` times. */
static void add_chunks(const hy_portion *portion, const hy_layout *layout, double times,
                       const hy_circumstances *found, hy_estimate *e)
{
    times *= (double)hy_passes(&layout->image);
    for (int64_t i = 0; i < layout->count; i++) {
        const hy_chunk *chunk = &layout->chunks[i];
        const hy_cost cost =
            hy_cost_of(chunk->variant, &chunk->features, &portion->rates);
        const double made = times * made_of(portion, layout, chunk, found);

        e->device_s += times * (cost.multiply_s + cost.finish_s);
        add_pack(portion, layout, chunk, made, e);
    }
    e->device_s += hy_gap_s(portion->product->op, &portion->rates) *
                   (times * (double)layout->count - 1);
}

/* Returns the share of B or X that the first chunk needs. */
static double first_part(const hy_portion *portion, const hy_layout *layout)
{
    const hy_image *image = &layout->image;
    const int64_t sent    = portion->product->b_rows - image->before - image->after;
    const double part     = (double)hy_max(layout->chunks[0].x_end - image->before, 0) /
                        (double)hy_max(sent, 1);
    const double cols =
        image->axis == HY_AXIS_COLS ? (double)image->block / (double)image->cols : 1;

    return fmin(part, 1) * cols;
}

/* Adds the copy of B or X, without the bytes that were prefetched during planning. The
   first chunk waits for the part that it needs. */
static void add_image(const hy_portion *portion, const hy_layout *layout,
                      const hy_circumstances *found, hy_estimate *e)
{
    const double all =
        hy_image_is_gathered(&layout->image) ? 0 : (double)layout->image_bytes;
    const double left = fmax(0, all - found->prefetching_s * portion->rates.h2d_Bps);

    const int complete = hy_image_is_complete(&layout->image);

    e->image_bytes = complete && portion->product->engine->relays ? left : 0;
    e->first_bytes = fmin(left, first_part(portion, layout) * all);
    e->up_bytes += left - e->first_bytes;
}

/* Returns the bytes of host memory moved per stored byte of Y. With column blocks workers
   store parts of rows. */
static double store_passes(const hy_portion *portion, const hy_image *image)
{
    const hy_product *product = portion->product;
    const double size         = (double)hy_value_size(portion->profile.type);
    const double part         = (double)image->block * size;
    const int in_lines        = product->b_cols * (int64_t)size % HY_LINE == 0 &&
                         !(product->options.flags & HYBRID_DETERMINISTIC);
    int i = 0;

    if (image->axis != HY_AXIS_COLS)
        return STORE_PASSES;
    while (part < part_passes[i].row)
        i++;
    return in_lines ? part_passes[i].lines : part_passes[i].else_;
}

/* Adds the costs of column blocks that the device copies itself. While the first block of
   X goes up, nothing goes down. While the last part of Y goes down, nothing goes up. */
static void add_block_rows(const hy_portion *portion, const hy_layout *layout,
                           hy_estimate *e)
{
    const hy_image *image = &layout->image;
    const double row =
        (double)image->block * (double)hy_value_size(portion->profile.type);

    if (image->axis != HY_AXIS_COLS)
        return;
    e->last_bytes = first_part(portion, layout) * e->down_bytes;
    e->short_bytes =
        HALF_ROW * HALF_ROW / (row * row) *
        ((double)layout->image_bytes - e->first_bytes + e->down_bytes - e->last_bytes);
}

static void add_dense_result(const hy_portion *portion, const hy_features *f,
                             const hy_layout *layout, const hy_circumstances *found,
                             hy_estimate *e)
{
    const double launch_s = portion->rates.launch_s;

    e->down_bytes = portion->product->result_on
                        ? 0
                        : (double)f->out_bound * (double)hy_value_size(f->type);
    e->call_s += launch_s * CALL;
    e->chunk_s +=
        launch_s * (CHUNK + (layout->image.axis == HY_AXIS_ROWS ? RING_CHUNK : 0));
    if (found->pinned) {
        add_block_rows(portion, layout, e);
        return;
    }
    e->stored_bytes = store_passes(portion, &layout->image) * e->down_bytes;
    e->call_s += launch_s * WORKERS;
    e->chunk_s += launch_s * WORKERS_CHUNK;
}

static void add_sparse_result(const hy_portion *portion, const hy_features *f,
                              const hy_layout *layout, hy_estimate *e)
{
    const hy_product *product = portion->product;
    const double bytes = hy_expected_entries(f) * (4 + (double)hy_value_size(f->type)) +
                         8 * (double)(f->rows + layout->count);

    e->down_bytes   = product->result_on ? 0 : SPARSE_DOWN * bytes;
    e->stored_bytes = product->result_on ? 0 : SPARSE_STORED * bytes;
    e->call_s += portion->rates.launch_s * SPARSE_CALL;
    e->chunk_s += portion->rates.launch_s * SPARSE_CHUNK;
}

/* Scales the fields that are proportional to the number of rows. */
static void scale_work(hy_estimate *e, double share)
{
    e->down_bytes *= share;
    e->device_s *= share;
    e->core_s *= share;
    e->memory_bytes *= share;
    e->stored_bytes *= share;
}

/* Returns the estimate of the first `share` of the work, if the host takes the rest from
   the end. The device then receives no row of X that only the rest needs. With column
   blocks it receives all of X, because every block has all rows. */
static hy_estimate part_of(hy_estimate e, double share)
{
    if (e.last_bytes > 0)
        e.last_bytes = fmax(0, e.last_bytes - (1 - share) * e.down_bytes);
    else
        e.up_bytes *= share;
    scale_work(&e, share);
    return e;
}

hy_estimate hy_estimate_part(const hy_estimate *all, const hy_layout *layout,
                             double share)
{
    hy_estimate e = *all;
    const double image =
        hy_image_is_gathered(&layout->image) ? 0 : (double)layout->image_bytes;
    const double whole = fmin(fmax(0, image - e.first_bytes), e.up_bytes);

    e.up_bytes = whole + share * (e.up_bytes - whole);
    e.last_bytes *= share;
    e.short_bytes *= share;
    scale_work(&e, share);
    e.chunks = (int64_t)ceil((double)e.chunks * share);
    return e;
}

static void scale_call(hy_estimate *e, double factor)
{
    e->call_s *= factor;
    e->chunk_s *= factor;
}

/* Returns the estimate of the layout's chunks, each counted `times` times, for a product
   with features `f`. */
static hy_estimate estimate_of(const hy_portion *portion, const hy_features *f,
                               const hy_layout *layout, int64_t times,
                               const hy_circumstances *found)
{
    hy_estimate e = {.chunks = layout->count * times, .slots = layout->depth};

    if (layout->count == 0)
        return e;
    add_chunks(portion, layout, (double)times, found, &e);
    e.call_s = e.up_bytes > 0 ? portion->rates.launch_s * PACKING : 0;
    add_image(portion, layout, found, &e);
    if (portion->product->op == HY_SPGEMM)
        add_sparse_result(portion, f, layout, &e);
    else
        add_dense_result(portion, f, layout, found, &e);
    e.chunk_s *= (double)hy_passes(&layout->image);
    scale_call(&e, hy_call_factor(portion->product->op, &portion->rates));
    return part_of(e, 1 - found->share);
}

hy_estimate hy_estimate_device(const hy_portion *portion, const hy_layout *layout,
                               const hy_circumstances *found)
{
    const hy_features *f       = &portion->profile.features;
    hy_layout in_column_blocks = *layout;

    if (!found->in_column_blocks)
        return estimate_of(portion, f, layout, 1, found);
    in_column_blocks.image       = hy_column_blocks_pinned(portion, layout);
    in_column_blocks.image_bytes = hy_image_bytes(&in_column_blocks.image);
    hy_estimate e                = estimate_of(portion, f, &in_column_blocks, 1, found);
    e.chunks *= hy_image_col_blocks(&in_column_blocks.image);
    return e;
}

hy_estimate hy_estimate_even(const hy_portion *portion, const hy_features *features,
                             const hy_layout *layout, int64_t x_end, int64_t chunks,
                             const hy_circumstances *found)
{
    const hy_product *product = portion->product;
    const int gathered        = hy_image_is_gathered(&layout->image);
    const hy_features share   = hy_features_share(features, chunks);
    hy_chunk part             = {.features = hy_pass_features(&layout->image, &share),
                                 .x_end    = chunks > 1 ? x_end : product->b_rows,
                                 .cached   = found->cached > 0 && !gathered,
                                 .variant  = portion->variant};
    hy_layout even            = *layout;

    even.chunks      = &part;
    even.count       = 1;
    even.image_bytes = hy_product_sent(product, &layout->image);
    return estimate_of(portion, features, &even, chunks, found);
}

/* ---- the host ---------------------------------------------------------------------- */

/* Returns the seconds to start `loops` parallel loops. The cost is limited to what
   parallel work saves, because a small product uses fewer workers. */
static double starting_s(double loops, double core_s, const hy_rates *host)
{
    return fmin(loops * host->launch_s, core_s * (1 - 1 / fmax(host->width, 1)));
}

hy_estimate hy_estimate_host(const hy_features *features, const hy_variant *variant,
                             const hy_rates *host)
{
    const hy_cost cost = hy_cost_of(variant, features, host);
    const int sparse   = variant->op == HY_SPGEMM;
    hy_estimate e      = {.chunks = 1};

    e.core_s = (cost.multiply_s + cost.finish_s) * host->width;
    e.call_s =
        HOST_S + starting_s(sparse ? HOST_SPARSE_LOOPS : HOST_LOOPS, e.core_s, host);
    scale_call(&e, hy_call_factor(variant->op, host));
    return e;
}

hy_estimate hy_estimate_near(const hy_product *product, const hy_rates *host)
{
    const hy_features *f = &product->profile.features;
    const double dense   = (double)(product->rows + product->cols) *
                         (double)product->b_cols * (double)hy_value_size(f->type);

    return (hy_estimate){.core_s = 2 * (double)f->products / host->flops * host->width,
                         .memory_bytes =
                             NEAR_PASSES *
                             ((double)hy_csr_bytes(f->rows, f->nnz, f->type) + dense),
                         .chunks = 1};
}

/* All cores compute, including those reserved for the device's driver and loader. */
double hy_estimated_host_s(const hybrid_engine *engine, const hy_features *features,
                           const hy_variant *variant)
{
    hy_rates host;

    hy_rates_of(engine->host, &host);
    const hy_estimate e = hy_estimate_host(features, variant, &host);
    host.width          = hy_pool_max_threads(engine->ctx.pool);
    return hy_seconds(&e, &host, &host);
}
