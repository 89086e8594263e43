/* gpu/backend/cuda_tuning.h - sizes and efficiencies of the CUDA variants, as data.

   Efficiencies turn the counts of a cost model into seconds. They were measured on Hopper
   and only decide between variants, never what is computed. */
#ifndef HY_CUDA_TUNING_H
#define HY_CUDA_TUNING_H

enum {
    HY_CUDA_THREADS = 256, /* threads of a block in most kernels */
    HY_SM_THREADS   = 2048 /* threads that one multiprocessor holds */
};

/* The host spins for this many nanoseconds before it sleeps, if the pool has at least
   HY_SPIN_THREADS workers. */
#define HY_SPIN_NS 1000000
enum { HY_SPIN_THREADS = 6 };

/* Bytes of a result that are pinned at once. */
#define HY_PIN_BYTES (size_t(32) << 20)

/* Bytes of the caller's memory that are pinned at once. Its pages exist already, so one
   thread or twelve pin 60e9 bytes a second. */
#define HY_RANGE_BYTES (size_t(1) << 30)

/* Bytes that one core packs in a second. */
#define HY_PACK_BPS 5e9

/* ---- spmm.cuda.rows and spmm.cuda.merge ---- */

enum {
    HY_SPMM_LINE          = 128,   /* bytes of a row of X that a group reads at once */
    HY_SPMM_TILES         = 4,     /* maximum tiles in one pass */
    HY_SPMM_RESIDENT      = 1024,  /* threads that a multiprocessor should hold */
    HY_SPMM_RESIDENT_MANY = 768,   /* threads that a multiprocessor should hold if a pass
                                      has several tiles */
    HY_SPMM_LANES         = 1 << 17, /* lanes that nearly fill a device */
    HY_MOST_PASSES        = 65535, /* maximum passes over the columns of X in one grid */
    HY_ROWS_THREADS       = 256,   /* threads of a block of the wide kernel */
    HY_ROWS_BRIEF         = 6,     /* rows with fewer entries on average are short */
    HY_ROWS_LONG          = 28,    /* rows with this many entries on average are long */
    HY_ROWS_IN_FLIGHT     = 4,     /* narrow kernel: rows of X in flight in a lane */
    HY_ROWS_LANE_NONZEROS = 4,     /* narrow kernel: entries that a lane should have */
    HY_MERGE_BLOCKS       = 528,   /* blocks that a device holds at once */
    HY_MERGE_WAVES        = 2,     /* small tiles are cut to fill the device up to this
                                      many times */
    HY_MERGE_LOG_FIX      = 3,     /* log2 of the columns that a warp joins at once */
    HY_MERGE_MOST_ITEMS   = 2048,  /* maximum items of a tile for one line of X */
    HY_MERGE_UNEVEN_ITEMS = 1536,  /* maximum items of a tile for two or more lines of X
                                      if rows are uneven and long */
    HY_MERGE_LONG_ROWS    = 8,     /* uneven rows with this many entries on average are
                                      long */
    HY_MERGE_WIDE_ITEMS   = 512,   /* maximum items of a tile for two or more lines of X
                                      otherwise */
    HY_MERGE_LEAST_ITEMS  = 256,   /* minimum items of a tile for up to two lines of X */
    HY_MERGE_LEAST_WIDE   = 96,    /* minimum items of a tile for four lines of X */
    HY_MERGE_LONGEST      = 256,   /* rows of up to this many entries are never cut */
    HY_MERGE_VECTOR_ITEMS = 816,   /* items of a tile for one column of X */
    HY_MERGE_VECTOR_TILES = 1024,  /* tiles for one column of X above which tiles are
                                      twice as large */
    HY_MERGE_LINES        = 4      /* lines of a row of X from which tail columns have
                                      their own launch */
};

/* Throughput of caches and memory together, as a multiple of memory's. */
#define HY_SPMM_REUSE 2.5

