/* io/sort/runs.c - writes sorted runs and merges them.

   A merge reads a block of each run. The bound of a step is the least of the last records
   of the blocks, among runs that have more records in the file. All records in blocks up
   to the bound are next in the result. They are collected in the order of the runs,
   sorted stably, and handed on; then the blocks are filled again. The block that holds
   the bound is used up, so that every step makes progress. */
#include "io/sort/runs.h"

#include <string.h>

#include "base/data/min_max.h"
#include "base/threads/pool.h"
#include "io/text/io_sizes.h"

enum {
    LEAST_ROOM = 16,  /* number of runs for which memory is allocated at first */
    KEYS       = 4096 /* keys that are written at once */
};

/* ---- writing ----------------------------------------------------------------------- */

typedef struct writing {
    const hy_spill *spill;
    const hy_record *records;
    int64_t count, at; /* at: byte of the first record in the spill */
} writing;

static hybrid_status write_pieces(void *arg, int part, int64_t begin, int64_t end)
{
    const writing *w   = arg;
    const int64_t each = hy_io_sizes_of(w->spill->ctx)->records_piece;
    (void)part;

    for (int64_t piece = begin; piece < end; piece++) {
        const int64_t first = piece * each;
        const int64_t count = hy_min(each, w->count - first);
        HY_TRY(hy_spill_write(w->spill, w->records + first,
                              (size_t)count * sizeof *w->records,
                              w->at + first * (int64_t)sizeof *w->records));
    }
    return HYBRID_OK;
}

/* Writes the keys of records [begin, end). */
static hybrid_status write_keys(void *arg, int part, int64_t begin, int64_t end)
{
    const writing *w = arg;
    uint64_t keys[KEYS];
    (void)part;

    for (int64_t i = begin; i < end; i += KEYS) {
        const int64_t count = hy_min(KEYS, end - i);
        for (int64_t k = 0; k < count; k++)
            keys[k] = w->records[i + k].key;
        HY_TRY(hy_spill_write(w->spill, keys, (size_t)count * sizeof *keys,
                              w->at + i * (int64_t)sizeof *keys));
    }
    return HYBRID_OK;
}

/* Returns the bytes of a record in the spill. */
static int64_t record_bytes(int has_values)
{
    return has_values ? (int64_t)sizeof(hy_record) : (int64_t)sizeof(uint64_t);
}

static hybrid_status note_run(hy_runs *runs, int64_t count)
{
    void *array;

    if (runs->count == runs->room) {
        const int64_t room = hy_max(2 * runs->room, LEAST_ROOM);
        HY_TRY(hy_array(runs->ctx, room, sizeof *runs->run, "runs of entries", &array));
        if (runs->count > 0)
            memcpy(array, runs->run, (size_t)runs->count * sizeof *runs->run);
        hy_array_free(runs->ctx, runs->run);
        runs->run  = array;
        runs->room = room;
    }
    runs->run[runs->count++] = (hy_sorted_run){runs->bytes, count, runs->has_values};
    return HYBRID_OK;
}

hybrid_status hy_runs_add(hy_runs *runs, const hy_record *records, int64_t count,
                          int is_new)
{
    const int64_t each = hy_io_sizes_of(runs->ctx)->records_piece;
    hy_pool *pool      = runs->ctx->pool;
    const writing w    = {&runs->spill, records, count, runs->bytes};

    if (!runs->spill.ctx)
        HY_TRY(hy_spill_open(runs->ctx, &runs->spill));
    if (runs->count == 0 && !runs->has_values && count > 0)
        runs->value = records[0].value;
    if (!runs->has_values)
        runs->has_values = !hy_records_alike(records, count, runs->value);
    if (runs->has_values)
        HY_TRY(hy_pool_for(pool, HY_COMPUTE, 0, hy_pieces_of(count, each), 1,
                           write_pieces, (void *)&w));
    else
        HY_TRY(hy_pool_for(pool, HY_COMPUTE, 0, count, each, write_keys, (void *)&w));
    if (is_new || runs->count == 0 ||
        runs->run[runs->count - 1].has_values != runs->has_values)
        HY_TRY(note_run(runs, count));
    else
        runs->run[runs->count - 1].count += count;
    runs->bytes += count * record_bytes(runs->has_values);
    return HYBRID_OK;
}

void hy_runs_close(hy_runs *runs)
{
    if (!runs->ctx)
        return;
    hy_spill_close(&runs->spill);
    hy_array_free(runs->ctx, runs->run);
    *runs = (hy_runs){.ctx = NULL};
}

/* ---- merging ----------------------------------------------------------------------- */

/* A run that is being merged. */
typedef struct input {
    hy_record *block;
    int64_t held;       /* number of records in the block */
    int64_t take;       /* number of these records that are up to the bound */
    int64_t at;         /* number of records that earlier runs give to the present step */
    hy_sorted_run rest; /* records of the run that are still in the file only */
} input;

typedef struct merge {
    const hy_runs *runs;
    input *inputs;
    int64_t count, block;
    hy_record *next, *spare; /* records of the present step, and memory to sort them:
                                count * block records each; next[-1] may be overwritten */
} merge;

/* Makes records of `count` keys, which lie in the second half of the records' memory:
   each is read before its bytes are overwritten. */
