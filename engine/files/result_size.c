/* engine/files/result_size.c - estimates the entries of C = A*B from a sample of rows. */
#include "engine/files/result_size.h"

#include <math.h>
#include <string.h>

#include "base/contract/image.h"
#include "base/data/csr.h"
#include "base/data/min_max.h"

enum {
    FIRST_DRAWS = 16,
    MORE        = 4, /* each sample has this many times as many draws as the one before */
    MOST_DRAWS  = 1024,
    ENTRIES     = 512,     /* maximum entries of a row of A that are read */
    PRODUCTS    = 1 << 18, /* a sampled row of C is counted up to this many scalar
                              products */
    PIECE       = 4096,    /* maximum column indices of B in one read */
    HALVINGS    = 40,      /* steps of a bisection, which make its error negligible */
    TABLE_PART  = 32,      /* the hash table takes at most 1/32 of free host memory */
    LEAST_TABLE = 1 << 8
};

#define ALIKE 0.03 /* sampling ends at this relative standard error */
/* number of standard errors: a value farther from the mean is improbable */
#define ERRORS 3

/* Hash set of the column indices of one row of C. */
typedef struct column_table {
    int32_t *places; /* column indices; -1 marks a free place */
    uint32_t most;   /* places allocated, a power of two; at most half of them hold
                        columns */
    uint32_t mask;   /* number of places in use for the current row, minus 1 */
    int64_t count;   /* number of distinct columns in the table */
} column_table;

/* Sizes of a row of C. `counted` is the number of distinct columns found; `entries`
   extrapolates it to the whole row. */
typedef struct row_size {
    double entries_of_a, products, entries, counted;
} row_size;

typedef struct sample {
    const hy_source *A, *B;
    column_table table;
    row_size last;    /* sizes of row `last_row` */
    int64_t last_row; /* row of C that was measured last; -1: none yet */
} sample;

/* ---- operands ---------------------------------------------------------------------- */

static hybrid_status find_row(const hy_source *m, int64_t row, int64_t *first,
                              int64_t *count)
{
    int64_t offsets[2] = {0, 0};

    HY_TRY(hy_source_array(m, HY_CSR_OFFSETS, row, 2, offsets));
    *first = offsets[0];
    *count = offsets[1] - offsets[0];
    return HYBRID_OK;
}

/* Finds the row that holds entry number `entry`. */
static hybrid_status row_of(const hy_source *m, int64_t entry, int64_t *row)
{
    int64_t low = 0, high = m->rows, first, count;

    while (low + 1 < high) {
        const int64_t middle = low + (high - low) / 2;
        HY_TRY(find_row(m, middle, &first, &count));
        if (first <= entry)
            low = middle;
        else
            high = middle;
    }
    *row = low;
    return HYBRID_OK;
}

/* ---- columns of a row of C --------------------------------------------------------- */

/* Empties the table for a row that has up to `products` columns. */
static void clear(column_table *table, int64_t products)
{
    uint32_t places = LEAST_TABLE;

    while (places < table->most && places / 2 < products)
        places *= 2;
    table->mask  = places - 1;
    table->count = 0;
    memset(table->places, -1, places * sizeof *table->places);
}

static void insert(column_table *table, int32_t col)
{
    uint32_t at = (uint32_t)col * 0x85ebca6bu >> 7 & table->mask;

    while (table->places[at] != -1 && table->places[at] != col)
        at = (at + 1) & table->mask;
    table->count += table->places[at] == -1;
    table->places[at] = col;
}

/* Inserts the column indices of entries [first, first + count) of B into the table;
   negative ones, which a damaged file may have, are ignored. */
static hybrid_status insert_row(sample *s, int64_t first, int64_t count)
{
    int32_t cols[PIECE];

    for (int64_t i = 0; i < count; i += PIECE) {
        const int64_t more = hy_min(PIECE, count - i);
        HY_TRY(hy_source_array(s->B, HY_CSR_COLS, first + i, more, cols));
        for (int64_t k = 0; k < more; k++)
            if (cols[k] >= 0)
                insert(&s->table, cols[k]);
    }
    return HYBRID_OK;
}

/* ---- a row ------------------------------------------------------------------------- */

/* The rows of B that a row of A touches, or a sample of them. */
typedef struct rows_of_b {
    int64_t first[ENTRIES], count[ENTRIES];
    int64_t products;
    int n;
} rows_of_b;

/* Reads the column indices of `n` entries of A, evenly spaced among the `count` entries
   that begin with entry `first`. */
static hybrid_status read_some(const hy_source *A, int64_t first, int64_t count, int n,
                               int32_t *cols)
{
    if (n == count)
        return hy_source_array(A, HY_CSR_COLS, first, count, cols);
    for (int i = 0; i < n; i++)
        HY_TRY(hy_source_array(A, HY_CSR_COLS, first + count / n * i, 1, cols + i));
    return HYBRID_OK;
}

static hybrid_status find_rows_of_b(const sample *s, int64_t first, int64_t count,
                                    rows_of_b *rows)
{
    int32_t cols[ENTRIES];

    rows->n        = (int)hy_min(count, ENTRIES);
    rows->products = 0;
    HY_TRY(read_some(s->A, first, count, rows->n, cols));
    for (int i = 0; i < rows->n; i++) {
        rows->count[i] = 0;
        if (cols[i] >= 0 && cols[i] < s->B->rows)
            HY_TRY(find_row(s->B, cols[i], &rows->first[i], &rows->count[i]));
        rows->products += rows->count[i];
    }
    return HYBRID_OK;
}

