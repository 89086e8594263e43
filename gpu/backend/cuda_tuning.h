/* gpu/backend/cuda_tuning.h - sizes and efficiencies of the CUDA variants, as data.

   Efficiencies turn the counts of a cost model into seconds. They were measured on Hopper
   GPUs. They decide which variant computes a product, never its result. A lane is a GPU
   thread of a warp; a block is a thread block, unless the head of a section redefines it. */
#ifndef HY_CUDA_TUNING_H
#define HY_CUDA_TUNING_H

enum {
    HY_CUDA_THREADS = 256, /* threads of a block in most kernels */
    HY_SM_THREADS   = 2048 /* maximum threads that one multiprocessor holds */
};

/* If the pool has at least HY_SPIN_THREADS workers, a host thread that waits for a mark
   polls it for HY_SPIN_NS nanoseconds without a pause, and then with pauses. */
#define HY_SPIN_NS 1000000
enum { HY_SPIN_THREADS = 6 };

/* Bytes of a result that one call to CUDA pins (hy_backend_ops.pin_bytes). */
#define HY_PIN_BYTES (size_t(32) << 20)

/* Bytes of the caller's operands that one call to CUDA pins (hy_backend_ops.range_bytes).
   A large number costs no time: the pages of operands exist already, and one thread pins
   60e9 bytes a second, as fast as twelve threads. */
#define HY_RANGE_BYTES (size_t(1) << 30)

/* Bytes that one core writes in a second to a pack in CSR or to a pack of
   spgemm.cuda.esc_dup. */
#define HY_PACK_BPS 5e9

/* ---- spmm.cuda.rows and spmm.cuda.merge ----

   A line is HY_SPMM_LINE bytes of a row of X. A group of lanes works on one row of A, or
   a share of the merge path, at a time. For spmm.cuda.rows a tile is the columns that a
   group reads at once, and a pass is one walk over A for up to HY_SPMM_TILES tiles. For
   spmm.cuda.merge a tile is the part of the merge path that a block takes; its items are
   entries and ends of rows. tile_fill (hy_features) is the mean fraction of the 16 rows
   of a row panel that have an entry in a column which the panel uses. */

enum {
    HY_SPMM_LINE          = 128,   /* bytes of a row of X that a group of GPU lanes reads
                                      at once: a line */
    HY_SPMM_TILES         = 4,     /* spmm.cuda.rows: maximum tiles (ranges of columns) in
                                      one walk over A */
    HY_SPMM_RESIDENT      = 1024,  /* threads that a multiprocessor should hold at least:
                                      in spmm.cuda.merge, and in spmm.cuda.rows with one
                                      tile in a pass. With fewer the device is partly
                                      idle */
    HY_SPMM_RESIDENT_MANY = 768,   /* spmm.cuda.rows with several tiles in a pass: threads
                                      that a multiprocessor should hold at least */
    HY_MAX_PASSES        = 65535,  /* maximum passes in one dimension of a grid; its
                                      blocks loop over further passes */
    HY_ROWS_THREADS       = 256,   /* spmm.cuda.rows: threads of a block of the wide
                                      kernel, which is for rows of X of more than half a
                                      line (64 bytes) */
    HY_ROWS_BRIEF         = 6,     /* spmm.cuda.rows: if rows of A have fewer entries than
                                      this on average, the narrow kernel also computes
                                      rows of X of half a line to one line (64 to 128
                                      bytes), for which the wide kernel is otherwise
                                      faster */
    HY_ROWS_LONG          = 28,    /* spmm.cuda.rows: rows of A with this many entries or
                                      more, on average, are long: a group of lanes then
                                      reads two or four tiles of X at once */
    HY_ROWS_IN_FLIGHT     = 4,     /* spmm.cuda.rows, narrow kernel: entries for which a
                                      lane requests rows of X before it uses the first of
                                      them */
    HY_ROWS_LANE_NONZEROS = 4,     /* spmm.cuda.rows, narrow kernel: target for the
                                      entries of a row, on average, for each of the
                                      subgroups of lanes that share the row; fewer if the
                                      device would be partly idle */
    HY_MERGE_WAVES        = 2,     /* spmm.cuda.merge: tiles have the maximum size if A
                                      has more of them than this many times what the
                                      device computes at once; else they are smaller, to
                                      fill the device a whole number of times */
    HY_MERGE_LOG_FIX      = 3,     /* spmm.cuda.merge: log2 of the maximum columns that
                                      one warp adds up for a row that was cut by tiles */
    HY_MERGE_MOST_ITEMS   = 2048,  /* spmm.cuda.merge: maximum items (entries and ends of
                                      rows) of a tile if rows of X have at most one line
                                      or X is scattered (HY_SPMM_SCATTERED) */
    HY_MERGE_UNEVEN_ITEMS = 1536,  /* spmm.cuda.merge: the same for all other X, if rows
                                      of A are uneven (row_cv above 1) and long
                                      (HY_MERGE_LONG_ROWS) */
    HY_MERGE_LONG_ROWS    = 8,     /* spmm.cuda.merge: uneven rows of A with this many
                                      entries or more, on average, are long */
    HY_MERGE_WIDE_ITEMS   = 512,   /* spmm.cuda.merge: the same for all other X, if rows
                                      of A are even or short */
    HY_MERGE_LEAST_ITEMS  = 256,   /* spmm.cuda.merge: minimum items of a tile if a group
                                      of lanes reads at most two lines of X at once */
    HY_MERGE_LEAST_WIDE   = 96,    /* spmm.cuda.merge: minimum items of a tile if a group
                                      of lanes reads four lines of X at once */
    HY_MERGE_LONGEST      = 256,   /* spmm.cuda.merge, several columns of X: a row of up
                                      to this many entries, or of up to a quarter of a
                                      tile's items, is never cut */
    HY_MERGE_PAPER_ITEMS  = 128,   /* spmm.cuda.merge with paper=1: items of a tile */
    HY_MERGE_VECTOR_ITEMS = 816,   /* spmm.cuda.merge, one column of X: target for the
                                      items of a tile */
    HY_MERGE_VECTOR_TILES = 8,     /* spmm.cuda.merge, one column of X: if A would make
                                      more tiles than this for each multiprocessor, tiles
                                      have twice as many items */
    HY_MERGE_LINES        = 4      /* spmm.cuda.merge: a row of X has tail columns only if
                                      it has at least this many whole lines; tail columns
                                      have a launch of their own */
};

