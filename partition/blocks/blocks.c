/* partition/blocks/blocks.c - estimates how well A fits blocks of r x c, for r and c
   from 1 to 8.

   A block row is r consecutive rows of A; the fill of a shape is the share of the
   elements of its blocks that are entries. The fill of all 64 shapes is estimated from a
   hundredth of the block rows (Choi, Singh and Vuduc, section 6.4; Vuduc's thesis). The
   shape that stores A in the fewest bytes is the fastest, because SpMV is bound by
   reading A. For each height the rows are merged once, and the blocks of all eight widths
   are counted in that pass. */
#include "partition/pattern/inspect.h"

#include <math.h>
#include <string.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/threads/pool.h"
#include "partition/format/pack.h"
#include "partition/format/panel.h"

enum {
    SHARE     = 100,    /* one block row in SHARE is sampled */
    MIN_COUNT = 256,    /* minimum block rows sampled of each height, unless there are
                           fewer */
    MAX_COUNT = 2048,   /* maximum block rows sampled for each height */
    COLUMNS   = 1 << 13 /* maximum columns with entries that are read of a block row; the
                           leftmost ones are read */
};

/* hy_block_bound() allows SPARE times the expected number of blocks, and as many blocks
   as fit FREE_BYTES bytes, but at most one for each entry. */
#define SPARE 1.5
#define FREE_BYTES 1.6e7

/* an A in blocks is faster than CSR if it takes less than this fraction of CSR's bytes */
#define GAIN 0.9

/* Counts of the sampled block rows of one height. */
typedef struct tally {
    int64_t entries;
    int64_t blocks[HY_BLOCK_MOST]; /* blocks[c]: number of blocks of width c + 1 */
} tally;

typedef struct sample {
    const hybrid_csr *A;
    int height;
    int64_t block_rows, count; /* number of block rows of A; number of them that are
                                  sampled */
    tally *tallies;
} sample;

/* ---- counting ---------------------------------------------------------------- */

static void count_row(const sample *s, int64_t block_row, tally *t)
{
    const int64_t row             = block_row * s->height;
    const int64_t rest            = s->A->rows - row;
    int64_t beyond[HY_BLOCK_MOST] = {0}; /* beyond[c]: end of the latest block of width c
                                            + 1 */
    hy_panel panel;
    uint32_t bits;
    int32_t col;

    hy_panel_start(s->A, row, rest < s->height ? rest : s->height, &panel);
    for (int k = 0; k < COLUMNS && (bits = hy_panel_next(&panel, &col)) != 0; k++) {
        t->entries += __builtin_popcount(bits);
        for (int c = 0; c < HY_BLOCK_MOST; c++) {
            const int is_new = col >= beyond[c];
            t->blocks[c] += is_new;
            beyond[c] = is_new ? (int64_t)col + c + 1 : beyond[c];
        }
    }
}

static hybrid_status count_rows(void *arg, int part, int64_t begin, int64_t end)
{
    const sample *s = arg;

    (void)part;
    for (int64_t k = begin; k < end; k++) {
        s->tallies[k] = (tally){0};
        /* the product fits 64 bits, because there are fewer than 2^31 block rows and k is
           less than MAX_COUNT */
        count_row(s, (2 * k + 1) * s->block_rows / (2 * s->count), &s->tallies[k]);
    }
    return HYBRID_OK;
}

static int64_t sample_size(int64_t block_rows)
{
    int64_t count = block_rows / SHARE;

    count = count > MIN_COUNT ? count : MIN_COUNT;
    count = count < MAX_COUNT ? count : MAX_COUNT;
    return count < block_rows ? count : block_rows;
}

/* ---- choosing ---------------------------------------------------------------- */

/* Returns the bytes of A in CSR with 64-bit offsets. */
static double stream_bytes(const hy_features *f)
{
    return (double)f->nnz * (4 + (double)hy_value_size(f->type)) + (double)f->rows * 8;
}

void hy_block_shape_set(hy_features *f, hy_block_shape shape)
{
    f->block_rows = shape.rows;
    f->block_cols = shape.cols;
    f->block_fill =
        (double)f->block_fills[HY_BLOCK_MOST * (shape.rows - 1) + shape.cols - 1];
}

double hy_block_count(const hy_features *f)
{
    const double elements = (double)(f->block_rows * f->block_cols);
    return f->block_fill > 0 ? (double)f->nnz / (elements * f->block_fill) : 0;
}

int64_t hy_block_bound(const hy_features *f)
{
    const double expected = f->block_fill > 0 ? hy_block_count(f) : (double)f->nnz;
    const double block =
        4 + (double)(f->block_rows * f->block_cols) * (double)hy_value_size(f->type);
    const double likely = SPARE * expected + 2 * (double)f->row_max;

    return hy_min(f->nnz, (int64_t)fmax(likely, FREE_BYTES / block));
}

double hy_block_rows(const hy_features *f)
{
    return f->block_rows > 0 ? (double)f->rows / f->block_rows : (double)f->rows;
}

double hy_block_stream_bytes(const hy_features *f)
{
    const double elements = (double)(f->block_rows * f->block_cols);
    const double block    = 4 + elements * (double)hy_value_size(f->type);
    return hy_block_count(f) * block + hy_block_rows(f) * 4;
}

const char *hy_block_refuse(const hy_features *f)
{
    if (f->block_fill == 0 && f->nnz > 0)
        return "its blocks are not known, because only plans with HYBRID_RESIDENT look "
               "for blocks";
    if (f->block_fill > 0 && hy_block_stream_bytes(f) < GAIN * stream_bytes(f))
        return NULL;
    return "its blocks would be too empty: CSR takes about as few bytes";
}

/* Sets the fills of all shapes of this height, and replaces the shape of *best by a shape
   of this height if that stores A in fewer bytes. */
static void compare(const tally *sum, int height, hy_features *best)
{
    for (int c = 1; c <= HY_BLOCK_MOST && sum->entries > 0; c++) {
        const double elements = (double)(sum->blocks[c - 1] * height * c);
        best->block_fills[HY_BLOCK_MOST * (height - 1) + c - 1] =
            (float)((double)sum->entries / elements);
        hy_features f = *best;
        hy_block_shape_set(&f, (hy_block_shape){height, c});
        if (best->block_fill <= 0 ||
            hy_block_stream_bytes(&f) < hy_block_stream_bytes(best))
            *best = f;
    }
}

hybrid_status hy_block_fill(hy_context *ctx, const hybrid_csr *A, hy_features *out)
{
    sample s             = {.A = A};
    hybrid_status status = HYBRID_OK;
    void *tallies;

    HY_TRY(hy_array(ctx, MAX_COUNT, sizeof(tally), "tallies of blocks", &tallies));
    s.tallies = tallies;
    for (s.height = 1; s.height <= HY_BLOCK_MOST && status == HYBRID_OK; s.height++) {
        tally sum    = {0};
        s.block_rows = (A->rows + s.height - 1) / s.height;
        s.count      = sample_size(s.block_rows);
        status       = hy_pool_for(ctx->pool, HY_PLAN, 0, s.count, 16, count_rows, &s);
        for (int64_t k = 0; k < s.count && status == HYBRID_OK; k++) {
            sum.entries += s.tallies[k].entries;
            for (int c = 0; c < HY_BLOCK_MOST; c++)
                sum.blocks[c] += s.tallies[k].blocks[c];
        }
        compare(&sum, s.height, out);
    }
    hy_array_free(ctx, tallies);
    return status;
}
