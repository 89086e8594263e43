/* partition/tiled/strips.c - makes and orders the strips of spmm.cuda.tiled, rows of
   A or segments of long rows.

   Tiled SpMM (section 4.2) reads the pattern of a row as a binary number, first column as
   the highest bit, and sorts rows by it, which brings rows with similar columns together.
   Here only the first two columns of a row are compared, as a key of 64 bits for a radix
   sort: further columns cost much and would mostly move rows within a panel. The sort may
   lose locality that neighbours in A have, and it stores neighbouring sums to distant
   rows of Y. The sorted order is therefore used only if sampled panels have less traffic.

   In the paper's form all columns are compared, and the sort is kept if rho (entries for
   each staged row of X) of all panels rises. The paper stores the rows of Y in the new
   order; here each row of Y stays in its place. */
#include "partition/tiled/strips.h"

#include <stdlib.h>
#include <string.h>

#include "base/data/csr.h"

enum {
    SAMPLES = 32, /* maximum panels sampled, evenly spaced */
    SECTOR  = 32, /* bytes that the memory of the device moves at once */
    GAIN    = 10  /* the sorted order is used if it saves more than 1/GAIN of the sectors
                     that are moved for X */
};

/* ---- segments ---------------------------------------------------------------- */

static int64_t parts_of(int64_t length, int64_t segment)
{
    return length > segment ? (length + segment - 1) / segment : 1;
}

static void count_strips(const hy_tiled_source *source, int64_t segment,
                         hy_tiled_strips *p)
{
    const hybrid_csr *A = source->A;

    for (int64_t i = source->begin; i < source->end; i++) {
        const int64_t parts = parts_of(hy_offset(A, i + 1) - hy_offset(A, i), segment);
        p->count += parts;
        p->splits += parts > 1;
        p->partials += parts > 1 ? parts : 0;
    }
}

static void list_strips(const hy_tiled_source *source, int64_t segment,
                        const hy_tiled_strips *p)
{
    const hybrid_csr *A   = source->A;
    const int64_t first   = hy_offset(A, source->begin);
    hy_tiled_strip *next  = p->list;
    hy_tiled_split *split = p->split;
    int32_t partial       = 0;

    for (int64_t i = source->begin; i < source->end; i++) {
        const int64_t begin  = hy_offset(A, i) - first;
        const int64_t length = hy_offset(A, i + 1) - first - begin;
        const int64_t parts  = parts_of(length, segment);
        const int32_t row    = (int32_t)(i - source->begin);
        if (parts > 1)
            *split++ = (hy_tiled_split){row, partial, (int32_t)parts};
        for (int64_t k = 0; k < parts; k++)
            *next++ = (hy_tiled_strip){(int32_t)(begin + k * length / parts),
                                       (int32_t)(begin + (k + 1) * length / parts),
                                       parts > 1 ? -1 - partial++ : row};
    }
}

hybrid_status hy_strips_make(const hy_tiled_source *source, int64_t segment,
                             hy_tiled_strips *out)
{
    hy_context *ctx = source->ctx;
    void *array;

    memset(out, 0, sizeof *out);
    count_strips(source, segment, out);
    HY_TRY(hy_array(ctx, out->count, sizeof(hy_tiled_strip), "strips", &array));
    out->list = array;
    HY_TRY(hy_array(ctx, out->splits, sizeof(hy_tiled_split), "rows in parts", &array));
    out->split = array;
    list_strips(source, segment, out);
    return HYBRID_OK;
}

void hy_strips_free(hy_context *ctx, hy_tiled_strips *strips)
{
    hy_array_free(ctx, strips->list);
    hy_array_free(ctx, strips->split);
    memset(strips, 0, sizeof *strips);
}

/* ---- sort ---------------------------------------------------------------------- */

typedef struct keyed {
    uint64_t key; /* sort key: first column in the high word, second column in the low
                     word; all ones for a column that the strip lacks */
    hy_tiled_strip strip;
} keyed;

static const int32_t *cols_of(const hy_tiled_source *source)
{
    return hy_cols(source->A) + hy_offset(source->A, source->begin);
}

/* Sets the keys. Returns 1 if the strips are in the order of their keys already. */
static int make_keys(const hy_tiled_source *source, const hy_tiled_strips *p, keyed *to)
{
    const int32_t *col = cols_of(source);
    int sorted         = 1;

    for (int64_t i = 0; i < p->count; i++) {
        const hy_tiled_strip s = p->list[i];
        const int64_t n        = s.end - s.begin;
        uint64_t key           = n > 0 ? (uint64_t)col[s.begin] << 32 : UINT64_MAX;
        if (n > 0)
            key |= n > 1 ? (uint64_t)col[s.begin + 1] : UINT32_MAX;
        to[i]  = (keyed){key, s};
        sorted = sorted && (i == 0 || to[i - 1].key <= key);
    }
    return sorted;
}

/* Makes one pass of a stable radix sort by byte number `byte` of the keys. If all keys
   have the same byte there, copies nothing and returns 0. */
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
static keyed *sort_keys(keyed *keys, keyed *spare, int64_t count)
{
    for (int byte = 0; byte < 8; byte++)
        if (sort_byte(keys, count, byte, spare)) {
            keyed *swap = keys;
            keys        = spare;
            spare       = swap;
        }
    return keys;
}

/* Compares all columns of two strips; strips with the same columns keep their
   order. */