/* An X of more than HY_SPMM_L2 bytes does not stay in the L2 cache. Rows of A with a
   tile_fill below HY_SPMM_APART share next to nothing of X (the minimum of tile_fill is
   1/16). */
#define HY_SPMM_L2 5e7
#define HY_SPMM_APART 0.066

/* Rows of A share X in the caches from a tile_fill of HY_SPMM_NEAR on, and as much as
   they can from HY_SPMM_NEARER on. */
#define HY_SPMM_NEAR 0.1
#define HY_SPMM_NEARER 0.165

/* Costs of entries and rows, in units of reading an entry and its row of X at
   HY_SPMM_REUSE.

   LINE: a row of X has at most one line. HALF: at most half a line. NARROW: at most half
   a line, with merge at most one load. NEAR: the saving on an entry if rows share X.

   Fitted to 100 products of 25 matrices on an H200, together with the constants of hrpb:
   the variant with the smallest prediction is on average 0.3 % slower than the best. With
   varying row lengths these constants reproduce the threshold of the paper between row
   split and merge path, 9.35 entries a row. */
#define HY_ROWS_ROW 2.65
#define HY_ROWS_NEAR 0.5
#define HY_ROWS_NEAR_LINE 0.25
#define HY_ROWS_NONZERO_BRIEF 1.2
#define HY_ROWS_NONZERO_NARROW 1.8
#define HY_ROWS_ROW_NARROW 6.0
#define HY_ROWS_EVEN_CV 0.55 /* row_cv up to which the rows of a warp end together */
#define HY_ROWS_STEP_S 2.6e-8 /* seconds from entry to entry of a long row */
#define HY_ROWS_STEP_COLUMN_S 1.6e-9 /* seconds added to HY_ROWS_STEP_S for each column of
                                        X */
#define HY_ROWS_STEP_NARROW 4.0 /* factor of HY_ROWS_STEP_S and HY_ROWS_STEP_COLUMN_S if a
                                   row of X has at most half a line */
/* Costs of an entry for one column of X. HY_VECTOR_NONZERO is in units of reading the
   entry and its x. HY_VECTOR_APART is in reads of a 32-byte sector, because x is not in
   the L1 cache. It applies in full if rows of A share nothing, and falls with the square
   of tile_fill. Fitted to 23 matrices in both types. */
#define HY_VECTOR_NONZERO 2.1
#define HY_VECTOR_APART 1.7
#define HY_VECTOR_ROUND_S 4.2e-7 /* spmm.cuda.rows: seconds of one round of a lane over a
                                    long row */
#define HY_VECTOR_MERGE_F32 1.07 /* spmm.cuda.merge, f32: factor of HY_VECTOR_NONZERO and
                                    HY_VECTOR_APART */
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
    HY_HRPB_THREADS   = 128,  /* threads of a block */
    HY_HRPB_RESIDENT  = 4,    /* blocks that a multiprocessor should hold; one more if
                                 warps have few tiles, one less if many */
    HY_HRPB_TILES_F32 = 8,    /* f32: maximum 8-column tiles of a warp, which take 4
                                 registers each for sums */
    HY_HRPB_TILES_F64 = 4,    /* f64: maximum 8-column tiles of a warp */
    HY_HRPB_WAVE      = 2048, /* warps that run at once */
    HY_HRPB_LEAST     = 16    /* units of up to this many blocks are not cut */
};

#define HY_HRPB_LAUNCHES 1.3   /* launch time as a multiple of that of one kernel */
#define HY_HRPB_FIND 26e-9     /* seconds of a multiprocessor to find a block */
#define HY_HRPB_TILE_F32 16.5e-9 /* seconds of a multiprocessor to multiply a block by a
                                    tile */
#define HY_HRPB_TILE_F64 21e-9
#define HY_HRPB_TILE_TF32 10.5e-9 /* not fitted; derived from f64 */
#define HY_HRPB_PACK_S 8e-9          /* seconds in which a core packs an entry */
#define HY_HRPB_PACK_COLUMN_S 0.5e-9 /* seconds added for each entry, divided by
                                        tile_fill */

