/* tests/support/inputs/blocked.h - packs of blocks, taken apart element by element.

   A format's reader visits blocks where its kernel would find them. Each entry of A must
   turn up once, where it belongs and bit for bit (-0 as 0), each row of Y must be stored
   once, and Y must be the product. */
#ifndef BLOCKED_H
#define BLOCKED_H

#include "base/contract/context.h"
#include "partition/format/pack.h"
#include "tests/support/inputs/cases.h"

/* rows x cols in blocks of r x c, about `per_row` to a block row, at multiples of r and,
   plus `shift`, of c. Every `holes`-th entry is missing; 0: none. Block rows 3, 13, 23,
   ... are empty and block row 7 has five times as many. */
void blocked_matrix(int64_t rows, int64_t cols, int r, int c, int64_t per_row, int shift,
                    int64_t holes, test_kind kind, hybrid_csr *out);

typedef struct blocked_reader {
    const hy_job *job;
    hy_block_shape shape; /* set by the format's reader, */
    int32_t before;       /* and this */
    const int64_t *rank;  /* new number of a column, or NULL */
    int64_t x_rows;
    unsigned char *seen;   /* nnz of A */
    unsigned char *stored; /* rows of A */
    double sum[HY_BLOCK_MOST];
    hybrid_dense *Y;
} blocked_reader;

typedef struct blocked_format {
    size_t (*bytes)(const hy_features *f);
    hybrid_status (*pack)(hy_job *job);
    void (*read)(blocked_reader *r);
} blocked_format;

/* The block of that block row of the pack, its element e at val[at + e * stride]: look at
   its entries and add its product to r->sum. */
void blocked_add(blocked_reader *r, int64_t block_row, int32_t col, const void *val,
                 int64_t at, int64_t stride);

/* r->sum is done: rows of Y, once each. */
void blocked_store(blocked_reader *r, int64_t block_row);

/* A in that shape, whole and in chunks, with X there and gathered. */
void blocked_check(hy_context *ctx, const blocked_format *format, const hybrid_csr *A,
                   hy_block_shape shape, test_kind kind);

/* The same for all cases and shapes, and for what they do not have. */
void blocked_check_cases(hy_context *ctx, const blocked_format *format);
void blocked_check_shapes(hy_context *ctx, const blocked_format *format);
void blocked_check_large(hy_context *ctx, const blocked_format *format);

/* Zeros of both signs that are entries are told from elements that are none. */
void blocked_check_zeros(hy_context *ctx, const blocked_format *format);

/* Bounds of chunks do not fall when rows are added; failed allocations leave nothing. */
void blocked_check_bounds(hy_context *ctx, const blocked_format *format);
void blocked_check_failures(hy_context *ctx, const blocked_format *format, int least);

#endif /* BLOCKED_H */
