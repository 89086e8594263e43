/* io/sort/entry_sort.c - collects entries, and sorts them in memory if they fit. If not,
   sorts parts that fit, called runs, in a temporary file and merges them. */
#include "io/sort/entry_sort.h"

#include <string.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "io/sort/csr_output.h"
#include "io/sort/entry_pack.h"
#include "io/sort/runs.h"
#include "io/text/io_sizes.h"

enum {
    LEAST_RUN  = 1 << 12, /* minimum entries of a run, even if the budget is smaller */
    FIRST_ROOM = 1 << 16, /* number of records for which memory is allocated at first */
    MOST_BATCH = 1 << 18  /* maximum entries that are read from the file at once */
};

/* Shares of the host memory that the budget leaves: 1/SORTED for records and the memory
   that sorts them, 1/KEPT for a matrix that stays in memory. */
enum { SORTED = 2, KEPT = 8 };
static const int64_t unlimited = (int64_t)1 << 40; /* bytes, which stand for the memory
                                                      that is left if no budget is set */

typedef struct sorter {
    hy_context *ctx;
    hy_entry_reader *entries;
    hy_matrix_file *out;
    int64_t left; /* bytes of host memory that the budget leaves */
    int64_t most; /* maximum records of a run */
    hy_entry *batch;
    int64_t batch_room, batch_records; /* maximum entries, and records, of a batch */
    hy_record *memory;                 /* memory for `room` records; before it lies memory
                                          for one more, which hy_csr_output_append() may
                                          overwrite */
    hy_reused spare;                   /* memory that hy_records_sort() needs */
    int64_t room, count;
    uint64_t last; /* greatest key of the run that was written last */
    hy_runs runs;
    hy_csr_output output;
} sorter;

/* ---- collecting -------------------------------------------------------------------- */

static hy_record *records_of(const sorter *s)
{
    return s->memory + 1;
}

static void free_memory(sorter *s)
{
    hy_array_free_reused(s->ctx, &s->spare);
    hy_array_free(s->ctx, s->memory);
    s->memory = NULL;
}

static hybrid_status enlarge(sorter *s, int64_t wanted)
{
    void *array;

    if (wanted <= s->room)
        return HYBRID_OK;
    const int64_t room = hy_min(hy_max(wanted, 2 * s->room), s->most);
    HY_TRY(hy_array(s->ctx, room + 1, sizeof *s->memory, "entries to sort", &array));
    if (s->count > 0)
        memcpy((hy_record *)array + 1, records_of(s),
               (size_t)s->count * sizeof *s->memory);
    hy_array_free(s->ctx, s->memory);
    s->memory = array;
    s->room   = room;
    return HYBRID_OK;
}

/* Sorts the records that are in memory by row and column. */
static hybrid_status sort_memory(sorter *s)
{
    HY_TRY(hy_array_reuse(s->ctx, &s->spare, s->count * (int64_t)sizeof *s->memory,
                          "entries to sort"));
    return hy_records_sort(s->ctx, records_of(s), s->spare.array, s->count);
}

/* Sorts and writes the records in memory as a run. If no key is less than s->last, they
   extend the last run, so that a sorted file needs no merge. */
static hybrid_status write_run(sorter *s)
{
    if (s->count == 0)
        return HYBRID_OK;
    HY_TRY(sort_memory(s));
    const hy_record *records = records_of(s);
    HY_TRY(hy_runs_add(&s->runs, records, s->count,
                       s->runs.count == 0 || records[0].key < s->last));
    s->last  = records[s->count - 1].key;
    s->count = 0;
    return HYBRID_OK;
}

static hybrid_status check_sizes(const sorter *s)
{
    const hy_entry_reader *e = s->entries;

    if (e->rows > HY_KEY_ROWS || e->cols > HY_KEY_COLS)
        return hy_fail(s->ctx, HYBRID_BAD_FILE,
                       "%s: has %lld rows and %lld columns; the limits are %lld and %lld",
                       s->out->name, (long long)e->rows, (long long)e->cols,
                       (long long)HY_KEY_ROWS, (long long)HY_KEY_COLS);
    return HYBRID_OK;
}

static hybrid_status collect(sorter *s)
{
    for (;;) {
        int64_t count = 0;
        if (s->most - s->count < s->batch_records)
            HY_TRY(write_run(s));
        HY_TRY(s->entries->ops->next(s->entries, s->batch_room, s->batch, &count));
        HY_TRY(check_sizes(s));
        if (count == 0)
            return HYBRID_OK;
        HY_TRY(enlarge(s, s->count + s->batch_records));
        HY_TRY(hy_entry_pack(s->ctx, s->batch, count, s->entries->mirror,
                             records_of(s) + s->count, &count));
        s->count += count;
    }
}

