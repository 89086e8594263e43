/* host/spgemm/spgemm_host_hash.c - makes a row of C in a hash table, and sorts it.

   The table has a power of two of slots, 2 to 4 times the bound on the row's entries,
   with multiplicative hashing and linear probing. Slots are listed as they are taken. The
   list, sorted by column, gives the row and clears the table, so no loop visits the whole
   table.

   Between rows all slots are free. */
#include "host/spgemm/spgemm_host.h"

#include <string.h>

#include "base/data/csr.h"
#include "host/backend/target.h"
#include "partition/format/pack.h"

enum { FREE = -1 };

typedef struct table {
    int32_t *key;            /* for each slot (place of the table): column - col_min, or
                                FREE */
    void *sum;               /* a value for each slot */
    uint64_t *taken, *spare; /* `taken`: list of the taken slots as column << 32 | slot;
                                `spare`: scratch memory for sorting it; both have room for
                                row->bound keys */
    int shift;               /* the hash of a column, shifted right by this many bits, is
                                the slot that is tried first */
    uint32_t mask;
} table;

static inline uint32_t slot_of(const table *t, int32_t key)
{
    return ((uint32_t)key * 2654435769u) >> t->shift;
}

#define T float
#define NAME(x) x##_f32
#include "host/spgemm/spgemm_host_hash.inc"
#undef T
#undef NAME
#define T double
#define NAME(x) x##_f64
#include "host/spgemm/spgemm_host_hash.inc"
#undef T
#undef NAME

/* Returns the number of bits of n; at least 1. */
static int bits_of(int64_t n)
{
    int bits = 1;

    while (n >> bits)
        bits++;
    return bits;
}

/* Opens a table for the row. Keys have a workspace of their own, because they must stay
   FREE from row to row. */
static hybrid_status open_table(const hy_seat *seat, const hy_row *row, table *t)
{
    const int log       = bits_of(row->bound) + 1;
    const int64_t slots = (int64_t)1 << log;
    void *keys = NULL, *rest = NULL;
    size_t fresh;

    if (log > 31)
        return hy_fail(seat->lane->backend->ctx, HYBRID_UNSUPPORTED,
                       "a row of C with up to %lld entries is too long for a hash table",
                       (long long)row->bound);
    t->shift = 32 - log;
    t->mask  = (uint32_t)slots - 1;
    HY_TRY(
        hy_host_workspace(seat->lane, HY_SCRATCH_HASH, (size_t)slots * 4, &keys, &fresh));
    t->key = keys;
    if (fresh)
        memset(t->key, 0xff, fresh);
    HY_TRY(hy_host_workspace(seat->lane, HY_SCRATCH_SORT,
                             (size_t)slots * 8 + (size_t)row->bound * 16, &rest, &fresh));
    t->sum   = rest;
    t->taken = (uint64_t *)rest + slots;
    t->spare = t->taken + row->bound;
    return HYBRID_OK;
}

static int64_t add(const hy_seat *seat, const hy_row *row, const table *t, int64_t n)
{
    return HY_CALL_BY_TYPE(seat->type, add, row, t, n);
}

static hybrid_status add_all(const hy_seat *seat, const hy_row *row, const table *t,
                             int64_t *n)
{
    hy_stretch stretch = {.whole = row};

    *n = 0;
    if (row->products <= HY_UNCHECKED) {
        *n = add(seat, row, t, 0);
        return HYBRID_OK;
    }
    while (hy_stretch_next(&stretch, seat->type)) {
        *n = add(seat, &stretch.row, t, *n);
        HY_TRY(hy_seat_check(seat, 0));
    }
    return HYBRID_OK;
}

/* Makes a row in a hash table; row->lanes must be 1. If the call is cancelled, the row is
   still written, unsorted, which frees its slots. */
hybrid_status hy_row_hash(const hy_seat *seat, const hy_row *row, int64_t *nnz)
{
    table t = {0};
    int64_t n;

    HY_TRY(open_table(seat, row, &t));
    const hybrid_status status = add_all(seat, row, &t, &n);
    if (status == HYBRID_OK)
        hy_sort_by_column(t.taken, t.spare, n,
                          bits_of((int64_t)row->col_max - row->col_min));
    HY_CALL_BY_TYPE(seat->type, emit, row, &t, n);
    *nnz = n;
    return status;
}

/* ---- spgemm.host.hash ------------------------------------------------------------- */

static const char *refuse(const hy_features *f, const hy_rates *r)
{
    (void)r;
    return (f->products_max < f->out_cols ? f->products_max : f->out_cols) >> 29
               ? "a row of the result may exceed 2^29 entries"
               : NULL;
}

static hy_cost cost(const hy_features *f, const hy_rates *r)
{
    return hy_spgemm_host_cost(f, r, 10);
}

static hybrid_status run(hy_lane *lane, void *job)
{
    return hy_spgemm_host_run(lane, job, hy_row_hash, 1);
}

static hybrid_status multiply(hy_lane *lane, hy_job *job)
{
    return hy_host_enqueue(lane, run, job);
}

const hy_variant hy_spgemm_host_hash = {
    .name     = "spgemm.host.hash",
    .summary  = "a hash table for each row, then a radix sort",
    .source   = "Nagasaka, Azad, Matsuoka, Buluc 2018",
    .op       = HY_SPGEMM,
    .by_name  = 1,
    .refuse   = refuse,
    .cost     = cost,
    .multiply = multiply,
};