/* Bytes per second that kernels of SpMM read through the caches, as a multiple of the
   bytes per second of device memory. The cost models of spmm.cuda.rows, merge and hrpb
   assume it. */
#define HY_SPMM_REUSE 2.5

/* X counts as scattered, which means that caches hardly help, if two conditions hold: the
   L2 cache does not hold X, and tile_fill of A is below HY_SPMM_SCATTERED, so that
   neighbouring rows of A share next to nothing of X. The minimum of tile_fill is 1/16. */
#define HY_SPMM_SCATTERED 0.066

/* Neighbouring rows of A find shared rows of X in the caches if tile_fill is above
   HY_SPMM_NEAR. From HY_SPMM_NEARER on, the time saved does not grow further. */
#define HY_SPMM_NEAR 0.1
#define HY_SPMM_NEARER 0.165

/* Costs of entries and rows of A. The unit is the time to read an entry and its row of X
   at HY_SPMM_REUSE times the speed of device memory.

   A suffix names the rows of X for which a cost holds. No suffix: more than one line.
   LINE: at most one line. HALF: at most half a line. NARROW: at most half a line for
   spmm.cuda.rows, at most 16 bytes for spmm.cuda.merge. BRIEF is a factor for short rows
   of A (HY_ROWS_BRIEF). NEAR is the fraction of an entry's cost that is saved if
   neighbouring rows of A share as much of X as they can.

   The costs were fitted to 100 products of 25 matrices on an H200, together with those of
   spmm.cuda.hrpb. The variant with the smallest prediction took on average 0.3 % longer
   than the fastest variant. */
#define HY_ROWS_ROW 2.65
#define HY_ROWS_NEAR 0.5
#define HY_ROWS_NEAR_LINE 0.25
#define HY_ROWS_NONZERO_BRIEF 1.2
#define HY_ROWS_NONZERO_NARROW 1.8
#define HY_ROWS_ROW_NARROW 6.0
#define HY_ROWS_EVEN_CV 0.55 /* spmm.cuda.rows: row_cv (hy_features) above which the
                                groups of a warp are predicted to wait for the longest of
                                their rows */
#define HY_ROWS_STEP_S 2.6e-8 /* spmm.cuda.rows: seconds from one entry of a long row to
                                 the next, without the part that depends on the columns of
                                 X (HY_ROWS_STEP_COLUMN_S) */
