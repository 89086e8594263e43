/* partition/format/pack.h - operands and results as they lie in one block of memory.

   Packers run on the CPU and fill a pinned block; the layout is the same on the
   device, so one copy moves it. Offsets inside a block are 64 bit and count from 0. */
#ifndef HY_PACK_H
#define HY_PACK_H

#include "base/data/inline.h"
#include "base/contract/variant.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A CSR matrix in some block, host or device. */
typedef struct hy_csr_view {
    int64_t rows, nnz;
    const int64_t *row_ptr; /* rows+1, from 0 */
    const int32_t *col;
    const void *val;
} hy_csr_view;

/* ---- pack_csr.c: rows of A, and the rows of B or X that they touch ---- */

/* Arrays of the pack. GATHER_* are present in gathered chunks only. Columns of a
   gathered chunk's A are renumbered to the rows that travel with it. */
enum {
    HY_A_ROW_PTR,
    HY_A_COL,
    HY_A_VAL,
    HY_GATHER_ROW_PTR,
    HY_GATHER_COL,
    HY_GATHER_VAL
};

/* Bytes of that pack for a chunk with these features. */
size_t hy_pack_csr_bytes(hy_op op, const hy_features *f);

/* Fill job->pack (mem is given). The `prepare` of every variant that reads CSR. */
hybrid_status hy_pack_csr(hy_job *job);

/* Enqueue what makes job->in of an A that is on the device: its offsets, in 64 bits, alone.
   The `arrange` of variants whose prepare is hy_pack_csr(). */
hybrid_status hy_arrange_csr(hy_lane *lane, hy_job *job);

/* Bytes of job->in for that, and of what a variant with such a cost arranges behind it, at
   job->pack.rest. */
size_t hy_arranged_bytes(hy_op op, const hy_features *f, const hy_cost *cost);

/* Whether the variant packs rows of A that are rows of B as well: the same arrays. */
int hy_pack_csr_same(const hy_variant *variant, const hybrid_csr *A, const hybrid_csr *B);

/* Whether the rows of A that the chunk needs are on the device already, as rows of B: then
   only their offsets are missing, which count from 0 in every pack. */
int hy_pack_csr_shares(const hy_job *job);

/* Operands of a chunk where the kernels read them: A from job->in, B from the
   gathered part of job->in or from problem->shared, whichever the chunk says. */
hy_csr_view hy_packed_a(const hy_job *job);
hy_csr_view hy_packed_b(const hy_job *job);

/* B of an image that begins there. */
hy_csr_view hy_image_b(const hy_image *image, const void *base);

/* X of a chunk: row r (renumbered if gathered) and column j of the chunk's columns
   is at x[r * ld + j]; but the last rest_cols columns, the tail columns, are at
   rest[r * rest_ld] and behind it. */
typedef struct hy_dense_view {
    const void *x;
    int64_t ld;
    const void *rest;
    int64_t rest_ld, rest_cols;
} hy_dense_view;
hy_dense_view hy_packed_x(const hy_job *job);

/* X in columns, for variants that read it in slabs (base/contract/image.h), so that the first
   rows of X can be there before the last. */
typedef struct hy_cols_view {
    const void *x;
    int64_t rows, cols; /* of all slabs */
    int64_t first;      /* column of x that is the chunk's first */
    int shift;          /* gathered: one slab */
} hy_cols_view;
hy_cols_view hy_packed_x_cols(const hy_job *job);

/* Where row r and the chunk's column j are: at x[hy_x_at(...)]. Columns of the row are
   hy_x_ld() apart. */
HY_KERNEL_INLINE int64_t hy_x_ld(const hy_cols_view *v, int64_t r)
{
    const int64_t slab = (int64_t)1 << v->shift;
    const int64_t left = v->rows - (r >> v->shift << v->shift);
    return left < slab ? left : slab;
}

HY_KERNEL_INLINE int64_t hy_x_at(const hy_cols_view *v, int64_t r, int64_t j)
{
    const int64_t before = r >> v->shift << v->shift; /* rows of earlier slabs */
    return before * v->cols + (v->first + j) * hy_x_ld(v, r) + (r - before);
}

/* ---- pack_dup.c: the rows of B, duplicated in the order of the products ---- */

/* Arrays of the pack. Products are numbered 0 .. products-1 in the order of the chunk's
   nonzeros, in 32 bits. */
enum { HY_DUP_ROW_START, HY_DUP_START, HY_DUP_A_VAL, HY_DUP_COL, HY_DUP_VAL };

