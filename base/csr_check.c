/* base/csr_check.c - the rules of hybrid_csr. */
#include "base/csr.h"
#include "base/extremes.h"
#include "base/pool.h"

enum { CHECK_GRAIN = 1 << 12 };

static const int64_t ROWS_MOST = INT64_MAX / 16; /* bytes of offsets can be counted */

hybrid_status hy_csr_check_header(hy_context *ctx, const hybrid_csr *A, const char *name)
{
    if (!A)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT, "%s is NULL", name);
    if (A->rows < 0 || A->rows > ROWS_MOST || A->cols < 0 || A->cols > INT32_MAX ||
        A->nnz < 0)
        return hy_fail(
            ctx, HYBRID_BAD_MATRIX,
            "%s: %lld rows, %lld columns or %lld entries is negative or too large", name,
            (long long)A->rows, (long long)A->cols, (long long)A->nnz);
    if (A->type != HYBRID_F32 && A->type != HYBRID_F64)
        return hy_fail(ctx, HYBRID_BAD_MATRIX, "%s: type %d is neither f32 nor f64", name,
                       (int)A->type);
    if (A->offset_type != HYBRID_I32 && A->offset_type != HYBRID_I64)
        return hy_fail(ctx, HYBRID_BAD_MATRIX,
                       "%s: offsets of type %d are neither 32 nor 64 bit", name,
                       (int)A->offset_type);
    if (A->offset_type == HYBRID_I32 && A->nnz > INT32_MAX)
        return hy_fail(ctx, HYBRID_BAD_MATRIX,
                       "%s: %lld entries do not fit 32-bit offsets", name,
                       (long long)A->nnz);
    if (!A->row_ptr || (A->nnz > 0 && (!A->col || !A->val)))
        return hy_fail(ctx, HYBRID_BAD_MATRIX, "%s: an array is NULL", name);
    return HYBRID_OK;
}

typedef struct checking {
    const hybrid_csr *A;
    int64_t first; /* lowest row found bad */
} checking;

/* Index of the first entry of row i that breaks a rule; -1 if none does, -2 if the row's
   offsets do. */
static int64_t bad_entry(const hybrid_csr *A, int64_t i)
{
    const int64_t begin = hy_offset(A, i), end = hy_offset(A, i + 1);

    if (begin < 0 || end < begin || end > A->nnz)
        return -2;
    for (int64_t k = begin; k < end; k++) {
        const int32_t j = A->col[k];
        if (j < 0 || j >= A->cols || (k > begin && j <= A->col[k - 1]))
            return k - begin;
    }
    return -1;
}

static hybrid_status check_rows(void *arg, int part, int64_t begin, int64_t end)
{
    checking *c = arg;

    (void)part;
    if (begin > __atomic_load_n(&c->first, __ATOMIC_RELAXED))
        return HYBRID_OK; /* a row before these is bad */
    for (int64_t i = begin; i < end; i++) {
        if (bad_entry(c->A, i) == -1)
            continue;
        hy_lower_to(&c->first, i);
        break;
    }
    return HYBRID_OK;
}

static hybrid_status report(hy_context *ctx, const hybrid_csr *A, const char *name,
                            int64_t i)
{
    const int64_t entry = bad_entry(A, i);
    const int64_t begin = hy_offset(A, i);

    if (entry == -2)
        return hy_fail(ctx, HYBRID_BAD_MATRIX,
                       "%s: row %lld: offsets %lld and %lld fall or leave 0..%lld", name,
                       (long long)i, (long long)begin, (long long)hy_offset(A, i + 1),
                       (long long)A->nnz);
    const int32_t j = A->col[begin + entry];
    if (j < 0 || j >= A->cols)
        return hy_fail(ctx, HYBRID_BAD_MATRIX,
                       "%s: row %lld, entry %lld: column %d is not in 0..%lld", name,
                       (long long)i, (long long)entry, j, (long long)A->cols - 1);
    return hy_fail(ctx, HYBRID_BAD_MATRIX,
                   "%s: row %lld, entry %lld: column %d does not ascend after %d", name,
                   (long long)i, (long long)entry, j, A->col[begin + entry - 1]);
}

hybrid_status hy_csr_check(hy_context *ctx, const hybrid_csr *A, const char *name)
{
    checking c = {A, INT64_MAX};

    HY_TRY(hy_csr_check_header(ctx, A, name));
    if (hy_offset(A, 0) != 0 || hy_offset(A, A->rows) != A->nnz)
        return hy_fail(ctx, HYBRID_BAD_MATRIX,
                       "%s: row offsets go from %lld to %lld instead of from 0 to %lld",
                       name, (long long)hy_offset(A, 0), (long long)hy_offset(A, A->rows),
                       (long long)A->nnz);
    HY_TRY(hy_pool_for(ctx->pool, HY_COMPUTE, 0, A->rows, CHECK_GRAIN, check_rows, &c));
    return c.first == INT64_MAX ? HYBRID_OK : report(ctx, A, name, c.first);
}