static int compare_columns(const void *left, const void *right, void *cols)
{
    const hy_tiled_strip a = ((const keyed *)left)->strip;
    const hy_tiled_strip b = ((const keyed *)right)->strip;
    const int32_t *col     = cols;
    int64_t i = a.begin, j = b.begin;

    for (; i < a.end && j < b.end; i++, j++)
        if (col[i] != col[j])
            return col[i] < col[j] ? -1 : 1;
    if (i < a.end || j < b.end)
        return i < a.end ? -1 : 1;
    return a.begin < b.begin ? -1 : 1;
}

/* Sorts strips with the same key by their other columns. */
static void sort_further(const hy_tiled_source *source, keyed *keys, int64_t count)
{
    for (int64_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && keys[end].key == keys[begin].key; end++)
            ;
        if (end - begin > 1)
            qsort_r(keys + begin, (size_t)(end - begin), sizeof *keys, compare_columns,
                    (void *)(uintptr_t)cols_of(source));
    }
}

/* Lists the strips in the order of their columns: of the first two, or, if `paper` is 1,
   of all. If `paper` is 0 and they are in this order already, sets *same to 1 and makes
   no list; else sets *same to 0. */
static hybrid_status sort_strips(const hy_tiled_source *source, const hy_tiled_strips *p,
                                 int paper, hy_tiled_strip *list, int *same)
{
    hy_context *ctx = source->ctx;
    void *keys;

    HY_TRY(hy_array(ctx, 2 * p->count, sizeof(keyed), "keys of rows", &keys));
    *same = make_keys(source, p, keys) && !paper;
    if (!*same) {
        keyed *sorted = sort_keys(keys, (keyed *)keys + p->count, p->count);
        if (paper)
            sort_further(source, sorted, p->count);
        for (int64_t i = 0; i < p->count; i++)
            list[i] = sorted[i].strip;
    }
    hy_array_free(ctx, keys);
    return HYBRID_OK;
}

/* ---- which order is better --------------------------------------------------------- */

typedef struct model {
    const hy_tiled_source *source;
    hy_columns sectors; /* the sectors of a column of X that a panel reads, as a set */
    int64_t each;       /* number of values in a sector of SECTOR bytes */
} model;

/* Returns how many sectors of SECTOR bytes a panel reads of each column of X and writes
   of each column of Y: Gamma / rho of Eq. 3 in the paper, and the output as in its
   section 5.3. */
static int64_t panel_traffic(model *m, const hy_tiled_strip *list, int64_t count)
{
    const int32_t *col = cols_of(m->source);
    int64_t written    = 0;

    for (int64_t i = 0; i < count; i++) {
        written += i == 0 || list[i].out / m->each != list[i - 1].out / m->each;
        for (int64_t k = list[i].begin; k < list[i].end; k++)
            hy_columns_add(&m->sectors,
                           (int32_t)(hy_tiled_col(m->source, col, k) / m->each));
    }
    const int64_t read = hy_columns_number(&m->sectors, NULL);
    hy_columns_clear(&m->sectors);
    return read + written;
}

static int64_t traffic(model *m, const hy_tiled_strip *list, int64_t count)
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

/* Sets *better to 1 if sampled panels move fewer sectors, by more than 1/GAIN, with the
   strips in the order of `other` than in the order of `p`; else to 0. */
static hybrid_status compare_traffic(const hy_tiled_source *source,
                                     const hy_tiled_strips *p,
                                     const hy_tiled_strip *other, int *better)
{
    const int64_t each  = SECTOR / (int64_t)hy_value_size(source->A->type);
    const int64_t width = source->touched ? source->touched->count : source->A->cols;
    model m             = {.source = source, .each = each};

    hybrid_status status = hy_columns_open(source->ctx, 0, width / each + 1, &m.sectors);
    if (status == HYBRID_OK) {
        const int64_t as_is = traffic(&m, p->list, p->count);
        *better             = traffic(&m, other, p->count) < as_is - as_is / GAIN;
    }
    hy_columns_close(source->ctx, &m.sectors);
    return status;
}

/* Sets *better to 1 if all panels stage fewer rows of X with the strips in the order of
   `other` than in that of `p`, which means that rho (entries for each staged row) is
   larger; else to 0. */
static hybrid_status compare_reuse(const hy_tiled_source *source,
                                   const hy_tiled_strips *p, hy_tiled_strip *other,
                                   int *better)
{
    const hy_tiled_strips sorted = {.count = p->count, .list = other};
    hy_tiled_reuse as_is, then;

    HY_TRY(hy_tiled_reuse_find(source, p, 0, &as_is));
    HY_TRY(hy_tiled_reuse_find(source, &sorted, 0, &then));
    *better = then.staged < as_is.staged;
    return HYBRID_OK;
}

hybrid_status hy_strips_order(const hy_tiled_source *source, const hy_tiled_rules *rules,
                              hy_tiled_strips *p, int *sorted)
{
    hy_context *ctx = source->ctx;
    hybrid_status status;
    void *other = NULL;
    int same;

    *sorted = 0;
    if (p->count <= HY_TILED_ROWS || rules->order == HY_TILED_SORT_NEVER)
        return HYBRID_OK;
    HY_TRY(hy_array(ctx, p->count, sizeof(hy_tiled_strip), "sorted strips", &other));
    status = sort_strips(source, p, rules->paper, other, &same);
    if (status == HYBRID_OK && !same && rules->order == HY_TILED_SORT_ALWAYS)
        *sorted = 1;
    else if (status == HYBRID_OK && !same && rules->paper)
        status = compare_reuse(source, p, other, sorted);
    else if (status == HYBRID_OK && !same)
        status = compare_traffic(source, p, other, sorted);
    if (status == HYBRID_OK && *sorted) {
        void *swap = p->list;
        p->list    = other;
        other      = swap;
    }
    hy_array_free(ctx, other);
    return status;
}