typedef struct hy_dup_view {
    int64_t rows, nnz, products;
    const int32_t *row_start; /* rows+1: products before each row */
    const int32_t *start;     /* nnz+1: products before each nonzero of A */
    const void *a_val;        /* nnz */
    const int32_t *col;       /* products: of B */
    void *val;                /* products: of B; not const, to be multiplied in place */
} hy_dup_view;

/* Bytes of that pack, at least 4 + s for each nonzero and each product, s = bytes a
   value. */
size_t hy_pack_dup_bytes(const hy_features *f);

/* Scratch with which any budget keeps the paper's inequality: 11/9 of 4 + s bytes for
   each nonzero and each product (gpu/papers/spgemm_cuda_esc_dup.cu says why). */
size_t hy_pack_dup_work(const hy_features *f);

/* Fill job->pack (mem is given). */
hybrid_status hy_pack_dup(hy_job *job);

/* The pack where the kernels read it, at job->in. */
hy_dup_view hy_packed_dup(const hy_job *job);

/* ---- pack_hrpb.c: A as panels of 16 rows, their columns moved together ---- */

/* Arrays of the pack; X where hy_packed_x() looks for it. */
enum {
    HY_HRPB_UNITS,
    HY_HRPB_SPLITS,
    HY_HRPB_BLOCKS,
    HY_HRPB_VAL,
    HY_HRPB_X = HY_GATHER_VAL
};

enum {
    HY_HRPB_ROWS   = 16, /* of a panel */
    HY_HRPB_COLS   = 16, /* of a block */
    HY_HRPB_BRICK  = 4,  /* columns of a brick */
    HY_HRPB_BRICKS = HY_HRPB_COLS / HY_HRPB_BRICK
};

/* 16 of the columns that a panel has entries in. Word 2 b + h has the pattern of rows 8 h
   to 8 h + 7 of brick b: bit 4 r + k is row r, column k. Values are in the order of bricks,
   rows, columns, and after all values there is a zero. Columns of no brick are copies of
   the last. */
typedef struct hy_hrpb_block {
    int32_t col[HY_HRPB_COLS]; /* rows of X (renumbered if gathered) */
    uint32_t bits[2 * HY_HRPB_BRICKS];
    int32_t first; /* its values begin there */
} hy_hrpb_block;

/* What one warp computes: a panel, or part of one that is heavy. Those of heavier panels
   come first. */
typedef struct hy_hrpb_unit {
    int32_t row;        /* first of the panel, from the chunk's first */
    int32_t begin, end; /* blocks */
    int32_t partial;    /* its number among the parts of all panels; -1: all of a panel */
} hy_hrpb_unit;

/* A panel in parts: partials `partial` to partial + parts - 1, to be added in order. */
typedef struct hy_hrpb_split {
    int32_t row, partial, parts;
} hy_hrpb_split;

/* In pack.head: how many there are of each. */
typedef struct hy_hrpb_head {
    int64_t units, splits, partials, blocks;
} hy_hrpb_head;

/* How a variant wants heavy panels to be cut. */
typedef struct hy_hrpb_rules {
    int64_t wave;  /* units that run at once: no unit shall take longer than a wave's
                      share of all blocks, */
    int64_t least; /* but units of so many blocks are not cut */
} hy_hrpb_rules;

/* Bytes of that pack, and number of partials, at most. */
size_t hy_pack_hrpb_bytes(const hy_features *f, const hy_hrpb_rules *rules);
int64_t hy_pack_hrpb_partials(const hy_features *f, const hy_hrpb_rules *rules);

/* Fill job->pack (mem is given). */
hybrid_status hy_pack_hrpb(hy_job *job, const hy_hrpb_rules *rules);

/* The pack where the kernels read it; the head is from pack.head. */
typedef struct hy_hrpb_view {
    hy_hrpb_head head;
    const hy_hrpb_unit *unit;
    const hy_hrpb_split *split;
    const hy_hrpb_block *block;
    const void *val;
} hy_hrpb_view;
hy_hrpb_view hy_packed_hrpb(const hy_job *job);

/* ---- blocks.c, blocking.c: A as blocks of r x c for SpMV ----

   Block row I has rows r I to r I + r - 1 of A, whichever chunk they are in; the first and
   the last of a chunk may be in parts. From the left, a block begins at the first column
   that no block before it covers, and covers c columns; the last is moved to the left if
   it would pass the end of X. An element that is no entry of A is the number -0.0, which
   kernels pass over: 0 times an infinity of X would be no number. Entries that are -0.0
   are stored as 0, which leaves every sum as it is.

   A chunk whose blocks would take more room than planned is packed as 1 x 1 blocks,
   whose room is known beforehand. */

enum { HY_BLOCK_MOST = 8 }; /* rows, and columns */

