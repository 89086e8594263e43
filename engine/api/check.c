/* engine/api/check.c - checks arguments of public calls before anything is done. */
#include "engine/api/check.h"

#include "base/contract/backend.h"
#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "engine/api/struct_size.h"

static int is_index(hybrid_index type)
{
    return type == HYBRID_I32 || type == HYBRID_I64 || type == HYBRID_INDEX_AUTO;
}

static hybrid_status check_index(hy_context *ctx, hybrid_index type, const char *name)
{
    return is_index(type)
               ? HYBRID_OK
               : hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                         "plan options: %s is %d, and must be 0, HYBRID_I32, HYBRID_I64 "
                         "or HYBRID_INDEX_AUTO",
                         name, (int)type);
}

/* Checks the index types of C. HYBRID_INDEX_DEFAULT must have been replaced before. */
static hybrid_status check_indices(hy_context *ctx, const hybrid_plan_options *o)
{
    HY_TRY(check_index(ctx, o->offsets, "offsets"));
    HY_TRY(check_index(ctx, o->columns, "columns"));
    if ((o->offsets == HYBRID_INDEX_AUTO) != (o->columns == HYBRID_INDEX_AUTO))
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                       "plan options: HYBRID_INDEX_AUTO must be set for both offsets and "
                       "columns of C, or for neither");
    return HYBRID_OK;
}

hybrid_status hy_check_range(hy_context *ctx, const char *name, int64_t value,
                             int64_t least, int64_t most)
{
    if (value >= least && value <= most)
        return HYBRID_OK;
    if (most == INT64_MAX)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT, "%s is %lld, and must be %lld or more",
                       name, (long long)value, (long long)least);
    return hy_fail(ctx, HYBRID_BAD_ARGUMENT, "%s is %lld, and must be in %lld..%lld",
                   name, (long long)value, (long long)least, (long long)most);
}

static hybrid_status check_order(hy_context *ctx, hybrid_order order, const char *name)
{
    return order == HYBRID_ROW_MAJOR || order == HYBRID_COL_MAJOR
               ? HYBRID_OK
               : hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                         "%s: order %d is neither HYBRID_ROW_MAJOR nor HYBRID_COL_MAJOR",
                         name, (int)order);
}

static hybrid_status check_space(hy_context *ctx, hybrid_space space, const char *name)
{
    if (space == HYBRID_SPACE_HOST || space == HYBRID_SPACE_DEVICE)
        return HYBRID_OK;
    return hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                   "%s: space %d is neither HYBRID_SPACE_HOST nor HYBRID_SPACE_DEVICE",
                   name, (int)space);
}

static hybrid_status check_plan_options(hy_context *ctx, const hybrid_plan_options *o)
{
    const unsigned known = HYBRID_DETERMINISTIC | HYBRID_REUSE | HYBRID_EXPLAIN |
                           HYBRID_CHECK | HYBRID_RESIDENT | HYBRID_ALLOW_TF32 |
                           HYBRID_ASYNC;

    if (o->flags & ~known)
        return hy_fail(
            ctx, HYBRID_BAD_ARGUMENT,
            "plan options: this version of the library does not know the flags %#x",
            o->flags & ~known);
    HY_TRY(hy_check_range(ctx, "plan options: depth", o->depth, 0, 64));
    HY_TRY(hy_check_range(ctx, "plan options: chunk_rows", o->chunk_rows, 0, INT64_MAX));
    HY_TRY(hy_check_range(ctx, "plan options: split", o->split, HYBRID_SPLIT_DEFAULT,
                          HYBRID_SPLIT_SHARE));
    if (!(o->host_share >= 0 && o->host_share <= 1))
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                       "plan options: host_share is %g, and must be in 0..1",
                       o->host_share);
    if (o->order != 0)
        HY_TRY(check_order(ctx, o->order, "plan options"));
    HY_TRY(check_space(ctx, o->x_space, "plan options: x"));
    HY_TRY(check_space(ctx, o->result_space, "plan options: result"));
    return check_indices(ctx, o);
}

