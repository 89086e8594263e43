/* partition/tiled/tiled_rules.c - how spmm.cuda.tiled cuts, sorts and stores the rows of
   A. */
#include "partition/tiled/tiled_rules.h"

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "partition/tiled/intensity.h"

/* Indices of hy_features.parameter, in the order of hy_variant.parameters. OFF and ON are
   the values of the parameters that are switches. */
enum { R, SEGMENT, REORDER, PAPER };
enum { OFF = 1, ON = 2 };

/* R, the number of columns of X that a thread computes at once. The kernel has more rows
   of X in flight than the paper's, so it keeps fewer sums in registers than the paper's
   16. */
enum { R_f32 = 8, R_f64 = 4, R_PAPER = 16 };

enum {
    LONG  = 512, /* maximum entries of a strip; longer rows are cut */
    LEAST = 32   /* minimum of hy_tiled_rules.segment, the maximum entries of a segment */
};

/* Rows are cut into more strips if uncut rows make fewer thread blocks than this for
   each multiprocessor. */
static const double IDLE = 0.65;

static int64_t ceil_of(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static int columns_at_once(const hy_features *f)
{
    if (f->parameter[R])
        return f->parameter[R];
    if (f->parameter[PAPER])
        return R_PAPER;
    return HY_BY_TYPE(f->type, R);
}

double hy_tiled_utilization(const hy_features *f, const hy_rates *r, int columns)
{
    return hy_utilization((double)f->rows / HY_TILED_ROWS,
                          (double)ceil_of(f->out_cols, columns), r->width);
}

/* Sets rules->segment and rules->partials: the length at which rows are cut, and a bound
   on segments. A row of e entries in segments of at most g has less than 2 e / g
   segments. The bound covers both ways to cut, so that it does not fall where the chart
   changes its choice. */
static void cut(const hy_features *f, const hy_rates *r, hy_tiled_rules *rules)
{
    const int64_t least  = rules->paper ? 1 : LEAST;
    const int64_t most   = rules->paper ? INT64_MAX : LONG;
    const int64_t mean   = hy_min(hy_max((int64_t)f->row_mean + 1, least), most);
    const int uneven     = f->row_cv > 1 || f->parameter[SEGMENT] == ON;
    const int64_t even   = uneven ? mean : most;
    const int64_t passes = ceil_of(f->out_cols, rules->R);
    /* number of strips that make one thread block for each multiprocessor, which the
       paper writes as U = 1 */
    const int64_t wave =
        ceil_of((int64_t)HY_TILED_ROWS * hy_max(r->width, 1), hy_max(passes, 1));
    /* length of segments, in entries, with which A has `wave` segments */
    const int64_t spread = hy_max(ceil_of(f->nnz, wave), least);
    const int idle       = (double)f->rows < IDLE * (double)wave;

    rules->segment = INT64_MAX;
    if (f->parameter[SEGMENT] == OFF)
        return;
    rules->segment  = idle ? hy_min(even, spread) : even;
    rules->partials = 2 * f->nnz / even + hy_min(2 * f->nnz / least, 2 * wave);
}

hy_tiled_rules hy_tiled_rules_for(const hy_features *f, const hy_rates *r)
{
    hy_tiled_rules rules = {.R     = columns_at_once(f),
                            .tiles = f->parameter[PAPER] ? 1 : 2,
                            .paper = f->parameter[PAPER] == 1,
                            .order = f->parameter[REORDER] == OFF ? HY_TILED_SORT_NEVER
                                     : f->parameter[REORDER] == ON
                                         ? HY_TILED_SORT_ALWAYS
                                         : HY_TILED_SORT_IF_BETTER};

    cut(f, r, &rules);
    return rules;
}

const char *hy_tiled_refuse(const hy_features *f, const hy_rates *r)
{
    const hy_tiled_rules rules = hy_tiled_rules_for(f, r);
    const size_t tile = (size_t)(rules.R * HY_TILED_COLS) * hy_value_size(f->type);

    return (size_t)rules.tiles * tile > r->block_memory
               ? "its tiles for R columns need more shared memory than the device gives "
                 "a "
                 "thread block"
               : NULL;
}