/* Returns the expected number of distinct columns if `draws` scalar products fall on
   `places` columns. */
static double distinct(double places, double draws)
{
    return places * -expm1(-draws / places);
}

/* Returns the expected entries of a row of C with `products` scalar products. `seen` of
   them were examined, and their columns had `counted` different numbers. All products are
   assumed to fall at random on as many columns as explain this count, at most `cols`. */
static double extrapolate(double counted, double seen, double products, double cols)
{
    double low = fmax(counted, 1), high = cols;

    if (products <= seen || counted == 0)
        return counted;
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = sqrt(low * high);
        if (distinct(middle, seen) < counted)
            low = middle;
        else
            high = middle;
    }
    return distinct(high, products);
}

/* Measures a row of C. If the row has more scalar products than the table may hold
   columns, a part of them is counted and extrapolated. */
static hybrid_status measure_row(sample *s, int64_t row, row_size *out)
{
    int64_t first, count, left;
    rows_of_b rows;

    HY_TRY(find_row(s->A, row, &first, &count));
    HY_TRY(find_rows_of_b(s, first, count, &rows));
    const int64_t seen = hy_min(rows.products, (int64_t)s->table.most / 2);
    clear(&s->table, seen);
    left = seen;
    for (int i = 0; i < rows.n && left > 0; i++) {
        const int64_t more = hy_min(rows.count[i], left);
        HY_TRY(insert_row(s, rows.first[i], more));
        left -= more;
    }
    out->entries_of_a = (double)hy_max(count, 1);
    out->products = (double)rows.products * out->entries_of_a / (double)hy_max(rows.n, 1);
    out->counted  = (double)s->table.count;
    out->entries =
        extrapolate(out->counted, (double)seen, out->products, (double)s->B->cols);
    return HYBRID_OK;
}

/* ---- the sample -------------------------------------------------------------------- */

typedef struct mean {
    double sum, squares;
} mean;

static void add(mean *m, double x)
{
    m->sum += x;
    m->squares += x * x;
}

static double standard_error(const mean *m, int n)
{
    const double average = m->sum / n, variance = m->squares / n - average * average;

    return sqrt(fmax(variance, 0) / n);
}

/* Draws `draws` entries of A and estimates C from their rows. *error is the standard
   error of out->entries, in entries. */
static hybrid_status draw(sample *s, int draws, hy_result_size *out, double *error)
{
    const int64_t nnz = s->A->csr->nnz;
    mean products = {0, 0}, entries = {0, 0}, counted = {0, 0};

    for (int k = 0; k < draws; k++) {
        int64_t row;
        HY_TRY(row_of(s->A, nnz / draws * k + nnz / draws / 2, &row));
        if (row != s->last_row)
            HY_TRY(measure_row(s, row, &s->last));
        s->last_row = row;
        add(&products, s->last.products / s->last.entries_of_a);
        add(&entries, s->last.entries / s->last.entries_of_a);
        add(&counted, s->last.counted / s->last.entries_of_a);
    }
    const double each = (double)nnz / draws;
    const double least =
        (1 - ALIKE) * counted.sum - ERRORS * standard_error(&counted, draws) * draws;
    out->products = products.sum * each;
    out->entries  = entries.sum * each;
    out->least    = fmax(least, 0) * each;
    *error        = standard_error(&entries, draws) * (double)nnz;
    return HYBRID_OK;
}

static hybrid_status draw_enough(sample *s, double limit, hy_result_size *out)
{
    const int64_t nnz = s->A->csr->nnz;
    double error;

    for (int draws = FIRST_DRAWS; draws <= MOST_DRAWS; draws *= MORE) {
        HY_TRY(draw(s, (int)hy_min(draws, nnz), out, &error));
        if (error <= ALIKE * out->entries || draws >= nnz || out->least > limit ||
            out->entries + ERRORS * error < limit)
            return HYBRID_OK;
    }
    return HYBRID_OK;
}

/* Returns the number of places of the table: enough for PRODUCTS columns, or fewer, down
   to LEAST_TABLE, if host memory is limited and they would take more than 1/TABLE_PART of
   what is free. */
static uint32_t places_for(const hybrid_engine *engine)
{
    const int64_t bytes = hy_meter_left(&engine->ctx.memory.meter) / TABLE_PART;
    uint32_t places     = 2 * PRODUCTS;

    while (places > LEAST_TABLE && (int64_t)places * 4 > bytes)
        places /= 2;
    return places;
}

hybrid_status hy_estimate_result(const hy_files *call, const hy_source *A,
                                 const hy_source *B, double limit, hy_result_size *out)
{
    hy_context *ctx = &call->engine->ctx;
    sample s        = {.A = A, .B = B, .last_row = -1};
    void *places;

    *out = (hy_result_size){0, 0, 0};
    if (A->csr->nnz == 0 || B->csr->nnz == 0)
        return HYBRID_OK;
    s.table.most = places_for(call->engine);
    HY_TRY(hy_array(ctx, s.table.most, sizeof *s.table.places,
                    "the columns of sampled rows of C", &places));
    s.table.places             = places;
    const hybrid_status status = draw_enough(&s, limit, out);
    hy_array_free(ctx, places);
    return status;
}