hybrid_status hy_read_plan_options(hy_context *ctx, const hybrid_plan_options *options,
                                   hybrid_plan_options *out)
{
    *out = (hybrid_plan_options)HYBRID_PLAN_OPTIONS_INIT;
    if (options)
        HY_TRY(hy_struct_read(ctx, &hy_plan_options_struct, options, out));
    if (out->offsets == HYBRID_INDEX_DEFAULT)
        out->offsets = HYBRID_I64;
    if (out->columns == HYBRID_INDEX_DEFAULT)
        out->columns = HYBRID_I32;
    return check_plan_options(ctx, out);
}

static hybrid_status check_types(hy_context *ctx, hybrid_type a, hybrid_type b,
                                 const char *name)
{
    if (a != b)
        return hy_fail(
            ctx, HYBRID_BAD_SHAPE,
            "A holds f%d values and %s holds f%d values: both must have one type",
            hy_value_bits(a), name, hy_value_bits(b));
    return HYBRID_OK;
}

/* ---- engine options --------------------------------------------------------------- */

static hybrid_status check_devices(hy_context *ctx, const hybrid_engine_options *o)
{
    if (o->device_count < 0 || o->device_count > HY_MAX_DEVICES ||
        !o->devices != (o->device_count == 0))
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                       "engine options: device_count is %lld, and must be 1 to %d with a "
                       "list of devices, or 0 without one",
                       (long long)o->device_count, HY_MAX_DEVICES);
    for (int i = 0; i < o->device_count; i++)
        if (o->devices[i] < 0)
            return hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                           "engine options: devices[%d] is %d, and must be 0 or more", i,
                           o->devices[i]);
    return hy_check_range(ctx, "engine options: devices_optional", o->devices_optional, 0,
                          1);
}

hybrid_status hy_check_engine_options(hy_context *ctx, const hybrid_engine_options *o)
{
    if (o->backend != HYBRID_AUTO && o->backend != HYBRID_HOST &&
        o->backend != HYBRID_CUDA)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                       "engine options: backend is %d, and must be HYBRID_AUTO, "
                       "HYBRID_HOST or HYBRID_CUDA",
                       (int)o->backend);
    HY_TRY(hy_check_range(ctx, "engine options: threads", o->threads, 0, INT64_MAX));
    HY_TRY(hy_check_range(ctx, "engine options: device", o->device, 0, INT64_MAX));
    HY_TRY(check_devices(ctx, o));
    if (!o->allocator.alloc != !o->allocator.free)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                       "engine options: an allocator needs both alloc and free");
    return HYBRID_OK;
}

/* ---- matrices -------------------------------------------------------------------- */

static hybrid_status check_on_host(hy_context *ctx, hybrid_space space, const char *name)
{
    if (space == HYBRID_SPACE_HOST)
        return HYBRID_OK;
    return hy_fail(ctx, HYBRID_UNSUPPORTED,
                   "%s is in device memory, but this function needs it in host memory",
                   name);
}

hybrid_status hy_check_csr_anywhere(hy_context *ctx, const hybrid_csr *A,
                                    const char *name)
{
    HY_TRY(hy_csr_check_header(ctx, A, name));
    return check_space(ctx, A->space, name);
}

hybrid_status hy_check_csr(hy_context *ctx, const hybrid_csr *A, const char *name)
{
    HY_TRY(hy_check_csr_anywhere(ctx, A, name));
    return check_on_host(ctx, A->space, name);
}

hybrid_status hy_check_rules(hy_context *ctx, const hybrid_csr *A, const char *name)
{
    HY_TRY(hy_check_csr(ctx, A, name));
    return hy_csr_check(ctx, A, name);
}

