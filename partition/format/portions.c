/* partition/format/portions.c - makes and orders the portions of spmm.cuda.tiled, rows of
   A or segments of long rows.

   Tiled SpMM (section 4.2) reads the pattern of a row as a binary number, first column as
   the highest bit, and sorts rows by it, which brings rows with similar columns together.
   Here only the first two columns of a row are compared, as a key of 64 bits for a radix
   sort: further columns cost much and would mostly move rows within a panel. The sort may
   lose locality that neighbours in A have, and it scatters the rows of Y. It is therefore
   kept only if sampled panels have less traffic. */
#include "partition/format/portions.h"

#include <string.h>

#include "base/data/csr.h"
#include "partition/format/columns.h"
#include "partition/pattern/touched.h"

enum {
    SAMPLES = 32, /* maximum panels sampled, evenly spaced */
    SECTOR  = 32, /* bytes that the memory of the device moves at once */
    GAIN    = 10  /* the sort must save more than 1/GAIN of the traffic */
};

/* ---- segments ---------------------------------------------------------------- */

static int64_t parts_of(int64_t length, int64_t segment)
{
    return length > segment ? (length + segment - 1) / segment : 1;
}

static void count_portions(const hy_job *job, int64_t segment, hy_tiled_portions *p)
{
    const hybrid_csr *A = job->problem->A;

    for (int64_t i = job->chunk->row_begin; i < job->chunk->row_end; i++) {
        const int64_t parts = parts_of(hy_offset(A, i + 1) - hy_offset(A, i), segment);
        p->count += parts;
        p->splits += parts > 1;
        p->partials += parts > 1 ? parts : 0;
    }
}

static void list_portions(const hy_job *job, int64_t segment, const hy_tiled_portions *p)
{
    const hybrid_csr *A    = job->problem->A;
    const int64_t first    = hy_offset(A, job->chunk->row_begin);
    hy_tiled_portion *next = p->list;
    hy_tiled_split *split  = p->split;
    int32_t partial        = 0;

    for (int64_t i = job->chunk->row_begin; i < job->chunk->row_end; i++) {
        const int64_t begin  = hy_offset(A, i) - first;
        const int64_t length = hy_offset(A, i + 1) - first - begin;
        const int64_t parts  = parts_of(length, segment);
        const int32_t row    = (int32_t)(i - job->chunk->row_begin);
        if (parts > 1)
            *split++ = (hy_tiled_split){row, partial, (int32_t)parts};
        for (int64_t k = 0; k < parts; k++)
            *next++ = (hy_tiled_portion){(int32_t)(begin + k * length / parts),
                                         (int32_t)(begin + (k + 1) * length / parts),
                                         parts > 1 ? -1 - partial++ : row};
    }
}

hybrid_status hy_portions_make(const hy_job *job, int64_t segment, hy_tiled_portions *out)
{
    hy_context *ctx = job->problem->ctx;
    void *array;

    memset(out, 0, sizeof *out);
    count_portions(job, segment, out);
    HY_TRY(hy_array(ctx, out->count, sizeof(hy_tiled_portion), "portions", &array));
    out->list = array;
    HY_TRY(hy_array(ctx, out->splits, sizeof(hy_tiled_split), "rows in parts", &array));
    out->split = array;
    list_portions(job, segment, out);
    return HYBRID_OK;
}

void hy_portions_free(hy_context *ctx, hy_tiled_portions *portions)
{
    hy_array_free(ctx, portions->list);
    hy_array_free(ctx, portions->split);
    memset(portions, 0, sizeof *portions);
}

/* Columns ascend in each row. */
void hy_portions_range(const hy_tiled_portions *portions, const int32_t *col,
                       int64_t *first, int64_t *end)
{
    *end = 0;
    for (int64_t i = 0; i < portions->count; i++) {
        const hy_tiled_portion *p = &portions->list[i];
        if (p->begin == p->end)
            continue;
        const int64_t low = col[p->begin], high = col[p->end - 1] + 1;
        *first = *end == 0 || low < *first ? low : *first;
        *end   = high > *end ? high : *end;
    }
    *first = *end == 0 ? 0 : *first;
}

/* ---- sort ---------------------------------------------------------------------- */

typedef struct keyed {
    uint64_t key; /* first column in the high word, second column in the low word; all
                     ones for a column that the portion lacks */
    hy_tiled_portion portion;
} keyed;

/* Sets the keys. Returns 1 if the portions are in the order of their keys already. */
static int make_keys(const hy_job *job, const hy_tiled_portions *p, keyed *to)
{
    const hybrid_csr *A = job->problem->A;
    const int32_t *col  = hy_cols(A) + hy_offset(A, job->chunk->row_begin);
    int sorted          = 1;

    for (int64_t i = 0; i < p->count; i++) {
        const hy_tiled_portion s = p->list[i];
        const int64_t n          = s.end - s.begin;
        uint64_t key             = n > 0 ? (uint64_t)col[s.begin] << 32 : UINT64_MAX;
        if (n > 0)
            key |= n > 1 ? (uint64_t)col[s.begin + 1] : UINT32_MAX;
        to[i]  = (keyed){key, s};
        sorted = sorted && (i == 0 || to[i - 1].key <= key);
    }
    return sorted;
}

