/* tests/support/inputs/blocked.h - checks packs of blocks element by element.

   A pack of blocks stores A as small dense blocks of r x c elements. A block row is r
   rows of A, which lie in the same blocks. The reader of a format visits the blocks of a
   pack as its kernel does. Each entry of A must occur once, at its position and with its
   bits (-0 as 0). Each row of Y must be stored once, and Y must be the product. */
#ifndef BLOCKED_H
#define BLOCKED_H

#include "base/contract/context.h"
#include "partition/format/pack.h"
#include "tests/support/inputs/cases.h"

/* Makes a rows x cols matrix of r x c blocks, about `per_row` blocks in a block row (r
   rows). Blocks begin at rows that are multiples of r, and at columns that are `shift`
   more than a multiple of c. Every `holes`-th entry is missing; 0: none. Block rows 3,
   13, 23, ... are empty, and block row 7 has five times as many blocks. */
void blocked_matrix(int64_t rows, int64_t cols, int r, int c, int64_t per_row, int shift,
                    int64_t holes, test_kind kind, hybrid_csr *out);

typedef struct blocked_reader {
    const hy_job *job;
    hy_block_shape shape; /* rows and columns of a block; set by the format's reader */
    int32_t before;       /* rows of the first block row that lie before the chunk's
                             first row; set by the format's reader */
    const int64_t *rank;  /* new number of each column of A, or NULL: unchanged */
    int64_t x_rows;
    unsigned char *seen;   /* for each entry of A: 1 if the reader has met it */
    unsigned char *stored; /* for each row of A: 1 if the reader has stored it */
    double sum[HY_BLOCK_MOST];
    hybrid_dense *Y;
} blocked_reader;

typedef struct blocked_format {
    size_t (*bytes)(const hy_features *f);
    hybrid_status (*pack)(hy_job *job);
    void (*read)(blocked_reader *r);
} blocked_format;

/* The variant's parameters in all later checks, as in hy_features.parameter. All are 0
   in the beginning. If element HY_BLOCK_R is not 0, it forces the block shape. */
extern int32_t blocked_parameters[HY_PARAMETERS];

/* The reader calls blocked_add() for each block of a block row. `col` is the block's
   first column. Element e of the block is val[at + e * stride]. Checks the block's
   entries and adds its product with X to r->sum. */
void blocked_add(blocked_reader *r, int64_t block_row, int32_t col, const void *val,
                 int64_t at, int64_t stride);

/* The reader calls blocked_store() after the last block of a block row. Stores r->sum in
   the rows of Y, and sets it to 0. */
void blocked_store(blocked_reader *r, int64_t block_row);

/* Checks packs of A in blocks of r x c: of the whole matrix and of chunks, with X whole
   on the device and with rows of X in each chunk. */
void blocked_check(hy_context *ctx, const blocked_format *format, const hybrid_csr *A,
                   hy_block_shape shape, test_kind kind);

/* Run blocked_check() for the cases of cases.h, for all block shapes, and for a large
   matrix. */
void blocked_check_cases(hy_context *ctx, const blocked_format *format);
void blocked_check_shapes(hy_context *ctx, const blocked_format *format);
void blocked_check_large(hy_context *ctx, const blocked_format *format);

/* Checks that stored zeros of both signs are told apart from missing elements. */
void blocked_check_zeros(hy_context *ctx, const blocked_format *format);

/* Checks how a format treats blocks that are too large: they take more room than the
   plan's estimate says, or are wider than X has rows. A forced shape must be refused
   with a message; a shape that was chosen must be replaced by 1 x 1. */
void blocked_check_too_large(hy_context *ctx, const blocked_format *format);

/* blocked_check_bounds() checks that the memory that the format demands for a chunk does
   not decrease when rows are added. blocked_check_failures() lets each allocation of a
   packing fail in turn: at least `least` - 1 must fail, and none may leave memory behind.
   A pack with too little room must fail, too. */
void blocked_check_bounds(hy_context *ctx, const blocked_format *format);
void blocked_check_failures(hy_context *ctx, const blocked_format *format, int least);

#endif /* BLOCKED_H */