static void add_values(hy_record *records, int64_t count, double value)
{
    const char *keys = (const char *)records + (size_t)count * sizeof(uint64_t);

    for (int64_t k = 0; k < count; k++) {
        hy_record r = {.value = value};
        memcpy(&r.key, keys + (size_t)k * sizeof r.key, sizeof r.key);
        records[k] = r;
    }
}

static hybrid_status fill_blocks(void *arg, int part, int64_t begin, int64_t end)
{
    const merge *m = arg;
    (void)part;

    for (int64_t i = begin; i < end; i++) {
        input *in           = &m->inputs[i];
        const int64_t count = hy_min(m->block - in->held, in->rest.count);
        const size_t bytes  = (size_t)(count * record_bytes(in->rest.has_values));
        hy_record *to       = in->block + in->held;
        char *at            = (char *)(to + count) - bytes;
        HY_TRY(hy_spill_read(&m->runs->spill, at, bytes, in->rest.at));
        if (!in->rest.has_values)
            add_values(to, count, m->runs->value);
        in->held += count;
        in->rest.at += (int64_t)bytes;
        in->rest.count -= count;
    }
    return HYBRID_OK;
}

/* Moves the records of each run that are up to the bound to m->next. */
static hybrid_status move_records(void *arg, int part, int64_t begin, int64_t end)
{
    const merge *m    = arg;
    const size_t size = sizeof(hy_record);
    (void)part;

    for (int64_t i = begin; i < end; i++) {
        input *in = &m->inputs[i];
        memcpy(m->next + in->at, in->block, (size_t)in->take * size);
        in->held -= in->take;
        memmove(in->block, in->block + in->take, (size_t)in->held * size);
    }
    return HYBRID_OK;
}

/* Returns the number of records in the block whose key is less than `key` or, if `equal`,
   not greater. */
static int64_t count_below(const input *in, uint64_t key, int equal)
{
    int64_t low = 0, high = in->held;

    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (in->block[middle].key < key || (equal && in->block[middle].key == key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Determines which records of each block belong to the next step, and their places in
   m->next: sets in->take and in->at. Returns the number of these records. Runs up to the
   one with the bound also give records that equal it: those of later runs come after the
   records of that run that have not been read. */
static int64_t choose_records(const merge *m)
{
    int64_t bound = -1, all = 0;
    uint64_t key = 0;

    for (int64_t i = 0; i < m->count; i++) {
        const input *in = &m->inputs[i];
        if (in->rest.count > 0 && (bound < 0 || in->block[in->held - 1].key < key)) {
            bound = i;
            key   = in->block[in->held - 1].key;
        }
    }
    for (int64_t i = 0; i < m->count; i++) {
        input *in = &m->inputs[i];
        in->take  = bound < 0 ? in->held : count_below(in, key, i <= bound);
        in->at    = all;
        all += in->take;
    }
    return all;
}

static hybrid_status open_merge(merge *m, int64_t first)
{
    hy_context *ctx     = m->runs->ctx;
    const int64_t count = m->count * m->block;
    void *array;

    HY_TRY(hy_array(ctx, m->count, sizeof *m->inputs, "runs of entries", &array));
    m->inputs = memset(array, 0, (size_t)m->count * sizeof *m->inputs);
    HY_TRY(hy_array(ctx, count, sizeof *m->spare, "blocks of entries", &array));
    for (int64_t i = 0; i < m->count; i++)
        m->inputs[i] = (input){.block = (hy_record *)array + i * m->block,
                               .rest  = m->runs->run[first + i]};
    HY_TRY(hy_array(ctx, count + 1, sizeof *m->next, "entries to merge", &array));
    m->next = (hy_record *)array + 1;
    HY_TRY(hy_array(ctx, count, sizeof *m->spare, "entries to merge", &array));
    m->spare = array;
    return HYBRID_OK;
}

static void close_merge(merge *m)
{
    hy_context *ctx = m->runs->ctx;

    hy_array_free(ctx, m->spare);
    hy_array_free(ctx, m->next ? m->next - 1 : NULL);
    hy_array_free(ctx, m->inputs ? m->inputs[0].block : NULL);
    hy_array_free(ctx, m->inputs);
}

static hybrid_status merge_all(merge *m, int64_t first, hy_merged_fn merged, void *arg)
{
    hy_context *ctx = m->runs->ctx;

    HY_TRY(open_merge(m, first));
    for (;;) {
        HY_TRY(hy_pool_for(ctx->pool, HY_COMPUTE, 0, m->count, 1, fill_blocks, m));
        const int64_t count = choose_records(m);
        if (count == 0)
            return HYBRID_OK;
        HY_TRY(hy_pool_for(ctx->pool, HY_COMPUTE, 0, m->count, 1, move_records, m));
        HY_TRY(hy_records_sort(ctx, m->next, m->spare, count));
        HY_TRY(merged(arg, m->next, count));
    }
}

int64_t hy_runs_most(const hy_context *ctx, int64_t room)
{
    return hy_max(room / (3 * hy_io_sizes_of(ctx)->merge_block), 2);
}

hybrid_status hy_runs_merge(const hy_runs *runs, int64_t first, int64_t count,
                            int64_t room, hy_merged_fn merged, void *arg)
{
    merge m = {.runs  = runs,
               .count = count,
               .block = hy_max(room / (3 * hy_max(count, 1)),
                               hy_io_sizes_of(runs->ctx)->merge_block)};

    const hybrid_status status = merge_all(&m, first, merged, arg);
    close_merge(&m);
    return status;
}