#define HY_ROWS_STEP_COLUMN_S 1.6e-9 /* spmm.cuda.rows: seconds added to HY_ROWS_STEP_S
                                        for each column of X */
#define HY_ROWS_STEP_NARROW 4.0 /* spmm.cuda.rows: factor of HY_ROWS_STEP_S and
                                   HY_ROWS_STEP_COLUMN_S if a row of X has at most half a
                                   line (64 bytes) */
/* Costs of an entry of A for one column of X. HY_VECTOR_NONZERO is a multiple of the time
   to read the entry and one value of X. HY_VECTOR_SCATTERED is a multiple of the time to
   read 32 bytes, for a value of X that is not in the L1 cache. It applies in full if
   neighbouring rows of A share no columns, and falls with the square of tile_fill. Both
   were fitted to 23 matrices with f32 and f64 values. */
#define HY_VECTOR_NONZERO 2.1
#define HY_VECTOR_SCATTERED 1.7
#define HY_VECTOR_ROUND_S 4.2e-7 /* spmm.cuda.rows: seconds in which a lane handles
                                    HY_ROWS_IN_FLIGHT entries of a long row */
#define HY_VECTOR_MERGE_f32 1.07 /* spmm.cuda.merge, f32: factor of HY_VECTOR_NONZERO and
                                    HY_VECTOR_SCATTERED */
#define HY_VECTOR_MERGE_f64 1.25
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
#define HY_MERGE_MISSING 3 /* spmm.cuda.merge: each 3 columns that a row of X lacks to a
                              full line save the time of one column */

/* ---- spmm.cuda.hrpb ----

   A block here is 16 columns of a row panel of A (partition/format/pack.h), which a warp
   multiplies by tiles of 8 columns of X. A unit is the row panel, or the part of one,
   that a warp computes. */

enum {
    HY_HRPB_THREADS   = 128,  /* threads of a thread block */
    HY_HRPB_RESIDENT  = 4,    /* target for the thread blocks that a multiprocessor holds
                                 at once, if the size of a value times the 8-column tiles
                                 of a warp is 17 to 32 bytes; one more if it is less, one
                                 less if it is more */
    HY_HRPB_TILES_F32 = 8,    /* f32: maximum 8-column tiles of X that a warp computes.
                                 The sums of a tile take four registers of each lane */
    HY_HRPB_TILES_F64 = 4,    /* f64: maximum 8-column tiles of X that a warp computes; an
                                 X of exactly five tiles also stays in one warp */
    HY_HRPB_LEAST     = 16    /* a panel of up to this many blocks is never cut into
                                 several units */
};

#define HY_HRPB_LAUNCHES 1.3   /* launch time of the variant's kernels as a multiple of
                                  that of one kernel */
#define HY_HRPB_FIND 26e-9     /* seconds in which a multiprocessor finds the elements of
                                  a block of A (16 x 16) for one warp */
#define HY_HRPB_TILE_F32 16.5e-9 /* f32: seconds in which a multiprocessor multiplies a
                                    block of A (16 x 16) by 8 columns of X */
#define HY_HRPB_TILE_F64 21e-9
#define HY_HRPB_TILE_TF32 10.5e-9 /* f32 with TF32 allowed: seconds in which a
                                     multiprocessor multiplies a block of A (16 x 16) by
                                     8 columns of X; derived from f64, not fitted */
#define HY_HRPB_PACK_S 8e-9          /* seconds in which a core packs an entry */
#define HY_HRPB_PACK_COLUMN_S 0.5e-9 /* seconds in which a core packs an entry, besides
                                        HY_HRPB_PACK_S: this number divided by tile_fill
                                        (hy_features) */

/* ---- spmm.cuda.tiled (see also partition/tiled/tiled_rules.c) ---- */

enum {
    HY_TILED_IN_FLIGHT = 4 /* entries of A that a thread requests before it uses the first
                              of them */
};

#define HY_TILED_L2_RATE      1.2  /* bytes per second of the L2 cache, as a multiple of
                                      device memory's */
#define HY_TILED_SHARED_RATE  5.0  /* bytes per second of shared memory, as a multiple of
                                      device memory's */
#define HY_TILED_ALONE         3.0  /* factor of the predicted time if all columns of X
                                       are computed in a single pass over A */
#define HY_TILED_PACK_ENTRY_S  6e-9   /* seconds in which a core packs an entry */
#define HY_TILED_PACK_COLUMN_S 1.2e-8 /* seconds in which a core packs a column that a
                                         panel of 256 rows uses */

