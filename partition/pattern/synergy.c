/* partition/pattern/synergy.c - operational intensity of an SpMM with bricks (16 x 4
   elements of A). synergy.h explains the letters; equations are those of cuTeSpMM. */
#include "partition/pattern/synergy.h"

enum { BRICK_ROWS = 16, BLOCK_COLUMNS = 16 };

double hy_synergy_blocks(const hy_synergy *s)
{
    return s->nnz / (s->alpha * BRICK_ROWS * BLOCK_COLUMNS);
}

/* Eq. 1 of the paper: for each group of TN columns of Y that a warp computes, the values
   of a brick cost one transaction, and its pattern two. Here the bytes of the values are
   counted as they are, and pattern and columns are those of a block, shared by its four
   bricks. */
double hy_synergy_a_bytes(const hy_synergy *s)
{
    return s->warps * (hy_synergy_blocks(s) * s->block_bytes + s->nnz * s->value);
}

/* Eq. 2: N nnz / (32 alpha brick_m) transactions of 32 values of f32, which is one
   element of X for each column of a brick. Eq. 5 divides by beta, the number of bricks
   that use a loaded element. */
double hy_synergy_x_bytes(const hy_synergy *s)
{
    return s->columns * s->nnz * s->value / (s->alpha * BRICK_ROWS * s->beta);
}

/* Eq. 4: 2 N nnz / (bytes of A + bytes of X). */
double hy_synergy_intensity(const hy_synergy *s)
{
    return 2 * s->columns * s->nnz / (hy_synergy_a_bytes(s) + hy_synergy_x_bytes(s));
}