typedef struct hy_block_shape {
    int32_t rows, cols;
} hy_block_shape;

static inline size_t hy_block_elements(hy_block_shape shape)
{
    return (size_t)shape.rows * (size_t)shape.cols;
}

/* Bytes of A in CSR with 64-bit offsets, and in those blocks, without padding, as far as
   f->block_* say. */
double hy_csr_stream_bytes(const hy_features *f);
double hy_block_stream_bytes(const hy_features *f);

/* How many blocks there are of that, and how many block rows. */
double hy_block_count(const hy_features *f);
double hy_block_rows(const hy_features *f);

/* NULL, or why A is not worth to be blocked: those bytes are not fewer by a tenth. */
const char *hy_block_refuse(const hy_features *f);

/* ---- pack_bcsr.c: block rows, a group of lanes to each ---- */

/* Arrays of the pack; X where hy_packed_x() looks for it. */
enum {
    HY_BCSR_ROW_PTR, /* int32, block rows + 1: blocks before each */
    HY_BCSR_COL,     /* int32: first column of each block */
    HY_BCSR_VAL,
    HY_BCSR_X = HY_GATHER_VAL
};

/* Blocks of a row are kept in batches of 2^log_group, the last with what is left: block b
   of n in a batch that begins at block f has its element e = i c + j at val[f r c + e n +
   b], so that lanes which hold neighbouring blocks read neighbouring words. In pack.head. */
typedef struct hy_bcsr_head {
    int64_t rows, blocks; /* rows: block rows */
    hy_block_shape shape;
    int32_t log_group;
    int32_t before; /* rows of the first block row that are no rows of the chunk */
} hy_bcsr_head;

size_t hy_pack_bcsr_bytes(const hy_features *f); /* at most */
hybrid_status hy_pack_bcsr(hy_job *job);         /* fill job->pack (mem is given) */

/* The pack where the kernels read it; the head is from pack.head. */
typedef struct hy_bcsr_view {
    hy_bcsr_head head;
    const int32_t *row_ptr, *col;
    const void *val;
} hy_bcsr_view;
hy_bcsr_view hy_packed_bcsr(const hy_job *job);

/* ---- pack_bellpack.c: slices of block rows of about equal length, a lane to each ---- */

enum {
    HY_BELLPACK_SLICES,
    HY_BELLPACK_ORDER, /* int32: the block row at each place */
    HY_BELLPACK_COL,   /* int32: first column of each cell */
    HY_BELLPACK_VAL,
    HY_BELLPACK_X = HY_GATHER_VAL
};

/* Places first, first + 1, ...: 2^log_ways lanes to each, of all together `lanes`. Block
   b of a row is in its lane b % 2^log_ways at step b / 2^log_ways. The cell of lane l at
   step s is number at + s lanes + l; its element e is at val[(at + s lanes) r c + e lanes
   + l]. Cells without a block hold no entries. */
typedef struct hy_bellpack_slice {
    int64_t at;
    int32_t first, steps;
    int32_t lanes; /* R, less in the last slice of a panel */
    int32_t log_ways;
} hy_bellpack_slice;

typedef struct hy_bellpack_head {
    int64_t rows, slices, cells; /* rows: block rows */
    hy_block_shape shape;
    int32_t log_lanes; /* R = 2^log_lanes, 32 to 256 */
    int32_t before;    /* as in hy_bcsr_head */
} hy_bellpack_head;

/* How a variant wants its slices. */
typedef struct hy_bellpack_rules {
    int64_t wave;  /* lanes that run at once: none shall take longer than a wave's share of
                      all blocks, if 32 lanes to a row are enough for that, */
    int64_t least; /* but rows of so many blocks have one lane */
} hy_bellpack_rules;

size_t hy_pack_bellpack_bytes(const hy_features *f, const hy_bellpack_rules *rules);
hybrid_status hy_pack_bellpack(hy_job *job, const hy_bellpack_rules *rules);

typedef struct hy_bellpack_view {
    hy_bellpack_head head;
    const hy_bellpack_slice *slice;
    const int32_t *order, *col;
    const void *val;
} hy_bellpack_view;
hy_bellpack_view hy_packed_bellpack(const hy_job *job);

/* ---- rows.c: room for a result ---- */

/* Bytes for a chunk's result at its bound, rows and entries; with_row_at: also an
   array row_at, for backends that leave gaps between rows. */
size_t hy_rows_bytes(hy_op op, const hy_features *f, int with_row_at);

/* The arrays of that result inside a block. */
hy_rows hy_rows_in(void *block, hy_op op, const hy_features *f, int with_row_at);

#ifdef __cplusplus
}
#endif
#endif /* HY_PACK_H */
