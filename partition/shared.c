/* partition/shared.c - bytes of B or X as the device holds them for all chunks. */
#include "partition/shared.h"

#include <string.h>

#include "base/csr.h"

/* ---- B: row_ptr | col | val -------------------------------------------------- */

static hy_shared_layout csr_layout(const hybrid_csr *B)
{
    hy_shared_layout at;

    at.col   = hy_align(((size_t)B->rows + 1) * 8);
    at.val   = at.col + hy_align((size_t)B->nnz * 4);
    at.bytes = at.val + (size_t)B->nnz * hy_value_size(B->type);
    return at;
}

static size_t dense_bytes(const hy_problem *problem)
{
    const hybrid_dense *X = problem->X;
    const int64_t last    = hy_shared_panels(problem) - 1;
    const int64_t all =
        problem->in_cols ? X->rows * X->cols : hy_shared_panel(problem, last).end;

    return (size_t)all * hy_value_size(X->type);
}

hy_shared_layout hy_shared_layout_of(const hy_problem *problem)
{
    if (problem->op == HY_SPMM)
        return (hy_shared_layout){.bytes = dense_bytes(problem)};
    return csr_layout(problem->B);
}

size_t hy_shared_bytes(const hy_problem *problem)
{
    return hy_shared_layout_of(problem).bytes;
}

hy_csr_view hy_shared_b(const hy_problem *problem)
{
    const hybrid_csr *B       = problem->B;
    const hy_shared_layout at = csr_layout(B);
    const char *base          = problem->shared.ptr;

    return (hy_csr_view){.rows    = B->rows,
                         .nnz     = B->nnz,
                         .row_ptr = (const void *)base,
                         .col     = (const void *)(base + at.col),
                         .val     = base + at.val};
}

/* ---- part of an image -------------------------------------------------------- */

/* An array of elements of 4 or 8 bytes that are made, not copied. */
typedef struct array {
    void (*make)(const void *source, int64_t begin, int64_t end, char *dst);
    const void *source;
    size_t size; /* of one element */
} array;

/* Bytes [at, at + bytes) of the array: whole elements, and a piece of one at each end. */
static void make_bytes(const array *a, size_t at, size_t bytes, char *dst)
{
    char word[8];
    const size_t skip = at % a->size;
    int64_t element   = (int64_t)(at / a->size);

    if (skip > 0 && bytes > 0) {
        const size_t piece = bytes < a->size - skip ? bytes : a->size - skip;
        a->make(a->source, element, element + 1, word);
        memcpy(dst, word + skip, piece);
        dst += piece;
        bytes -= piece;
        element++;
    }
    const size_t whole = bytes / a->size;
    const size_t rest  = bytes % a->size;
    a->make(a->source, element, element + (int64_t)whole, dst);
    if (rest > 0) {
        element += (int64_t)whole;
        a->make(a->source, element, element + 1, word);
        memcpy(dst + whole * a->size, word, rest);
    }
}

/* 32-bit offsets, widened. */
static void make_offsets(const void *source, int64_t begin, int64_t end, char *dst)
{
    const hybrid_csr *B = source;

    for (int64_t i = begin; i < end; i++) {
        const int64_t offset = hy_offset(B, i);
        memcpy(dst + (i - begin) * 8, &offset, 8);
    }
}

/* ---- fill -------------------------------------------------------------------- */

/* The part of [at, at + bytes) that lies in [begin, end), as offsets from begin. */
static size_t overlap(size_t at, size_t bytes, size_t begin, size_t end, size_t *from)
{
    const size_t first = at > begin ? at : begin;
    const size_t last  = at + bytes < end ? at + bytes : end;

    *from = first - begin;
    return first < last ? last - first : 0;
}

/* The array of B that holds these bytes, all of them, as they are. */
static const void *source_csr(const hybrid_csr *B, size_t at, size_t bytes)
{
    const hy_shared_layout to = csr_layout(B);
    const size_t begin[]      = {0, to.col, to.val};
    const size_t ends[]       = {((size_t)B->rows + 1) * 8, to.col + (size_t)B->nnz * 4,
                                 to.bytes};
    const void *source[]      = {B->offset_type == HYBRID_I64 ? B->row_ptr : NULL, B->col,
                            B->val};

    for (int k = 0; k < 3; k++)
        if (source[k] && at >= begin[k] && at + bytes <= ends[k])
            return (const char *)source[k] + (at - begin[k]);
    return NULL;
}

const void *hy_shared_source(const hy_problem *problem, size_t at, size_t bytes)
{
    if (problem->op == HY_SPGEMM)
        return source_csr(problem->B, at, bytes);
    if (bytes == 0 || !hy_shared_x_is_flat(problem))
        return NULL;
    return (const char *)problem->X->data + at;
}

static void fill_csr(const hybrid_csr *B, size_t at, size_t bytes, char *dst)
{
    const hy_shared_layout to = csr_layout(B);
    const size_t ends[]       = {((size_t)B->rows + 1) * 8, to.col + (size_t)B->nnz * 4,
                                 to.bytes};
    const size_t begin[]      = {0, to.col, to.val};
    const void *source[]      = {B->row_ptr, B->col, B->val};
    const array offsets       = {make_offsets, B, 8};
    size_t from;

    for (int k = 0; k < 3; k++) {
        const size_t n = overlap(at, bytes, begin[k], ends[k], &from);
        char *to_piece = dst + (begin[k] + from - at);
        if (n == 0)
            continue;
        if (k == 0 && B->offset_type == HYBRID_I32)
            make_bytes(&offsets, from, n, to_piece);
        else
            memcpy(to_piece, (const char *)source[k] + from, n);
    }
    for (int k = 0; k < 2; k++) { /* padding */
        const size_t n = overlap(at, bytes, ends[k], begin[k + 1], &from);
        if (n > 0)
            memset(dst + (ends[k] + from - at), 0, n);
    }
}

void hy_shared_fill(const hy_problem *problem, size_t at, size_t bytes, char *dst)
{
    if (problem->op == HY_SPGEMM) {
        fill_csr(problem->B, at, bytes, dst);
        return;
    }
    const hybrid_dense *X = problem->X;
    const array elements  = {hy_shared_x_elements, problem, hy_value_size(X->type)};
    if (bytes == 0)
        return;
    if (hy_shared_x_is_flat(problem))
        memcpy(dst, (const char *)X->data + at, bytes);
    else
        make_bytes(&elements, at, bytes, dst);
}