/* ---- spmv.cuda.bcsr and spmv.cuda.bellpack ----

   A block here is r x c elements of A, and a block row is r rows of A
   (partition/format/pack.h). r and c are at most 8. */

enum {
    HY_BELLPACK_LANES = 1024, /* GPU lanes that a multiprocessor runs at once, assumed */
    HY_BELLPACK_LEAST = 3     /* a block row of up to this many blocks gets one lane; a
                                 longer one may be shared by several */
};

#define HY_BELLPACK_PADDING    0.05 /* expected padding (places for a block that hold
                                       none), as a fraction of the number of blocks */
#define HY_BELLPACK_RATE       1.3  /* bytes per second, as a multiple of device memory's;
                                       above 1, because much of A is in the L2 cache */
#define HY_BCSR_RATE           0.8
#define HY_BLOCKS_STEP_S       1e-6   /* seconds in which a lane takes one block of a long
                                         block row */
#define HY_BLOCKS_PACK_ENTRY_S 1e-9   /* seconds in which a core packs an entry into a
                                         block */
#define HY_BLOCKS_PACK_BLOCK_S 1.5e-8 /* seconds in which a core packs a block, besides
                                         its entries */
#define HY_BELLPACK_PACK       1.5    /* bellpack: factor of HY_BLOCKS_PACK_*, because it
                                         packs block rows out of order */

/* ---- spgemm.cuda.esc: the scalar products of a row (here: products) decide how it is
   sorted ---- */

/* Bins (sets) of rows that one warp sorts. Parameter: maximum scalar products of a GPU
   lane. */
#define HY_ESC_WARP_BINS(X) X(1) X(2)

/* Bins (sets) of rows that one block sorts. Parameters: threads, maximum scalar products
   of a thread. */
#define HY_ESC_BLOCK_BINS(X)                                                             \
    X(32, 4) X(64, 4) X(64, 8) X(128, 6) X(128, 8) X(192, 8) X(256, 8) X(384, 8) X(512, 8)

enum {
    HY_ESC_LONG = 512 * 8, /* rows with more scalar products than this are long: the whole
                              device sorts them */
    HY_ESC_TILE = 2048,    /* scalar products that a thread block expands at a time: of
                              long rows in spgemm.cuda.esc, of all rows in esc_dup */
#define HY_ESC_ONE(...) +1
    HY_ESC_BINS = 1 HY_ESC_WARP_BINS(HY_ESC_ONE) HY_ESC_BLOCK_BINS(HY_ESC_ONE)
#undef HY_ESC_ONE
};

#define HY_ESC_SM_PRODUCTS                                                               \
    9e7                   /* scalar products that a multiprocessor puts into bins and
                             sorts in a second */
#define HY_ESC_SM_NONZEROS 2.5e7 /* entries of A that a multiprocessor handles in a second
                                    when it expands rows of B */
#define HY_DUP_ROW_S 2e-8 /* spgemm.cuda.esc_dup: seconds in which a core finds the row of
                             B for one entry of A */
#define HY_ESC_LONG_BYTES                                                                \
    0.25 /* bytes per second of one pass of the sort of long rows, as a multiple of device
            memory's; fitted to two matrices */

/* ---- spgemm.cuda.hash: scalar products (here: products) and column range of a row
   decide how it is computed ----

   A tree is the bitmap of the columns of a row of C (gpu/spgemm/hash_tree.cuh), and a
   window a range of columns of a long row (gpu/spgemm/hash_dense.cuh). */

/* Bins (sets) of rows that are sorted in registers. Parameters: lanes (threads) of a row,
   maximum scalar products of a lane. */
#define HY_HASH_SORT_BINS(X) X(4, 4) X(8, 4) X(8, 8) X(16, 8) X(32, 8)
#define HY_HASH_SORT_PRODUCTS                                                            \
    {                                                                                    \
        16, 32, 64, 128, 256                                                             \
    }