/* ---- storing ----------------------------------------------------------------------- */

static hybrid_status append_to_output(void *arg, hy_record *records, int64_t count)
{
    return hy_csr_output_append(arg, records, count);
}

static int fits_memory(const sorter *s)
{
    const int64_t bytes = hy_csr_bytes(s->entries->rows, s->count, s->entries->type);

    return hy_io_sizes_of(s->ctx)->run == 0 && bytes <= s->left / KEPT;
}

/* Stores the matrix if all records are in memory. */
static hybrid_status store_memory(sorter *s)
{
    HY_TRY(sort_memory(s));
    hy_array_free_reused(s->ctx, &s->spare);
    HY_TRY(hy_csr_output_open(s->entries, s->out->name, fits_memory(s), s->count,
                              &s->output));
    return hy_csr_output_append(&s->output, records_of(s), s->count);
}

/* A run that is made by merging several runs. */
typedef struct longer {
    hy_runs *to;
    int is_new; /* 1: no record of the run has been written yet */
} longer;

static hybrid_status append_to_run(void *arg, hy_record *records, int64_t count)
{
    longer *l = arg;

    HY_TRY(hy_runs_add(l->to, records, count, l->is_new));
    l->is_new = 0;
    return HYBRID_OK;
}

/* Merges groups of at most `most` runs, each to one longer run. */
static hybrid_status merge_groups(sorter *s, int64_t most)
{
    hy_runs fewer        = {.ctx = s->ctx, .has_values = s->runs.has_values};
    hybrid_status status = HYBRID_OK;

    for (int64_t i = 0; i < s->runs.count && status == HYBRID_OK; i += most) {
        longer l = {&fewer, 1};
        status   = hy_runs_merge(&s->runs, i, hy_min(most, s->runs.count - i),
                                 SORTED * s->most, append_to_run, &l);
    }
    hy_runs_close(&s->runs);
    s->runs = fewer;
    return status;
}

static hybrid_status store_runs(sorter *s)
{
    const int64_t room = SORTED * s->most, most = hy_runs_most(s->ctx, room);

    HY_TRY(write_run(s));
    free_memory(s);
    while (s->runs.count > most)
        HY_TRY(merge_groups(s, most));
    HY_TRY(hy_csr_output_open(s->entries, s->out->name, 0, 0, &s->output));
    return hy_runs_merge(&s->runs, 0, s->runs.count, room, append_to_output, &s->output);
}

/* ---- the whole matrix -------------------------------------------------------------- */

static hybrid_status open_sorter(sorter *s)
{
    const int64_t record = (int64_t)sizeof *s->memory;
    const int64_t run    = hy_io_sizes_of(s->ctx)->run;
    void *array;

    s->left = hy_min(hy_meter_left(&s->ctx->memory.meter), unlimited);
    s->most = hy_max(s->left / (SORTED * 2 * record), LEAST_RUN);
    s->most = hy_min(s->most, INT32_MAX / SORTED);
    if (run > 0)
        s->most = run;
    s->batch_room    = hy_min(hy_max(s->most / 8, 1), MOST_BATCH);
    s->batch_records = s->entries->mirror ? 2 * s->batch_room : s->batch_room;
    s->most          = hy_max(s->most, s->batch_records);
    HY_TRY(
        hy_array(s->ctx, s->batch_room, sizeof *s->batch, "entries of a file", &array));
    s->batch = array;
    return enlarge(s, hy_min(FIRST_ROOM, s->most));
}

static hybrid_status sort(sorter *s)
{
    HY_TRY(open_sorter(s));
    HY_TRY(collect(s));
    hy_array_free(s->ctx, s->batch);
    s->batch = NULL;
    HY_TRY(s->runs.count > 0 ? store_runs(s) : store_memory(s));
    return hy_csr_output_finish(&s->output, s->entries->rows, s->entries->cols, s->out);
}

hybrid_status hy_entry_sort(hy_context *ctx, hy_entry_reader *entries,
                            hy_matrix_file *out)
{
    sorter s = {.ctx = ctx, .entries = entries, .out = out, .runs = {.ctx = ctx}};

    const hybrid_status status = sort(&s);
    hy_array_free(ctx, s.batch);
    free_memory(&s);
    hy_runs_close(&s.runs);
    hy_csr_output_close(&s.output);
    return status;
}
