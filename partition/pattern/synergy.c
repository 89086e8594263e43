/* partition/pattern/synergy.c - operational intensity of an SpMM with bricks. */
#include "partition/pattern/synergy.h"

enum { BRICK_ROWS = 16, BLOCK_COLUMNS = 16 };

double hy_synergy_blocks(const hy_synergy *s)
{
    return s->nnz / (s->alpha * BRICK_ROWS * BLOCK_COLUMNS);
}

/* The paper's Eq. 1 counts one transaction for the values of a brick (16 x 4 elements of
   A), and two for its pattern, for each TN columns that a warp computes. Here values are
   counted as they are, and patterns and columns are shared by the four bricks of a
   block. */
double hy_synergy_a_bytes(const hy_synergy *s)
{
    return s->warps * (hy_synergy_blocks(s) * s->block_bytes + s->nnz * s->value);
}

/* Eq. 2: N nnz / (32 alpha brick_m) transactions of 32 values of f32, which is one
   element of X for each column of a brick. Eq. 5 divides by beta. */
double hy_synergy_x_bytes(const hy_synergy *s)
{
    return s->columns * s->nnz * s->value / (s->alpha * BRICK_ROWS * s->beta);
}

/* Eq. 4: 2 N nnz / (bytes of A + bytes of X). */
double hy_synergy_intensity(const hy_synergy *s)
{
    return 2 * s->columns * s->nnz / (hy_synergy_a_bytes(s) + hy_synergy_x_bytes(s));
}
