/* gpu/cuda_tuning.h - sizes and efficiencies of the CUDA variants, as data.

   Efficiencies scale a cost model's count to seconds; they were chosen for Hopper
   and only decide between variants, never what is computed. */
#ifndef HY_CUDA_TUNING_H
#define HY_CUDA_TUNING_H

enum {
    HY_CUDA_THREADS = 256, /* a block of the simple kernels */
    HY_SM_THREADS   = 2048 /* threads that one multiprocessor holds */
};

/* Waiting for the device by looking, before sleeping; from so many workers on. */
#define HY_SPIN_NS 1000000
enum { HY_SPIN_THREADS = 6 };

/* Pages of results that are registered at once. */
#define HY_PIN_BYTES (size_t(32) << 20)

/* Bytes that one core packs in a second. */
#define HY_PACK_BPS 5e9

/* ---- spmm.cuda.rows and spmm.cuda.merge ---- */

enum {
    HY_SPMM_LINE          = 128,   /* bytes of a row of X that a group reads at once */
    HY_MOST_PASSES        = 65535, /* over the columns of X in one grid */
    HY_ROWS_THREADS       = 512,   /* a block of the wide kernel: neighbouring rows */
    HY_ROWS_WIDE_AHEAD    = 8,     /* rows of X in flight in a group, wide kernel */
    HY_ROWS_NARROW_AHEAD  = 4,     /* and in a lane, narrow kernel, which has */
    HY_ROWS_LANE_NONZEROS = 2,     /* so many nonzeros or more, if it can */
    HY_MERGE_AHEAD        = 8      /* rows of X in flight in a share */
};

/* ---- spmm.cuda.hrpb ---- */

enum {
    HY_HRPB_THREADS   = 128,  /* a block */
    HY_HRPB_TILES_F32 = 8,    /* 8-column tiles of a warp, at most: 4, */
    HY_HRPB_TILES_F64 = 4,    /* and 2 registers each for the sums */
    HY_HRPB_WAVE      = 2048, /* warps that run at once */
    HY_HRPB_LEAST     = 16    /* blocks of 16 columns in a unit that is not cut */
};

#define HY_HRPB_FILL           0.08 /* share of entries in columns that pays for bricks */
#define HY_HRPB_X_RATE         1.2  /* rows of X arrive at so many times memory's speed */
#define HY_HRPB_PACK_ENTRY_S   3e-9 /* seconds in which a core packs an entry, */
#define HY_HRPB_PACK_COLUMN_S  2e-8 /* and a column of a panel */

/* ---- spmv.cuda.bcsr and spmv.cuda.bellpack ---- */

enum {
    HY_BELLPACK_WAVE  = 1 << 17, /* lanes that run at once */
    HY_BELLPACK_LEAST = 8        /* blocks of a row that is not shared by lanes */
};

#define HY_BELLPACK_PADDING    0.05 /* of the blocks, in matrices that are blocked */
#define HY_BELLPACK_RATE       0.8  /* share of memory speed */
#define HY_BCSR_RATE           0.6
#define HY_BLOCKS_STEP_S       1e-6   /* seconds in which a lane computes a block, alone */
#define HY_BLOCKS_PACK_ENTRY_S 1e-9   /* seconds in which a core packs an entry, */
#define HY_BLOCKS_PACK_BLOCK_S 1.5e-8 /* and a block; */
#define HY_BELLPACK_PACK       1.5    /* times that where rows are taken out of order */

/* ---- spgemm.cuda.esc: a row's products decide who sorts it ---- */

/* A warp to a row, this many products a lane. */
#define HY_ESC_WARP_BINS(X) X(1) X(2)

/* A block to a row: threads, products a thread. */
#define HY_ESC_BLOCK_BINS(X)                                                             \
    X(32, 4) X(64, 4) X(64, 8) X(128, 6) X(128, 8) X(192, 8) X(256, 8) X(384, 8) X(512, 8)

enum {
    HY_ESC_LONG = 512 * 8, /* rows with more products are sorted by the whole device */
    HY_ESC_TILE = 2048,    /* of whose products a block expands this many */
#define HY_ESC_ONE(...) +1
    HY_ESC_BINS = 1 HY_ESC_WARP_BINS(HY_ESC_ONE) HY_ESC_BLOCK_BINS(HY_ESC_ONE)
#undef HY_ESC_ONE
};

#define HY_ESC_SM_PRODUCTS                                                               \
    9e7 /* products a second that a multiprocessor bins and sorts */
#define HY_DUP_ROW_S 2e-8 /* esc_dup: seconds in which a core finds a row of B */
#define HY_ESC_LONG_BYTES                                                                \
    0.6 /* share of memory speed that a pass of the long sort gets */

#endif /* HY_CUDA_TUNING_H */