/* ---- spmm.cuda.tiled ---- */

enum {
    HY_TILED_R_F32     = 8, /* f32: columns of X that a thread has at once, with sums in
                               registers and two tiles of 24 KB in a block */
    HY_TILED_R_F64     = 4, /* f64: columns of X that a thread has at once */
    HY_TILED_IN_FLIGHT = 4, /* entries of A in flight in a thread */
    HY_TILED_SMS       = 132,
    HY_TILED_LONG      = 512, /* maximum entries of a portion */
    HY_TILED_LEAST     = 32   /* minimum entries of a segment of a longer row */
};

#define HY_TILED_IDLE         0.65 /* with fewer blocks a multiprocessor is partly idle */
#define HY_TILED_L2_RATE      1.2  /* throughput of the L2, as a multiple of memory's */
#define HY_TILED_SHARED_RATE  5.0  /* throughput of shared memory, as a multiple of
                                      memory's */
#define HY_TILED_ALONE         3.0  /* factor of the time if one pass covers all
                                       columns */
#define HY_TILED_PACK_ENTRY_S  6e-9   /* seconds in which a core packs an entry */
#define HY_TILED_PACK_COLUMN_S 1.2e-8 /* seconds in which a core packs a panel's column */

/* ---- spmv.cuda.bcsr and spmv.cuda.bellpack ---- */

enum {
    HY_BELLPACK_WAVE  = 1 << 17, /* lanes that run at once */
    HY_BELLPACK_LEAST = 3        /* rows of up to this many blocks have one lane */
};

#define HY_BELLPACK_PADDING    0.05 /* padding as a fraction of the blocks */
#define HY_BELLPACK_RATE       1.3  /* fraction of memory speed; above 1, because much of
                                       A is in the L2 cache */
#define HY_BCSR_RATE           0.8
#define HY_BLOCKS_STEP_S       1e-6   /* seconds in which a lane alone computes a block */
#define HY_BLOCKS_PACK_ENTRY_S 1e-9   /* seconds in which a core packs an entry */
#define HY_BLOCKS_PACK_BLOCK_S 1.5e-8 /* seconds in which a core packs a block */
#define HY_BELLPACK_PACK       1.5    /* factor of HY_BLOCKS_PACK_* if rows are packed out
                                         of order */

/* ---- spgemm.cuda.esc: the products of a row decide how it is sorted ---- */

/* One warp sorts a row. Parameter: products of a lane. */
#define HY_ESC_WARP_BINS(X) X(1) X(2)

/* One block sorts a row. Parameters: threads, products of a thread. */
#define HY_ESC_BLOCK_BINS(X)                                                             \
    X(32, 4) X(64, 4) X(64, 8) X(128, 6) X(128, 8) X(192, 8) X(256, 8) X(384, 8) X(512, 8)

enum {
    HY_ESC_LONG = 512 * 8, /* rows with more products are sorted by the whole device */
    HY_ESC_TILE = 2048,    /* products of such rows that a block expands */
#define HY_ESC_ONE(...) +1
    HY_ESC_BINS = 1 HY_ESC_WARP_BINS(HY_ESC_ONE) HY_ESC_BLOCK_BINS(HY_ESC_ONE)
#undef HY_ESC_ONE
};

#define HY_ESC_SM_PRODUCTS                                                               \
    9e7                   /* products that a multiprocessor bins and sorts in a second */
#define HY_ESC_SM_NONZEROS 2.5e7 /* entries of A for which a multiprocessor expands the
                                    rows of B in a second */
#define HY_DUP_ROW_S 2e-8 /* esc_dup: seconds in which a core finds a row of B */
#define HY_ESC_LONG_BYTES                                                                \
    0.25 /* fraction of memory speed of a pass of the long sort, from two matrices */

