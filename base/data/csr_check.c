/* base/data/csr_check.c - checks the rules of hybrid_csr. */
#include <math.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/threads/pool.h"

enum {
    CHECK_ROWS = 1 << 12, /* maximum rows in a piece of the loop that checks all rules of
                             hybrid_csr */
    CHECK_ENTRIES = 1 << 14, /* target for the entries in a piece of the loop that checks
                                all rules; a worker takes about 3 us for them */
    OFFSETS_GRAIN = 1 << 12, /* rows in a piece of the loop over offsets */
    FINE          = 8        /* one worker is woken for every FINE pieces */
};

static const int64_t MOST = INT64_MAX / 16; /* maximum elements of an array, so that their
                                               bytes fit int64_t */

/* Checks that the array is not NULL, and that it is aligned to the `size` bytes of one of
   its numbers. */
static hybrid_status check_array(hy_context *ctx, const void *array, size_t size,
                                 const char *name, const char *which)
{
    if (!array)
        return hy_fail(ctx, HYBRID_BAD_MATRIX, "%s: %s is NULL", name, which);
    if ((uintptr_t)array % size != 0)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                       "%s: %s at %p is not aligned to the %zu bytes of its numbers",
                       name, which, array, size);
    return HYBRID_OK;
}

static hybrid_status check_arrays(hy_context *ctx, const hybrid_csr *A, const char *name)
{
    HY_TRY(check_array(ctx, A->row_ptr, hy_offset_size(A), name, "row_ptr"));
    if (A->nnz == 0)
        return HYBRID_OK;
    HY_TRY(check_array(ctx, A->col, hy_col_size(A), name, "col"));
    return check_array(ctx, A->val, hy_value_size(A->type), name, "val");
}

static hybrid_status check_size(hy_context *ctx, int64_t size, int64_t most,
                                const char *name, const char *field)
{
    return size >= 0 && size <= most
               ? HYBRID_OK
               : hy_fail(ctx, HYBRID_BAD_MATRIX, "%s: %s is %lld, and must be in 0..%lld",
                         name, field, (long long)size, (long long)most);
}

hybrid_status hy_csr_check_header(hy_context *ctx, const hybrid_csr *A, const char *name)
{
    if (!A)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT, "%s is NULL", name);
    HY_TRY(check_size(ctx, A->rows, MOST, name, "rows"));
    HY_TRY(check_size(ctx, A->cols, INT32_MAX, name, "cols"));
    HY_TRY(check_size(ctx, A->nnz, MOST, name, "nnz"));
    HY_TRY(hy_check_type(ctx, HYBRID_BAD_MATRIX, name, A->type));
    if (A->offset_type != HYBRID_I32 && A->offset_type != HYBRID_I64)
        return hy_fail(ctx, HYBRID_BAD_MATRIX,
                       "%s: offset_type %d is neither HYBRID_I32 nor HYBRID_I64", name,
                       (int)A->offset_type);
    if (A->col_type != 0 && A->col_type != HYBRID_I32 && A->col_type != HYBRID_I64)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                       "%s: col_type %d is neither HYBRID_I32 nor HYBRID_I64", name,
                       (int)A->col_type);
    if (A->offset_type == HYBRID_I32 && A->nnz > INT32_MAX)
        return hy_fail(
            ctx, HYBRID_BAD_MATRIX,
            "%s: %lld entries do not fit 32-bit offsets; use offsets of HYBRID_I64", name,
            (long long)A->nnz);
    return check_arrays(ctx, A, name);
}

/* ---- offsets ----------------------------------------------------------------------- */

static hybrid_status check_ends(hy_context *ctx, const hybrid_csr *A, const char *name)
{
    const int64_t first = hy_offset(A, 0), last = hy_offset(A, A->rows);

    if (first != 0 || last != A->nnz)
        return hy_fail(ctx, HYBRID_BAD_MATRIX,
                       "%s: row offsets go from %lld to %lld instead of from 0 to %lld",
                       name, (long long)first, (long long)last, (long long)A->nnz);
    return HYBRID_OK;
}

static int bad_offsets(const hybrid_csr *A, int64_t i)
{
    const int64_t begin = hy_offset(A, i), end = hy_offset(A, i + 1);
    return begin < 0 || end < begin || end > A->nnz;
}