hybrid_status hy_check_spgemm(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B)
{
    HY_TRY(hy_check_csr_anywhere(ctx, A, "A"));
    HY_TRY(hy_check_csr_anywhere(ctx, B, "B"));
    return hy_check_spgemm_shapes(ctx, A, B);
}

hybrid_status hy_check_spgemm_shapes(hy_context *ctx, const hybrid_csr *A,
                                     const hybrid_csr *B)
{
    HY_TRY(check_types(ctx, A->type, B->type, "B"));
    if (A->cols != B->rows)
        return hy_fail(
            ctx, HYBRID_BAD_SHAPE,
            "the shapes do not fit: A is %lld x %lld, so B must have %lld rows, not %lld",
            (long long)A->rows, (long long)A->cols, (long long)A->cols,
            (long long)B->rows);
    return HYBRID_OK;
}

/* Checks the struct X, except whether its data are valid. */
static hybrid_status check_dense_header(hy_context *ctx, const hybrid_dense *X,
                                        const char *name)
{
    if (!X)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT, "%s is NULL", name);
    if (X->rows < 0 || X->cols < 0)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT, "%s: %s is %lld, and must be 0 or more",
                       name, X->rows < 0 ? "rows" : "cols",
                       (long long)(X->rows < 0 ? X->rows : X->cols));
    HY_TRY(hy_check_type(ctx, HYBRID_BAD_ARGUMENT, name, X->type));
    HY_TRY(check_order(ctx, X->order, name));
    const int64_t least = X->order == HYBRID_ROW_MAJOR ? X->cols : X->rows;
    const int64_t lines = X->order == HYBRID_ROW_MAJOR ? X->rows : X->cols;
    if (X->ld < least)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                       "%s: ld %lld must be at least %lld, the length of a %s", name,
                       (long long)X->ld, (long long)least,
                       X->order == HYBRID_ROW_MAJOR ? "row" : "column");
    if (lines > 0 && X->ld > INT64_MAX / 8 / lines)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                       "%s: %lld times ld %lld elements exceed the address space", name,
                       (long long)lines, (long long)X->ld);
    return check_space(ctx, X->space, name);
}

static hybrid_status check_dense_anywhere(hy_context *ctx, const hybrid_dense *X,
                                          const char *name)
{
    HY_TRY(check_dense_header(ctx, X, name));
    if (X->rows == 0 || X->cols == 0)
        return HYBRID_OK;
    if (!X->data)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT, "%s: data is NULL", name);
    if ((uintptr_t)X->data % hy_value_size(X->type) != 0)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                       "%s: data at %p is not aligned to the %zu bytes of its numbers",
                       name, X->data, hy_value_size(X->type));
    return HYBRID_OK;
}

hybrid_status hy_check_dense(hy_context *ctx, const hybrid_dense *X, const char *name)
{
    HY_TRY(check_dense_anywhere(ctx, X, name));
    return check_on_host(ctx, X->space, name);
}

/* ---- arrays that must not overlap ------------------------------------------------ */

typedef struct array {
    const char *name;
    const void *data;
    size_t bytes;
} array;

/* Returns the address of X's first element, and the bytes from it to the end of the last,
   gaps included; 0 bytes if X has no elements. */
static array array_of(const hybrid_dense *X, const char *name)
{
    const int64_t lines = X->order == HYBRID_ROW_MAJOR ? X->rows : X->cols;
    const int64_t line  = X->order == HYBRID_ROW_MAJOR ? X->cols : X->rows;
    const int64_t count =
        X->data && lines > 0 && line > 0 ? (lines - 1) * X->ld + line : 0;
    return (array){name, X->data, (size_t)count * hy_value_size(X->type)};
}

static int overlap(const array *a, const array *b)
{
    const uintptr_t at = (uintptr_t)a->data, bt = (uintptr_t)b->data;
    return a->bytes > 0 && b->bytes > 0 && at < bt + b->bytes && bt < at + a->bytes;
}