/* Makes one pass of a stable radix sort by byte `byte`. Returns 0, without a copy, if all
   keys have the same byte there. */
static int sort_byte(const keyed *from, int64_t count, int byte, keyed *to)
{
    int64_t at[257] = {0};

    for (int64_t i = 0; i < count; i++)
        at[(from[i].key >> (8 * byte) & 255) + 1]++;
    for (int k = 0; k < 256; k++) {
        if (at[k + 1] == count)
            return 0;
        at[k + 1] += at[k];
    }
    for (int64_t i = 0; i < count; i++)
        to[at[from[i].key >> (8 * byte) & 255]++] = from[i];
    return 1;
}

/* Sorts the keys. Returns the array that holds the result, `keys` or `spare`. */
static const keyed *sort_keys(keyed *keys, keyed *spare, int64_t count)
{
    for (int byte = 0; byte < 8; byte++)
        if (sort_byte(keys, count, byte, spare)) {
            keyed *swap = keys;
            keys        = spare;
            spare       = swap;
        }
    return keys;
}

/* ---- model --------------------------------------------------------------------- */

typedef struct model {
    const hy_job *job;
    const hy_touched *touched;
    hy_columns sectors; /* set of the sectors of a column of X that a panel reads */
    int64_t each;       /* values in a sector of SECTOR bytes */
} model;

/* Returns how many sectors a panel reads of a column of X and writes of a column of Y:
   Gamma / rho of Eq. 3 in the paper, and the output as in its section 5.3. */
static int64_t panel_traffic(model *m, const hy_tiled_portion *list, int64_t count)
{
    const hybrid_csr *A = m->job->problem->A;
    const int32_t *col  = hy_cols(A) + hy_offset(A, m->job->chunk->row_begin);
    int64_t written     = 0;

    for (int64_t i = 0; i < count; i++) {
        written += i == 0 || list[i].out / m->each != list[i - 1].out / m->each;
        for (int64_t k = list[i].begin; k < list[i].end; k++) {
            const int32_t c =
                m->touched->rows ? hy_renumbered(m->touched, col[k]) : col[k];
            hy_columns_add(&m->sectors, (int32_t)(c / m->each));
        }
    }
    const int64_t read = hy_columns_number(&m->sectors, NULL);
    hy_columns_clear(&m->sectors);
    return read + written;
}

static int64_t traffic(model *m, const hy_tiled_portion *list, int64_t count)
{
    const int64_t panels  = (count + HY_TILED_ROWS - 1) / HY_TILED_ROWS;
    const int64_t samples = panels < SAMPLES ? panels : SAMPLES;
    int64_t sum           = 0;

    for (int64_t k = 0; k < samples; k++) {
        const int64_t begin = (2 * k + 1) * panels / (2 * samples) * HY_TILED_ROWS;
        const int64_t left  = count - begin;
        sum +=
            panel_traffic(m, list + begin, left < HY_TILED_ROWS ? left : HY_TILED_ROWS);
    }
    return sum;
}

static hybrid_status compare(const hy_job *job, const hy_touched *touched,
                             const hy_tiled_portions *p, const hy_tiled_portion *other,
                             int *better)
{
    hy_context *ctx     = job->problem->ctx;
    const int64_t each  = SECTOR / (int64_t)hy_value_size(job->problem->A->type);
    const int64_t width = touched->rows ? touched->count : job->problem->A->cols;
    model m             = {.job = job, .touched = touched, .each = each};

    hybrid_status status = hy_columns_open(ctx, 0, width / each + 1, &m.sectors);
    if (status == HYBRID_OK) {
        const int64_t as_is = traffic(&m, p->list, p->count);
        *better             = traffic(&m, other, p->count) < as_is - as_is / GAIN;
    }
    hy_columns_close(ctx, &m.sectors);
    return status;
}

hybrid_status hy_portions_order(const hy_job *job, const hy_touched *touched,
                                hy_tiled_portions *p, int *sorted)
{
    hy_context *ctx      = job->problem->ctx;
    hybrid_status status = HYBRID_OK;
    void *keys = NULL, *other = NULL;

    *sorted = 0;
    if (p->count <= HY_TILED_ROWS)
        return HYBRID_OK;
    HY_TRY_ELSE_DONE(hy_array(ctx, 2 * p->count, sizeof(keyed), "keys of rows", &keys));
    if (make_keys(job, p, keys))
        goto done;
    HY_TRY_ELSE_DONE(
        hy_array(ctx, p->count, sizeof(hy_tiled_portion), "sorted portions", &other));
    hy_tiled_portion *list = other;
    const keyed *from      = sort_keys(keys, (keyed *)keys + p->count, p->count);
    for (int64_t i = 0; i < p->count; i++)
        list[i] = from[i].portion;
    HY_TRY_ELSE_DONE(compare(job, touched, p, list, sorted));
    if (*sorted) {
        other   = p->list;
        p->list = list;
    }
done:
    hy_array_free(ctx, keys);
    hy_array_free(ctx, other);
    return status;
}