/* ---- spgemm.cuda.hash: products and column range of a row decide how it is computed
   ---- */

/* Rows sorted in registers. Parameters: lanes, products of a lane. */
#define HY_HASH_SORT_BINS(X) X(4, 4) X(8, 4) X(8, 8) X(16, 8) X(32, 8)
#define HY_HASH_SORT_PRODUCTS                                                            \
    {                                                                                    \
        16, 32, 64, 128, 256                                                             \
    }

/* Rows with a tree in shared memory. Parameters: threads, bytes, maximum products. */
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
    HY_HASH_SHORT           = 256,       /* maximum products of a row that is sorted */
    HY_HASH_UNCUT           = 1024,      /* rows of up to this many products fit a tree */
    HY_HASH_SHARED          = 64 * 1024, /* bytes of shared memory that a block has on
                                            every device */
    HY_HASH_STATIC          = 6400, /* bytes of shared memory for all but trees and
                                       windows */
    HY_HASH_SM_BLOCKS       = 5,         /* blocks of a multiprocessor for sorting */
    HY_HASH_SM_THREADS      = 1024,      /* threads of a multiprocessor for trees */
    HY_HASH_TOP             = 64,        /* minimum nodes at the top of a tree */
    HY_HASH_EACH            = 2,         /* nodes that a thread numbers at once */
    HY_HASH_BLOCK_ROWS      = 32,        /* rows that a block puts into bins */
    HY_HASH_MANY            = 128, /* entries from which a block walks a row together */
    HY_HASH_STORE_MANY      = 2048, /* entries from which a block stores a row together */
    HY_HASH_UNEVEN          = 4, /* steps of a row of B above which rows of B are cut into
                                    slices */
    HY_HASH_DENSE_THREADS   = 1024,
    HY_HASH_TILE            = HY_HASH_DENSE_THREADS / 2, /* entries of A walked at once */
    HY_HASH_WINDOW_PRODUCTS = 1 << 16, /* windows with fewer products are not cut */
    HY_HASH_WINDOW_SHARE    = 128,     /* windows with less than 1/128 of a chunk's
                                          products are not cut */
    HY_HASH_PIECE           = 32       /* mean entries of a row of B in a window */
};

#define HY_HASH_SPARE 1.25 /* room for entries as a multiple of their expected number */

/* Products a second of a multiprocessor if rows of B are long enough to occupy the lanes:
   for rows of C that are alike, and for others, which are faster by a power of products /
   entries of C. Shorter rows of B are slower in proportion. Fitted on an H200 to 14
   matrices, and to 5 for the others. */
#define HY_HASH_SM_PRODUCTS 9e8
#define HY_HASH_SM_SKEWED 3.4e8
#define HY_HASH_SKEWED_POWER 0.46
#define HY_HASH_B_ROW 28.0
#define HY_HASH_B_ROW_LEAST 7.0

/* Seconds that each size of tree, and the windows, add to a chunk: the time of one
   row. */
#define HY_HASH_BIN_S 4e-5

/* ---- spgemm.cuda.dense ---- */

enum {
    HY_DENSE_WARPS     = 8,         /* maximum warps of a block */
    HY_DENSE_BYTES     = 48 * 1024, /* bytes of the sums of a block, on every device */
    HY_DENSE_PART      = 32,        /* minimum entries of A in a part */
    HY_DENSE_SM_WARPS  = 64,        /* warps of a multiprocessor that parts fill */
    HY_DENSE_SM_BLOCKS = 5          /* blocks that a multiprocessor holds at once */
};

#define HY_DENSE_WARP_PRODUCTS 4e7 /* products of a warp in a second */
#define HY_DENSE_SLOT_S 3e-6   /* seconds of a block for each row of its part */
#define HY_DENSE_COLUMN_S 1e-9 /* seconds added to HY_DENSE_SLOT_S for each column of the
                                  row */

#endif /* HY_CUDA_TUNING_H */
