/* engine/rates/rates_blocks.h - the constants of SpMV in blocks in a file of rates.

   A line has one constant of one kernel for all shapes, 1 x 1, 1 x 2 and so on to 8 x 8:
   "blocks.bellpack.f32.R64.first = N1 N2 ... N64". */
#ifndef HY_RATES_BLOCKS_H
#define HY_RATES_BLOCKS_H

#include "base/contract/backend.h"

enum {
    HY_BLOCK_LINES  = 112, /* number of lines for one device in the file */
    HY_BLOCK_KEY    = 40, /* maximum bytes of the key of a line, with its final 0 */
    HY_BLOCK_STRIDE = HY_BLOCK_SIZES * (int)(sizeof(hy_block_speed) / sizeof(float))
};

/* Writes the key of line number `line`, 0 to HY_BLOCK_LINES - 1, to `key`. Returns the
   address of the line's constant for blocks of 1 x 1. The constant of shape k is
   HY_BLOCK_STRIDE k elements behind it. */
float *hy_block_line(hy_block_speeds *speeds, int line, char key[HY_BLOCK_KEY]);

/* Returns the address of the speeds that the line `key` of a rates file sets: the first,
   which is for blocks of 1 x 1; NULL if no line has this key. */
float *hy_block_line_named(hy_block_speeds *speeds, const char *key, int length);

#endif /* HY_RATES_BLOCKS_H */
