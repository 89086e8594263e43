/* tests/support/inputs/blocked.h - checks packs of blocks element by element.

   A block row is the rows of A that lie in the same blocks. The reader of a format visits
   the blocks of a pack as its kernel does. Each entry of A must occur once, at its
   position and with its bits (-0 as 0). Each row of Y must be stored once, and Y must be
   the product. */
#ifndef BLOCKED_H
#define BLOCKED_H

#include "base/contract/context.h"
#include "partition/format/pack.h"
#include "tests/support/inputs/cases.h"

/* Makes a rows x cols matrix of r x c blocks, about `per_row` in a block row. Blocks
   begin at multiples of r, and of c plus `shift`. Every `holes`-th entry is missing; 0:
   none. Block rows 3, 13, 23, ... are empty, and block row 7 has five times as many
   blocks. */
void blocked_matrix(int64_t rows, int64_t cols, int r, int c, int64_t per_row, int shift,
                    int64_t holes, test_kind kind, hybrid_csr *out);

typedef struct blocked_reader {
    const hy_job *job;
    hy_block_shape shape; /* set by the format's reader */
    int32_t before;       /* rows of the first block row that lie before the chunk; set by
                             the format's reader */
    const int64_t *rank;  /* new number of each column, or NULL */
    int64_t x_rows;
    unsigned char *seen;   /* flag for each entry of A */
    unsigned char *stored; /* flag for each row of A */
    double sum[HY_BLOCK_MOST];
    hybrid_dense *Y;
} blocked_reader;

typedef struct blocked_format {
    size_t (*bytes)(const hy_features *f);
    hybrid_status (*pack)(hy_job *job);
    void (*read)(blocked_reader *r);
} blocked_format;

/* Parameters of the packs of later checks, hy_features.parameter. If HY_BLOCK_R is not 0,
   the shape is forced. All are 0 in the beginning. */
extern int32_t blocked_parameters[HY_PARAMETERS];

/* The reader calls it for each block. Element e of the block is val[at + e * stride].
   Checks the block's entries and adds its product to r->sum. */
void blocked_add(blocked_reader *r, int64_t block_row, int32_t col, const void *val,
                 int64_t at, int64_t stride);

/* The reader calls it after the last block of a block row. Stores r->sum in the rows of
   Y. */
void blocked_store(blocked_reader *r, int64_t block_row);

/* Checks packs of A with blocks of that shape: of the whole matrix and of chunks, with X
   whole on the device and gathered. */
void blocked_check(hy_context *ctx, const blocked_format *format, const hybrid_csr *A,
                   hy_block_shape shape, test_kind kind);

/* Run blocked_check() for the cases of cases.h, for all block shapes, and for a large
   matrix. */
void blocked_check_cases(hy_context *ctx, const blocked_format *format);
void blocked_check_shapes(hy_context *ctx, const blocked_format *format);
void blocked_check_large(hy_context *ctx, const blocked_format *format);

/* Checks that stored zeros of both signs are told apart from missing elements. */
void blocked_check_zeros(hy_context *ctx, const blocked_format *format);

/* Checks that a forced shape is an error that names the shape if its blocks take more room
   than the fill says, or are wider than X. The same shape yields if it is not forced. */
void blocked_check_too_large(hy_context *ctx, const blocked_format *format);

/* Checks that bounds of a chunk do not decrease when rows are added, and that a failed
   allocation leaves no memory behind. */
void blocked_check_bounds(hy_context *ctx, const blocked_format *format);
void blocked_check_failures(hy_context *ctx, const blocked_format *format, int least);

#endif /* BLOCKED_H */
