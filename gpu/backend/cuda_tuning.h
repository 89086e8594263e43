/* gpu/backend/cuda_tuning.h - sizes and efficiencies of the CUDA variants, as data.

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

/* The same of the caller's memory, whose pages are there: 60e9 bytes a second, by one
   thread or by twelve. */
#define HY_RANGE_BYTES (size_t(1) << 30)

/* Bytes that one core packs in a second. */
#define HY_PACK_BPS 5e9

/* ---- spmm.cuda.rows and spmm.cuda.merge ---- */

enum {
    HY_SPMM_LINE          = 128,   /* bytes of a row of X that a group reads at once */
    HY_SPMM_TILES         = 4,     /* of so many bytes in one pass, at most */
    HY_SPMM_RESIDENT      = 1024,  /* threads that a multiprocessor should hold */
    HY_SPMM_RESIDENT_MANY = 768,   /* when there is more than one such tile */
    HY_SPMM_LANES         = 1 << 17, /* that fill a device, or nearly so */
    HY_MOST_PASSES        = 65535, /* over the columns of X in one grid */
    HY_ROWS_THREADS       = 256,   /* a block of the wide kernel: neighbouring rows */
    HY_ROWS_BRIEF         = 6,     /* rows with fewer nonzeros are left to the other */
    HY_ROWS_LONG          = 28,    /* rows with so many are walked by more lanes */
    HY_ROWS_NARROW_AHEAD  = 4,     /* rows of X in flight in a lane of it; a lane has */
    HY_ROWS_LANE_NONZEROS = 4,     /* so many nonzeros or more, if it can */
    HY_MERGE_BLOCKS       = 528,   /* that a device holds at once, filled so many */
    HY_MERGE_WAVES        = 2,     /* times at most by tiles that are cut to fill it */
    HY_MERGE_LOG_FIX      = 3,     /* 2^this columns that a warp puts together */
    HY_MERGE_MOST_ITEMS   = 2048,  /* of a tile; with groups of two lines or more */
    HY_MERGE_UNEVEN_ITEMS = 1536,  /* if rows are uneven and long: */
    HY_MERGE_LONG_ROWS    = 8,     /* so many nonzeros on average; */
    HY_MERGE_WIDE_ITEMS   = 512,   /* and if they are not */
    HY_MERGE_LEAST_ITEMS  = 256,   /* at least; with groups of */
    HY_MERGE_LEAST_WIDE   = 96,    /* four lines */
    HY_MERGE_LONGEST      = 256,   /* row that is never cut by tiles, or more */
    HY_MERGE_VECTOR_ITEMS = 816,   /* for X with one column; twice as many, where those */
    HY_MERGE_VECTOR_TILES = 1024,  /* would make more than so many tiles */
    HY_MERGE_LINES        = 4      /* lines of a row of X from which on a few columns more
                                      have a launch of their own */
};

/* Rates of caches and memory together, as a multiple of memory's. */
#define HY_SPMM_REUSE 2.5

/* An X of more bytes does not stay in the L2 cache; rows of A with less than this
   tile_fill, of which 1/16 is the least, share next to nothing of it. */
#define HY_SPMM_L2 5e7
#define HY_SPMM_APART 0.066

/* Rows of A share X in the caches from the first tile_fill on, as much as they can from
   the second on. */
#define HY_SPMM_NEAR 0.1
#define HY_SPMM_NEARER 0.165

/* What entries and rows cost, in units of an entry and its row of X at that rate. LINE: a
   row of X has no more than a line; HALF: half of one; NARROW: half of one, with merge no
   more than one load. NEAR: what is saved of an entry where rows share X. Fitted to 100
   products of 25 matrices on an H200, with the constants of hrpb: the pick by the least
   prediction is 0.3 % slower than the best. The paper's threshold between row split and
   merge path, 9.35 entries a row, falls out of them where row lengths vary. */
#define HY_ROWS_ROW 2.65
#define HY_ROWS_NEAR 0.5
#define HY_ROWS_NEAR_LINE 0.25
#define HY_ROWS_NONZERO_BRIEF 1.2
#define HY_ROWS_NONZERO_NARROW 1.8
#define HY_ROWS_ROW_NARROW 6.0
#define HY_ROWS_EVEN_CV 0.55 /* row_cv up to which rows of a warp end together */
#define HY_ROWS_STEP_S 2.6e-8 /* from entry to entry of a long row, and more */
#define HY_ROWS_STEP_COLUMN_S 1.6e-9 /* for each column of X */
#define HY_ROWS_STEP_NARROW 4.0 /* times that where half a line or less is read */
/* One column: the share of x that entries find in the L1 cache counts. APART: sectors of 32
   bytes that an entry reads where rows of A share nothing, less by the square of tile_fill.
   Fitted to 23 matrices in both types. */
