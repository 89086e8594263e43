/* partition/pattern/synergy.h - operational intensity of an SpMM with bricks on tensor
   cores, after cuTeSpMM (section 4).

   The paper counts transactions of 128 bytes from shared memory to registers. Kernels
   here load A and X from global memory straight to registers, so bytes of such loads are
   counted. The paper's letters are alpha, beta, N, TN and nnz. All functions are pure. */
#ifndef HY_SYNERGY_H
#define HY_SYNERGY_H

#ifdef __cplusplus
extern "C" {
#endif

/* A product Y = A X in bricks of 16 x 4. Sizes are in bytes. */
typedef struct hy_synergy {
    double nnz;         /* entries of A */
    double alpha;       /* mean density of the bricks' columns, 1/16 to 1
                           (hy_features.tile_fill) */
    double beta;        /* mean number of bricks that use a loaded element of X; 1 if row
                           panels have 16 rows */
    double columns;     /* N: columns of X */
    double warps;       /* warps that load all of A, one after the other or side by side:
                           N / TN, rounded up, if a warp computes TN columns of Y */
    double value;       /* bytes of a value of A or X */
    double block_bytes; /* bytes of a block of 16 columns of a row panel, without its
                           values */
} hy_synergy;

/* Returns the number of blocks of 16 columns: nnz / (256 alpha). */
double hy_synergy_blocks(const hy_synergy *s);

/* Returns the bytes of A that reach registers (Eq. 1). */
double hy_synergy_a_bytes(const hy_synergy *s);

/* Returns the bytes of X that reach registers (Eq. 2 and 5). */
double hy_synergy_x_bytes(const hy_synergy *s);

/* Returns the useful floating-point operations for each byte that reaches registers (Eq.
   4). */
double hy_synergy_intensity(const hy_synergy *s);

#ifdef __cplusplus
}
#endif
#endif /* HY_SYNERGY_H */
