/* partition/move/source_csr.c - source of an A or a B in the caller's arrays. 32-bit
   offsets are widened to 64 bits. */
#include <inttypes.h>
#include <string.h>

#include "base/data/csr.h"
#include "base/data/hash.h"
#include "base/contract/image.h"
#include "base/memory/pinned.h"
#include "base/text/facts.h"
#include "partition/move/sources.h"
#include "partition/parts/a_part.h"
#include "partition/parts/b_rows.h"

static const char *array_of(const hybrid_csr *B, int64_t array)
{
    return array == HY_CSR_OFFSETS ? B->row_ptr
           : array == HY_CSR_COLS  ? (const void *)B->col
                                   : B->val;
}

static size_t element_size(const hybrid_csr *B, int64_t array)
{
    return array == HY_CSR_OFFSETS ? hy_offset_size(B)
           : array == HY_CSR_COLS  ? 4
                                   : hy_value_size(B->type);
}

static void widen(const hybrid_csr *B, const hy_rect *rect, char *dst)
{
    for (int64_t i = 0; i < rect->rows; i++) {
        const int64_t offset = hy_offset(B, rect->row + i);
        memcpy(dst + i * 8, &offset, 8);
    }
}

static hybrid_status fill(const hy_source *self, const hy_rect *rect, const hy_grid *to)
{
    const hybrid_csr *B = self->csr;
    const size_t size   = element_size(B, rect->col);

    if (rect->rows == 0)
        return HYBRID_OK;
    if (rect->col == HY_CSR_OFFSETS && B->offset_type == HYBRID_I32)
        widen(B, rect, to->at);
    else
        memcpy(to->at, array_of(B, rect->col) + (size_t)rect->row * size,
               (size_t)rect->rows * size);
    return HYBRID_OK;
}

static const char *run(const hy_source *self, hybrid_order order, int array,
                       int64_t begin, int64_t end)
{
    const hybrid_csr *B = self->csr;
    const size_t size   = element_size(B, array);
    const char *at      = array_of(B, array) + (size_t)begin * size;

    (void)order;
    if (begin == end || (array == HY_CSR_OFFSETS && B->offset_type == HYBRID_I32))
        return NULL;
    return hy_pinned(self->ctx, at, (size_t)(end - begin) * size) ? at : NULL;
}

static hybrid_status whole(const hy_source *self, hybrid_csr *own, const hybrid_csr **out)
{
    (void)own;
    *out = self->csr;
    return HYBRID_OK;
}

/* Adds a checksum of the arrays. */
static hybrid_status describe(const hy_source *self, const char *name, hy_facts *facts)
{
    const hybrid_csr *A = self->csr;
    uint64_t hash = hy_hash(0, A->row_ptr, (size_t)(A->rows + 1) * hy_offset_size(A));

    hash = hy_hash(hash, A->col, (size_t)A->nnz * hy_col_size(A));
    hash = hy_hash(hash, A->val, (size_t)A->nnz * hy_value_size(A->type));
    hy_facts_add(
        facts, "%s is a matrix of %lld x %lld with %lld entries and checksum %016" PRIx64,
        name, (long long)A->rows, (long long)A->cols, (long long)A->nnz, hash);
    return HYBRID_OK;
}

/* Sets *out to all rows of A, as the only part; in the next call to NULL. */
static hybrid_status next_part(hy_a_parts *parts, const hy_a_part **out)
{
    hy_a_part *all = parts->parts;

    *out           = parts->reading ? NULL : all;
    all->A         = parts->source->csr;
    parts->reading = all;
    parts->end     = parts->source->rows;
    return HYBRID_OK;
}

/* Gives all rows of A and B at once: *end becomes the number of rows of A. */
static hybrid_status next_rows(hy_b_rows *rows, const hybrid_csr *A, int64_t first,
                               int64_t begin, int64_t *end)
{
    (void)first;
    (void)begin;
    rows->A = A;
    rows->B = rows->source->csr;
    *end    = A->rows;
    return HYBRID_OK;
}

static const hy_source_ops ops = {.at_hand   = 1,
                                  .fill      = fill,
                                  .run       = run,
                                  .whole     = whole,
                                  .describe  = describe,
                                  .next_part = next_part,
                                  .next_rows = next_rows};

hy_source hy_source_csr(hy_context *ctx, const hybrid_csr *B)
{
    return (hy_source){
        .ops = &ops, .ctx = ctx, .rows = B->rows, .cols = B->cols, .csr = B};
}