#define HY_VECTOR_NONZERO 2.1
#define HY_VECTOR_APART 1.7
#define HY_VECTOR_ROUND_S 4.2e-7 /* of a lane that walks a long row of spmm.cuda.rows */
#define HY_VECTOR_MERGE_F32 1.07 /* times the nonzeros of spmm.cuda.rows */
#define HY_VECTOR_MERGE_F64 1.25
#define HY_VECTOR_MERGE_ROW 1.0
#define HY_MERGE_NONZERO 1.05
#define HY_MERGE_NONZERO_LINE 1.0
#define HY_MERGE_NONZERO_HALF 1.15
#define HY_MERGE_NONZERO_NARROW 3.7
#define HY_MERGE_NEAR 0.35
#define HY_MERGE_NEAR_LINE 0.25
#define HY_MERGE_ROW 2.0
#define HY_MERGE_ROW_LINE 2.65
#define HY_MERGE_ROW_HALF 3.8
#define HY_MERGE_ROW_NARROW 24.0
#define HY_MERGE_MISSING 3 /* columns missing to a line that save the time of one */

/* ---- spmm.cuda.hrpb ---- */

enum {
    HY_HRPB_THREADS   = 128,  /* a block */
    HY_HRPB_RESIDENT  = 4,    /* blocks that a multiprocessor should hold; one more
                                 with few tiles of a warp, one less with many */
    HY_HRPB_TILES_F32 = 8,    /* 8-column tiles of a warp, at most: 4, */
    HY_HRPB_TILES_F64 = 4,    /* and 2 registers each for the sums */
    HY_HRPB_WAVE      = 2048, /* warps that run at once */
    HY_HRPB_LEAST     = 16    /* blocks of 16 columns in a unit that is not cut */
};

#define HY_HRPB_LAUNCHES 1.3   /* times that a launch costs */
#define HY_HRPB_FIND 26e-9     /* seconds of a multiprocessor to find a block of A, */
#define HY_HRPB_TILE_F32 16.5e-9 /* and to multiply it by a tile */
#define HY_HRPB_TILE_F64 21e-9
#define HY_HRPB_TILE_TF32 10.5e-9 /* not fitted: as many instructions as f64, half the bytes */
#define HY_HRPB_PACK_S 8e-9          /* seconds in which a core packs an entry, */
#define HY_HRPB_PACK_COLUMN_S 0.5e-9 /* and more where it is alone in its column */

/* ---- spmm.cuda.tiled ---- */

enum {
    HY_TILED_R_F32 = 8, /* columns of X that a thread has at once: sums in registers, */
    HY_TILED_R_F64 = 4, /* and tiles of 24 KB, two of them a block */
    HY_TILED_AHEAD = 4, /* entries of A in flight in a thread */
    HY_TILED_SMS   = 132,
    HY_TILED_LONG  = 512, /* entries that no portion exceeds, */
    HY_TILED_LEAST = 32   /* and of a segment, at least, if its row is that long */
};

#define HY_TILED_IDLE         0.65 /* blocks per multiprocessor that are too few */
#define HY_TILED_L2_RATE      1.2  /* the L2's speed in memory's, */
#define HY_TILED_SHARED_RATE  5.0  /* and shared memory's */
#define HY_TILED_ALONE         3.0  /* times slower when columns fill one pass at most */
#define HY_TILED_PACK_ENTRY_S  6e-9   /* seconds in which a core packs an entry, */
#define HY_TILED_PACK_COLUMN_S 1.2e-8 /* and a column of a panel */

/* ---- spmv.cuda.bcsr and spmv.cuda.bellpack ---- */

enum {
    HY_BELLPACK_WAVE  = 1 << 17, /* lanes that run at once */
    HY_BELLPACK_LEAST = 3        /* blocks of a row that is not shared by lanes */
};

#define HY_BELLPACK_PADDING    0.05 /* of the blocks, in matrices that are blocked */
#define HY_BELLPACK_RATE       1.3  /* share of memory speed: much of A is in the L2 cache */
#define HY_BCSR_RATE           0.8
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
    9e7                   /* products a second that a multiprocessor bins and sorts */
#define HY_ESC_SM_NONZEROS 2.5e7 /* nonzeros whose rows of B it expands */
#define HY_DUP_ROW_S 2e-8 /* esc_dup: seconds in which a core finds a row of B */
#define HY_ESC_LONG_BYTES                                                                \
    0.25 /* share of memory speed that a pass of the long sort gets; of two matrices */

