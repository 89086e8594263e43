/* partition/pattern/tiles.c - estimates tile_fill of row panels (16 rows): the mean share
   of the 16 rows that have an entry in a non-empty column of their panel. */
#include "partition/pattern/inspect.h"
#include "partition/format/panel.h"

#include "base/data/min_max.h"
#include "base/threads/pool.h"

enum {
    SAMPLES   = 64,         /* maximum row panels sampled, evenly spaced */
    MIN_COUNT = 8,          /* minimum row panels sampled, unless A has fewer */
    COLUMNS   = 1 << 13,    /* at most about this many columns are read in all sampled
                               panels together */
    COLUMN_ENTRIES = 256,   /* at most one column is read for each COLUMN_ENTRIES
                               entries of A, but MIN_COUNT panels are always sampled */
    PANEL_COLUMNS = 1 << 9, /* maximum columns that are read of a panel; the leftmost
                               ones are read */
    PIECE = 1 << 8,         /* target for the columns that one worker reads at a time,
                               which takes about 5 us */
    FINE = 4                /* one worker is woken for every FINE pieces */
};

/* Measured seconds in which a core finds the next non-empty column of a panel. */
static const double COLUMN_S = 36e-9;

typedef struct sample {
    const hybrid_csr *A;
    int64_t panels;
    int count;
    int64_t entries[SAMPLES], columns[SAMPLES]; /* number of entries and of columns that
                                                   were read of each sampled panel */
} sample;

static hybrid_status count_columns(void *arg, int part, int64_t begin, int64_t end)
{
    sample *s = arg;
    hy_panel panel;
    int32_t col;

    (void)part;
    for (int64_t k = begin; k < end; k++) {
        const int64_t row  = (2 * k + 1) * s->panels / (2 * s->count) * HY_PANEL_ROWS;
        const int64_t rows = s->A->rows - row;
        uint32_t bits;
        hy_panel_start(s->A, row, rows < HY_PANEL_ROWS ? rows : HY_PANEL_ROWS, &panel);
        s->entries[k] = s->columns[k] = 0;
        while (s->columns[k] < PANEL_COLUMNS &&
               (bits = hy_panel_next(&panel, &col)) != 0) {
            s->entries[k] += __builtin_popcount(bits);
            s->columns[k]++;
        }
    }
    return HYBRID_OK;
}

/* Returns an upper bound on the mean number of columns read of a panel. */
static int64_t columns_of(const hybrid_csr *A)
{
    const int64_t mean = A->nnz / hy_max(A->rows, 1) + 1;

    return hy_min(mean * HY_PANEL_ROWS, PANEL_COLUMNS);
}

/* Returns the number of panels to sample; even, so that both halves of the rows of A are
   sampled equally. */
static int64_t count_panels(const hybrid_csr *A)
{
    const int64_t columns = hy_min(A->nnz / COLUMN_ENTRIES, COLUMNS);
    const int64_t count   = hy_min(columns / columns_of(A), SAMPLES);

    return hy_max(count / 2 * 2, MIN_COUNT);
}

double hy_tile_fill_s(const hybrid_csr *A)
{
    return (double)(count_panels(A) * columns_of(A)) * COLUMN_S;
}

hybrid_status hy_tile_fill(hy_context *ctx, const hybrid_csr *A, double *fill)
{
    sample s        = {.A = A, .panels = (A->rows + HY_PANEL_ROWS - 1) / HY_PANEL_ROWS};
    int64_t entries = 0, columns = 0;

    s.count             = (int)hy_min(s.panels, count_panels(A));
    const int64_t grain = PIECE / columns_of(A) + 1;
    const int64_t fine  = FINE * PIECE / (grain * columns_of(A)) + 1;
    HY_TRY(hy_pool_for_fine(ctx->pool, HY_PLAN, 0, s.count, grain, (int)fine,
                            count_columns, &s));
    for (int k = 0; k < s.count; k++) {
        entries += s.entries[k];
        columns += s.columns[k];
    }
    *fill = columns > 0 ? (double)entries / (double)(columns * HY_PANEL_ROWS) : 0;
    return HYBRID_OK;
}

const char *hy_synergy_class(double tile_fill)
{
    return tile_fill < 0.125 ? "low" : tile_fill < 0.25 ? "medium" : "high";
}