/* Bins (sets) of rows whose columns are found in a tree, in shared memory. Parameters:
   threads of a row, bytes of its tree, maximum scalar products. */
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
    HY_HASH_SHORT           = 256,       /* a row with up to this many scalar products is
                                            sorted in registers */
    HY_HASH_UNCUT           = 1024,      /* a row with up to this many scalar products
                                            always fits a tree (hash_tree.cuh), so it is
                                            never cut into ranges of columns */
    HY_HASH_SHARED          = 64 * 1024, /* bytes of shared memory that every device gives
                                            a block */
    HY_HASH_STATIC          = 6400, /* bytes of shared memory that kernels of
                                       spgemm.cuda.hash need besides trees and windows */
    HY_HASH_SM_BLOCKS       = 5,         /* blocks of the sorting kernel that a
                                            multiprocessor holds at once */
    HY_HASH_SM_THREADS      = 1024,      /* threads of tree kernels that a multiprocessor
                                            holds at once */
    HY_HASH_TOP             = 64,        /* the top level of a tree has at most this many
                                            nodes, or as many as the row has scalar
                                            products if that is more */
    HY_HASH_EACH            = 2,         /* nodes of a tree that a thread numbers at a
                                            time */
    HY_HASH_BLOCK_ROWS      = 32,        /* rows that a thread block assigns to bins (sets
                                            of rows) at a time */
    HY_HASH_MANY            = 128, /* when scalar products are counted, all threads of a
                                      block walk a row of A with more entries than this */
    HY_HASH_STORE_MANY      = 2048, /* all threads of a block store a row of C with more
                                       entries than this */
    HY_HASH_UNEVEN          = 4, /* rows of B are cut into slices of equal length only if
                                    a group of lanes would need more than this many steps
                                    to walk the longest of them */
    HY_HASH_DENSE_THREADS   = 1024,
    /* windows: entries of A that a thread block walks at once */
    HY_HASH_TILE            = HY_HASH_DENSE_THREADS / 2,
    HY_HASH_WINDOW_PRODUCTS = 1 << 16, /* a row is cut into more windows (ranges of
                                          columns) than its columns need only if each has
                                          at least this many scalar products on average */
    HY_HASH_WINDOW_SHARE    = 128,     /* a row is cut into more windows than its columns
                                          need only if each window has at least 1/128 of
                                          the chunk's scalar products on average */
    HY_HASH_PIECE           = 32       /* a row is cut into more windows than its columns
                                          need only if rows of B have at least this many
                                          entries in each window, on average */
};

#define HY_HASH_SPARE 1.25 /* memory for the entries of a row as a multiple of their
                              expected number */

/* Scalar products that a multiprocessor computes in a second if rows of B are long enough
   to occupy the lanes. If row_cv (hy_features) of A is below 1, the rate is
   HY_HASH_SM_PRODUCTS. Else it is HY_HASH_SM_SKEWED times (scalar products / entries of
   C) to the power HY_HASH_SKEWED_POWER. If rows of B have a mean of m entries, the rate
   is multiplied by (m + HY_HASH_B_ROW_LEAST) / HY_HASH_B_ROW, at most 1. Fitted on an
   H200 to 14 matrices with row_cv below 1, and to 5 others. */
#define HY_HASH_SM_PRODUCTS 9e8
#define HY_HASH_SM_SKEWED 3.4e8
#define HY_HASH_SKEWED_POWER 0.46
#define HY_HASH_B_ROW 28.0
#define HY_HASH_B_ROW_LEAST 7.0

/* Seconds that each size of tree, and the windows, add to the predicted time of a chunk.
   While the last rows of a size are computed, most of the device is idle. The smallest
   trees add less in proportion if no row has HY_HASH_BIN_PRODUCTS scalar products. */
#define HY_HASH_BIN_S 4e-5
#define HY_HASH_BIN_PRODUCTS 1024.0

/* ---- spgemm.cuda.dense ----

   A part is the entries of A that a block takes. A slot holds the sums of a part for one
   row of C. */

enum {
    HY_DENSE_WARPS     = 8,         /* maximum warps of a block */
    HY_DENSE_BYTES     = 48 * 1024, /* maximum bytes of shared memory for the sums of a
                                       block */
    HY_DENSE_PART      = 32,        /* minimum entries of A in a part, except the last */
    HY_DENSE_SM_WARPS  = 64,        /* target for the warps of a multiprocessor, which
                                       determines into how many parts A is cut */
    HY_DENSE_SM_BLOCKS = 5          /* blocks that a multiprocessor holds at once */
};

#define HY_DENSE_WARP_PRODUCTS 4e7 /* scalar products that a warp computes in a second */
#define HY_DENSE_SLOT_S 3e-6   /* seconds in which a thread block computes a slot (one row
                                  of C within one part of A's entries), without the time
                                  for its columns and scalar products */
#define HY_DENSE_COLUMN_S 1e-9 /* seconds added to HY_DENSE_SLOT_S for each column of the
                                  row */

#endif /* HY_CUDA_TUNING_H */