static hybrid_status report_offsets(hy_context *ctx, const hybrid_csr *A,
                                    const char *name, int64_t i)
{
    return hy_fail(ctx, HYBRID_BAD_MATRIX,
                   "%s: row %lld: offsets %lld and %lld decrease or are not in 0..%lld",
                   name, (long long)i, (long long)hy_offset(A, i),
                   (long long)hy_offset(A, i + 1), (long long)A->nnz);
}

/* falls_int32_t() and falls_int64_t() return 1 if offsets [begin, end] decrease
   somewhere, or if an offset after the first is negative. The loop collects signs of
   offsets and differences without a branch, so that the compiler vectorises it. A
   difference overflows only if one of its ends is negative. */
#define DEFINE_FALLS(word)                                                               \
    static int falls_##word(const word *offset, int64_t begin, int64_t end)              \
    {                                                                                    \
        u##word signs = 0;                                                               \
        for (int64_t i = begin; i < end; i++)                                            \
            signs |=                                                                     \
                ((u##word)offset[i + 1] - (u##word)offset[i]) | (u##word)offset[i + 1];  \
        return signs >> (8 * sizeof signs - 1) != 0;                                     \
    }
DEFINE_FALLS(int32_t)
DEFINE_FALLS(int64_t)

static int do_fall(const hybrid_csr *A, int64_t begin, int64_t end)
{
    return A->offset_type == HYBRID_I32 ? falls_int32_t(A->row_ptr, begin, end)
                                        : falls_int64_t(A->row_ptr, begin, end);
}

typedef struct falling {
    const hybrid_csr *A;
    int found;     /* 1 if offsets decrease or are negative somewhere; atomic */
    int64_t first; /* lowest bad row found so far; atomic */
} falling;

static hybrid_status find_falling(void *arg, int part, int64_t begin, int64_t end)
{
    falling *f          = arg;
    const hybrid_csr *A = f->A;

    (void)part;
    if (do_fall(A, begin, end))
        __atomic_store_n(&f->found, 1, __ATOMIC_RELAXED);
    return HYBRID_OK;
}

static hybrid_status find_first(void *arg, int part, int64_t begin, int64_t end)
{
    falling *f = arg;

    (void)part;
    if (begin > __atomic_load_n(&f->first, __ATOMIC_RELAXED))
        return HYBRID_OK;
    while (begin < end && !bad_offsets(f->A, begin))
        begin++;
    if (begin < end)
        hy_lower_to(&f->first, begin);
    return HYBRID_OK;
}

/* If offsets start at 0, never decrease and end at nnz, all of them are within [0,
   nnz]. */
hybrid_status hy_csr_check_offsets(hy_context *ctx, const hybrid_csr *A, const char *name)
{
    falling f = {A, 0, INT64_MAX};

    HY_TRY(check_ends(ctx, A, name));
    HY_TRY(hy_pool_for_fine(ctx->pool, HY_PLAN, 0, A->rows, OFFSETS_GRAIN, FINE,
                            find_falling, &f));
    if (!f.found)
        return HYBRID_OK;
    HY_TRY(hy_pool_for(ctx->pool, HY_PLAN, 0, A->rows, OFFSETS_GRAIN, find_first, &f));
    return report_offsets(ctx, A, name, f.first);
}

/* ---- all rules --------------------------------------------------------------------- */

typedef struct checking {
    const hybrid_csr *A;
    int64_t first; /* lowest bad row found so far; atomic */
} checking;

/* Returns the position within row i of its first entry that breaks a rule; -1 if there is
   none, -2 if the offsets of the row are wrong. */
static int64_t bad_entry(const hybrid_csr *A, int64_t i)
{
    const int64_t begin = hy_offset(A, i), end = hy_offset(A, i + 1);

    if (bad_offsets(A, i))
        return -2;
    for (int64_t k = begin; k < end; k++) {
        const int64_t j = hy_col(A, k);
        if (j < 0 || j >= A->cols || (k > begin && j <= hy_col(A, k - 1)))
            return k - begin;
    }
    return -1;
}

/* Returns the number of entries in [begin + 1, end) with a column that does not exceed
   the column before. Sets the sign bit of *signs if a column of [begin, end) is not in
   0..cols-1. The inner loop has no branch, so that the compiler vectorises it. */
static int64_t count_descents(const int32_t *col, int64_t begin, int64_t end,
                              int64_t cols, uint32_t *signs)
{
    enum { BLOCK = 1 << 16 };
    const uint32_t last = (uint32_t)(cols - 1);
    uint32_t bits       = (uint32_t)col[begin] | (last - (uint32_t)col[begin]);
    int64_t descents    = 0;

    for (int64_t k = begin + 1; k < end;) {
        const int64_t stop = hy_min(end, k + BLOCK);
        int32_t some       = 0;
        for (; k < stop; k++) {
            bits |= (uint32_t)col[k] | (last - (uint32_t)col[k]);
            some += col[k] <= col[k - 1];
        }
        descents += some;
    }
    *signs = bits;
    return descents;
}

/* Returns 1 if rows [begin, end) of an A with 32-bit columns follow all rules. It
   compares the columns across rows: they may descend only from one row to the next. */
static int are_good(const hybrid_csr *A, int64_t begin, int64_t end)
{
    const int32_t *col = A->col;
    uint32_t signs;

    const int64_t first = hy_offset(A, begin), last = hy_offset(A, end);
    if (first < 0 || last > A->nnz || do_fall(A, begin, end))
        return 0;
    if (first == last)
        return 1;
    int64_t descents = count_descents(col, first, last, A->cols, &signs);
    for (int64_t i = begin + 1; i < end; i++) {
        const int64_t k = hy_offset(A, i);
        if (k > first && hy_offset(A, i + 1) > k)
            descents -= col[k] <= col[k - 1];
    }
    return descents == 0 && signs >> 31 == 0;
}

static hybrid_status check_rows(void *arg, int part, int64_t begin, int64_t end)
{
    checking *c = arg;

    (void)part;
    if (begin > __atomic_load_n(&c->first, __ATOMIC_RELAXED))
        return HYBRID_OK; /* an earlier row is known to be bad, so this one does not
                             matter */
    if (c->A->col_type != HYBRID_I64 && are_good(c->A, begin, end))
        return HYBRID_OK;
    for (int64_t i = begin; i < end; i++) {
        if (bad_entry(c->A, i) == -1)
            continue;
        hy_lower_to(&c->first, i);
        break;
    }
    return HYBRID_OK;
}

/* Checks rows in parallel, in pieces of about the same number of entries. */
static hybrid_status check_all_rows(hy_context *ctx, checking *c)
{
    const double mean   = (double)c->A->nnz / (double)hy_max(c->A->rows, 1);
    const double rows   = CHECK_ENTRIES / fmax(mean, 1);
    const int64_t grain = 1 + (int64_t)fmin(rows, CHECK_ROWS);

    return hy_pool_for_fine(ctx->pool, HY_COMPUTE, 0, c->A->rows, grain, FINE, check_rows,
                            c);
}

/* Fails with a sentence about the error in row i of A, which the sentence calls row
   `row`. */
static hybrid_status report(hy_context *ctx, const hybrid_csr *A, const char *name,
                            int64_t i, int64_t row)
{
    const int64_t entry = bad_entry(A, i);
    const int64_t begin = hy_offset(A, i);

    if (entry == -2)
        return report_offsets(ctx, A, name, i);
    const int64_t j = hy_col(A, begin + entry);
    if (j < 0 || j >= A->cols)
        return hy_fail(ctx, HYBRID_BAD_MATRIX,
                       "%s: row %lld, entry %lld: column %lld is not in 0..%lld", name,
                       (long long)row, (long long)entry, (long long)j,
                       (long long)A->cols - 1);
    return hy_fail(
        ctx, HYBRID_BAD_MATRIX,
        "%s: row %lld, entry %lld: column %lld does not come after column %lld", name,
        (long long)row, (long long)entry, (long long)j,
        (long long)hy_col(A, begin + entry - 1));
}

hybrid_status hy_csr_check(hy_context *ctx, const hybrid_csr *A, const char *name)
{
    checking c = {A, INT64_MAX};

    HY_TRY(hy_csr_check_header(ctx, A, name));
    HY_TRY(check_ends(ctx, A, name));
    HY_TRY(check_all_rows(ctx, &c));
    return c.first == INT64_MAX ? HYBRID_OK : report(ctx, A, name, c.first, c.first);
}

hybrid_status hy_csr_check_rows(hy_context *ctx, const hybrid_csr *A, const char *name,
                                int64_t first, const int32_t *listed)
{
    checking c = {A, INT64_MAX};

    HY_TRY(check_all_rows(ctx, &c));
    if (c.first == INT64_MAX)
        return HYBRID_OK;
    return report(ctx, A, name, c.first, listed ? listed[c.first] : first + c.first);
}
