/* base/contract/speeds.h - speeds of a backend, from which plans predict seconds.

   They are built into backends or measured by `hybrid_spmm calibrate`. */
#ifndef HY_SPEEDS_H
#define HY_SPEEDS_H

#include <stddef.h>

#include "base/data/value_type.h"

/* Constants of the kernels for SpMV in blocks of r x c, 1 x 1 to 8 x 8, as the execution
   model needs them (hy_choi_times in partition/blocks/choi_model.h): seconds, and the
   registers of a thread. A constant of 0 was not measured. */
enum { HY_BLOCK_SHAPES = 64, HY_BLOCK_FORMATS = 2, HY_BLOCK_SIZES = 4 };

typedef struct hy_block_speed {
    float start, first, next, more, next_start, more_start, registers;
} hy_block_speed;

/* Indices: HY_CHOI_BELLPACK or HY_CHOI_BCSR; 0 for f32 and 1 for f64; 8 (r - 1) + c - 1;
   log2 of R / 32, where R is the threads of a thread block. */
typedef struct hy_block_speeds {
    hy_block_speed of[HY_BLOCK_FORMATS][HY_TYPE_COUNT][HY_BLOCK_SHAPES][HY_BLOCK_SIZES];
} hy_block_speeds;

/* Corrections of predicted seconds, by variant. A variant has a factor for each regime, a
   kind of product (engine/rates/factors.h), one for packing (hy_cost.prepare_s), and
   start_s, seconds that each chunk takes in addition. spmm_call and spgemm_call are
   factors of what a call and a chunk cost besides work and copies. spmm_gap_s and
   spgemm_gap_s are seconds that a device takes in addition for each chunk but the first.
   A factor of 0 was not measured and counts as 1. */
enum {
    HY_REGIMES     = 4 * (HY_TYPE_COUNT + 1), /* four for each value type, and for TF32 */
    HY_FACTOR_ROWS = 16,
    HY_FACTOR_NAME = 48
};

typedef struct hy_factor_row {
    char variant[HY_FACTOR_NAME];
    double compute[HY_REGIMES];
    double prepare, start_s;
} hy_factor_row;

typedef struct hy_factor_table {
    double spmm_call, spgemm_call, spmm_gap_s, spgemm_gap_s;
    int count;
    hy_factor_row row[HY_FACTOR_ROWS];
} hy_factor_table;

/* Speeds of a backend, from which variants and plans predict seconds. They are built into
   backends or measured: see hy_rates_of() in engine/rates/rates.h. */
typedef struct hy_rates {
    double h2d_Bps, d2h_Bps; /* bytes/s to and from pinned memory; 0: the backend copies
                                nothing */
    double both_Bps;         /* bytes/s of copies in both directions at once, summed */
    double mem_Bps;          /* bytes read plus bytes written per second in the backend's
                                own memory */
    double flops;            /* floating-point operations/s; an FMA counts as 2 */
    double launch_s;         /* seconds to start one kernel or parallel loop */
    int width;               /* number of multiprocessors (CUDA) or cores (host) */
    int sm;                  /* CUDA: compute capability, 90 for 9.0; host: 0 */
    /* CUDA: what a multiprocessor holds: warps, thread blocks, registers, and bytes of
       shared memory */
    int sm_warps, sm_blocks, sm_registers, sm_shared;
    const hy_block_speeds *blocks; /* CUDA: constants of the kernels for SpMV in blocks;
                                      NULL: unknown */
    size_t block_memory;     /* CUDA: bytes of shared memory that a thread block may have;
                                host: 0 */
    size_t memory;           /* bytes that this engine may use: of device memory, or, on
                                the host, for the buffers of chunks */
    size_t core_cache;       /* host: bytes of one core's L2 cache */
    size_t cache;            /* bytes of the cache that all cores or multiprocessors use:
                                the host's last-level cache, or a GPU's L2 cache */
    const hy_factor_table *factors; /* corrections of predictions; NULL: all are 1 */
} hy_rates;

/* Speeds measured by `hybrid_spmm calibrate`. A speed of 0 was not measured. */
typedef struct hy_measured {
    double h2d_Bps, d2h_Bps; /* bytes/s of copies to and from pinned memory */
    double both_Bps;         /* bytes/s in both directions together, of simultaneous
                                copies */
    double mem_Bps;          /* bytes read plus bytes written per second, of a copy inside
                                the memory */
    double flops, launch_s;
    hy_factor_table factors;
    double driver; /* CUDA: version of the driver, 13000 for 13.0 */
    char date[12]; /* day, "2026-11-21"; empty if nothing was measured */
} hy_measured;

#endif /* HY_SPEEDS_H */