/* ---- spgemm.cuda.hash: a row's products and range decide how it is computed ---- */

/* Sorted in registers: lanes, products a lane. */
#define HY_HASH_SORT_BINS(X) X(4, 4) X(8, 4) X(8, 8) X(16, 8) X(32, 8)
#define HY_HASH_SORT_PRODUCTS                                                            \
    {                                                                                    \
        16, 32, 64, 128, 256                                                             \
    }

/* A tree in shared memory: threads, bytes, most products. */
#define HY_HASH_TREE_BINS(X)                                                             \
    X(32, 3072, 2048)                                                                    \
    X(32, 6656, 4096)                                                                    \
    X(64, 12800, 1 << 13)                                                                \
    X(128, 26 * 1024, 1 << 14)                                                           \
    X(256, 54 * 1024, 1 << 15)                                                           \
    X(512, 110 * 1024, 1 << 16)                                                          \
    X(1024, 221 * 1024, 1 << 17)

enum {
#define HY_HASH_ONE(...) +1
    HY_HASH_SORTS = 0 HY_HASH_SORT_BINS(HY_HASH_ONE),
    HY_HASH_TREES = 0 HY_HASH_TREE_BINS(HY_HASH_ONE),
    HY_HASH_BINS  = HY_HASH_SORTS + HY_HASH_TREES,
#undef HY_HASH_ONE
    HY_HASH_SHORT           = 256,       /* most products of a row that is sorted */
    HY_HASH_UNCUT           = 1024,      /* rows of so few products fit a tree */
    HY_HASH_SHARED          = 64 * 1024, /* of a block, on the least of devices */
    HY_HASH_STATIC          = 6400, /* of them, for all but trees and windows */
    HY_HASH_SM_BLOCKS       = 5,         /* on a multiprocessor: blocks that sort */
    HY_HASH_SM_THREADS      = 1024,      /* and threads that build trees */
    HY_HASH_TOP             = 64,        /* nodes on a tree's top, at least; of which */
    HY_HASH_EACH            = 2,         /* a thread numbers so many at once */
    HY_HASH_BLOCK_ROWS      = 32,        /* that a block puts into bins */
    HY_HASH_MANY            = 128, /* nonzeros of a row that a block walks together */
    HY_HASH_STORE_MANY      = 2048, /* entries of a row that a block stores together */
    HY_HASH_UNEVEN          = 4, /* steps for a row of B that is not cut into slices */
    HY_HASH_DENSE_THREADS   = 1024,
    HY_HASH_TILE            = HY_HASH_DENSE_THREADS / 2, /* nonzeros that they walk at once */
    HY_HASH_WINDOW_PRODUCTS = 1 << 16, /* a window with fewer is not cut smaller */
    HY_HASH_WINDOW_SHARE    = 128,     /* nor one with less than this part of a chunk */
    HY_HASH_PIECE           = 32       /* entries of a row of B in a window, on average */
};

#define HY_HASH_SPARE 1.25 /* room for entries over their expected number */

/* Products a second of a multiprocessor, when rows of B are so long that lanes have work:
   rows of C alike, and others, which are faster by a power of products over entries of C.
   Shorter rows of B are slower in proportion. Fitted to 14 and, of the others, to 5 matrices
   on an H200. */
#define HY_HASH_SM_PRODUCTS 9e8
#define HY_HASH_SM_SKEWED 3.4e8
#define HY_HASH_SKEWED_POWER 0.46
#define HY_HASH_B_ROW 28.0
#define HY_HASH_B_ROW_LEAST 7.0

/* Seconds of a chunk that each size of tree, and the windows, add: as long as a row takes. */
#define HY_HASH_BIN_S 4e-5

/* ---- spgemm.cuda.dense ---- */

enum {
    HY_DENSE_WARPS     = 8,         /* of a block, at most; */
    HY_DENSE_BYTES     = 48 * 1024, /* their sums, on every device */
    HY_DENSE_PART      = 32,        /* nonzeros of a part, at least; parts enough for */
    HY_DENSE_SM_WARPS  = 64,        /* so many warps of a multiprocessor, */
    HY_DENSE_SM_BLOCKS = 5          /* which holds so many blocks at once */
};

#define HY_DENSE_WARP_PRODUCTS 4e7 /* products a second of a warp */
#define HY_DENSE_SLOT_S 3e-6   /* seconds of a block for a row of its part, */
#define HY_DENSE_COLUMN_S 1e-9 /* and for each column of it */

#endif /* HY_CUDA_TUNING_H */