/* Fails if Y, with its gaps, overlaps an array of A or X. */
static hybrid_status check_overlap(hy_context *ctx, const hybrid_csr *A,
                                   const hybrid_dense *X, const hybrid_dense *Y)
{
    /* numbers of columns and of offsets: 0 if A is in a file and has no arrays */
    const size_t nnz   = A->row_ptr ? (size_t)A->nnz : 0;
    const size_t rows  = A->row_ptr ? (size_t)A->rows + 1 : 0;
    const array y      = array_of(Y, "Y");
    const array read[] = {array_of(X, "X"),
                          {"A's row_ptr", A->row_ptr, rows * hy_offset_size(A)},
                          {"A's col", A->col, nnz * hy_col_size(A)},
                          {"A's val", A->val, nnz * hy_value_size(A->type)}};

    for (size_t i = 0; i < sizeof read / sizeof *read; i++)
        if (overlap(&read[i], &y))
            return hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                           "%s and Y overlap; Y needs memory of its own", read[i].name);
    return HYBRID_OK;
}

/* ---- operands -------------------------------------------------------------------- */

static int same_offsets(const hybrid_csr *A, const hybrid_csr *B)
{
    return A->row_ptr == B->row_ptr && A->offset_type == B->offset_type &&
           A->rows == B->rows && A->nnz == B->nnz;
}

hybrid_status hy_check_patterns(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B,
                                unsigned flags)
{
    hybrid_status (*const check)(hy_context *, const hybrid_csr *, const char *) =
        flags & HYBRID_CHECK ? hy_csr_check : hy_csr_check_offsets;

    HY_TRY(check(ctx, A, "A"));
    return !B || B == A || (check == hy_csr_check_offsets && same_offsets(A, B))
               ? HYBRID_OK
               : check(ctx, B, "B");
}

static hybrid_status check_shapes(hy_context *ctx, const hybrid_csr *A,
                                  const hybrid_dense *X, const hybrid_dense *Y)
{
    HY_TRY(check_types(ctx, A->type, X->type, "X"));
    HY_TRY(check_types(ctx, A->type, Y->type, "Y"));
    if (A->cols != X->rows)
        return hy_fail(
            ctx, HYBRID_BAD_SHAPE,
            "the shapes do not fit: A is %lld x %lld, so X must have %lld rows, not %lld",
            (long long)A->rows, (long long)A->cols, (long long)A->cols,
            (long long)X->rows);
    if (A->rows != Y->rows || X->cols != Y->cols)
        return hy_fail(ctx, HYBRID_BAD_SHAPE,
                       "the shapes do not fit: A*X is %lld x %lld, so Y cannot be %lld x "
                       "%lld",
                       (long long)A->rows, (long long)X->cols, (long long)Y->rows,
                       (long long)Y->cols);
    return check_overlap(ctx, A, X, Y);
}

hybrid_status hy_check_spmm(hy_context *ctx, const hybrid_csr *A, const hybrid_dense *X,
                            const hybrid_dense *Y)
{
    HY_TRY(hy_check_csr_anywhere(ctx, A, "A"));
    HY_TRY(check_dense_anywhere(ctx, X, "X"));
    HY_TRY(check_dense_anywhere(ctx, Y, "Y"));
    return check_shapes(ctx, A, X, Y);
}

hybrid_status hy_check_spmm_shapes(hy_context *ctx, const hybrid_csr *A,
                                   const hybrid_dense *X, const hybrid_dense *Y)
{
    HY_TRY(hy_check_dense(ctx, Y, "Y"));
    return check_shapes(ctx, A, X, Y);
}

hybrid_status hy_check_dense_cols(hy_context *ctx, const hybrid_csr *A, int64_t cols)
{
    const int64_t largest = hy_max(hy_max(A->nnz, A->rows), hy_max(A->cols, 64));

    return hy_check_range(ctx, "dense_cols", cols, 0, INT64_MAX / 16 / largest);
}
