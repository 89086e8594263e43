/* partition/format/pack.h - the formats of packed operands and results in one block of
   memory.

   Packers run on the CPU and fill a pinned block. The device uses the same layout, so one
   copy moves it. Offsets inside a block have 64 bits and count from 0. */
#ifndef HY_PACK_H
#define HY_PACK_H

#include "base/data/inline.h"
#include "base/contract/variant.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A CSR matrix inside a block of host or device memory, or some rows of one; nnz counts
   the entries of the whole matrix. */
typedef struct hy_csr_view {
    int64_t rows, nnz;
    const int64_t *row_ptr; /* rows + 1 elements; row_ptr[0] is 0, unless the job leaves
                               out leading rows of the chunk (hy_job.rows_before) */
    const int32_t *col;
    const void *val;
} hy_csr_view;

/* ---- gather.c: checks ---- */

/* Returns UNSUPPORTED with the message that the chunk exceeds `most`, the variant's limit
   on rows, entries of A and scalar products. */
hybrid_status hy_pack_too_many(const hy_job *job, int64_t most);

/* ---- pack_csr.c: rows of A, and the rows of B or X that they touch ---- */

/* Indices of the pack's arrays in hy_pack.at. Only gathered chunks have the arrays
   GATHER_*; in their packs the columns of A are numbers of the rows of B or X in the
   pack. */
enum {
    HY_A_ROW_PTR,
    HY_A_COL,
    HY_A_VAL,
    HY_GATHER_ROW_PTR,
    HY_GATHER_COL,
    HY_GATHER_VAL
};

/* Returns the bytes of a CSR pack for a chunk with features `f`. */
size_t hy_pack_csr_bytes(hy_op op, const hy_features *f);

/* Fills job->pack with CSR; the caller sets job->pack.mem before. This is the `prepare`
   of every variant that reads CSR. */
hybrid_status hy_pack_csr(hy_job *job);

/* Prepares a chunk of an A in device memory: enqueues the kernel that writes the chunk's
   64-bit offsets to job->in, in place of a pack made by the CPU. This is
   hy_variant.arrange of variants that have hy_pack_csr() as `prepare`. */
hybrid_status hy_arrange_csr(hy_lane *lane, hy_job *job);

/* Returns the bytes that job->in must have for hy_arrange_csr() of a chunk with features
   `f`: those of its offsets, plus those that a variant with cost `cost` writes behind
   them, from job->pack.rest on. */
size_t hy_arranged_bytes(hy_op op, const hy_features *f, const hy_cost *cost);

/* Returns 1 if the variant reads packs in CSR and A and B are the same arrays. */
int hy_pack_csr_same(const hy_variant *variant, const hybrid_csr *A, const hybrid_csr *B);

/* Returns 1 if A is squared and its rows are on the device already, as rows of B. The
   pack of the chunk then has only the offsets of its rows, which count from 0 in every
   pack. */
int hy_pack_csr_shares(const hy_job *job);

/* Return the operands of a chunk as the kernels read them: A from job->in; B from job->in
   if the chunk is gathered, else from problem->image_memory or
   problem->source.on_device. */
hy_csr_view hy_packed_a(const hy_job *job);
hy_csr_view hy_packed_b(const hy_job *job);

/* Returns B as it lies in an image that begins at `base`. */
hy_csr_view hy_image_b(const hy_image *image, const void *base);

/* X of a chunk. Row r (a number in the pack if gathered) and column j of the chunk's
   columns are at x[r * ld + j]. The last rest_cols columns are tail columns, which are
   stored apart: those of row r begin at rest[r * rest_ld]. */
typedef struct hy_dense_view {
    const void *x;
    int64_t ld;
    const void *rest;
    int64_t rest_ld, rest_cols;
} hy_dense_view;
hy_dense_view hy_packed_x(const hy_job *job);

/* X in column-major slabs (base/contract/image.h). Slabs let the first rows of X arrive
   before the last. */
typedef struct hy_cols_view {
    const void *x;
    int64_t rows, cols; /* size of X, in all slabs together */
    int64_t first;      /* index of the chunk's first column among the columns of the
                           slabs */
    int shift;          /* log2 of the rows of a slab; a gathered X is one slab */
} hy_cols_view;
hy_cols_view hy_packed_x_cols(const hy_job *job);

/* hy_x_at() returns the index in x of row r, column j of the chunk's columns. hy_x_ld()
   returns the elements from one column to the next in the slab that holds row r. */
HY_KERNEL_INLINE int64_t hy_x_ld(const hy_cols_view *v, int64_t r)
{
    const int64_t slab = (int64_t)1 << v->shift;
    const int64_t left = v->rows - (r >> v->shift << v->shift);
    return left < slab ? left : slab;
}

HY_KERNEL_INLINE int64_t hy_x_at(const hy_cols_view *v, int64_t r, int64_t j)
{
    const int64_t before = r >> v->shift << v->shift;
    return before * v->cols + (v->first + j) * hy_x_ld(v, r) + (r - before);
}

/* ---- pack_dup.c: rows of B, duplicated in the order of the scalar products ---- */

/* Indices of the pack's arrays in hy_pack.at. Scalar products (here: products) have
   32-bit numbers from 0, in the order of the chunk's entries. */
enum { HY_DUP_ROW_START, HY_DUP_START, HY_DUP_A_VAL, HY_DUP_COL, HY_DUP_VAL };

typedef struct hy_dup_view {
    int64_t rows, nnz, products;
    const int32_t *row_start; /* rows + 1 elements: number of scalar products before each
                                 row of the chunk */
    const int32_t *start;     /* nnz + 1 elements: number of scalar products before each
                                 entry */
    const void *a_val;        /* nnz elements: values of A */
    const int32_t *col;       /* for each scalar product: column of B */
    void *val;                /* for each scalar product: value of B, which kernels
                                 replace by the scalar product */
} hy_dup_view;

/* Returns the bytes of a pack of duplicated rows: at least 4 + s for each entry of A and
   each scalar product, where s is the bytes of a value. */
size_t hy_pack_dup_bytes(const hy_features *f);

/* Returns the scratch bytes with which every budget satisfies the inequality of the
   paper: 11/9 (4 + s) for each entry of A and each scalar product, where s is the bytes
   of a value. gpu/papers/spgemm_cuda_esc_dup.cu derives it. */
size_t hy_pack_dup_work(const hy_features *f);

/* Fills job->pack; the caller sets job->pack.mem before. */
hybrid_status hy_pack_dup(hy_job *job);

/* Returns the pack as the kernels read it, at job->in. */
hy_dup_view hy_packed_dup(const hy_job *job);

/* ---- pack_hrpb.c: A as row panels of 16 rows with compacted columns ---- */

/* Indices of the pack's arrays in hy_pack.at. X is where hy_packed_x() expects it. */
enum {
    HY_HRPB_UNITS,
    HY_HRPB_SPLITS,
    HY_HRPB_BLOCKS,
    HY_HRPB_VAL,
    HY_HRPB_X = HY_GATHER_VAL
};

enum {
    HY_HRPB_ROWS   = 16, /* rows of a row panel; the chunk's last panel may have fewer */
    HY_HRPB_COLS   = 16, /* columns of a block */
    HY_HRPB_BRICK  = 4,  /* columns of a brick, which has all 16 rows */
    HY_HRPB_BRICKS = HY_HRPB_COLS / HY_HRPB_BRICK
};

/* A block of a row panel: 16 of the columns in which the panel has entries, as four
   bricks. Word 2 b + h of `bits` holds the pattern of rows 8 h to 8 h + 7 of brick b: bit
   4 r + k is row r, column k. Values are ordered by brick, row and column; one zero
   follows all values. If the panel has too few columns for its last block, the last
   column is repeated. */
typedef struct hy_hrpb_block {
    int32_t col[HY_HRPB_COLS]; /* the row of X that each column needs (its number in the
                                  pack if gathered) */
    uint32_t bits[2 * HY_HRPB_BRICKS];
    int32_t first; /* index of the block's first value in the array of values */
} hy_hrpb_block;

/* A unit is the work of one warp: a row panel, or a part of a heavy one. Units of heavier
   panels come first. */
typedef struct hy_hrpb_unit {
    int32_t row;        /* first row of the panel, counted from the chunk's first row */
    int32_t begin, end; /* the unit's blocks are [begin, end) in the array of blocks */
    int32_t partial;    /* index of the unit's results among the results of all parts; -1
                           if the unit is a whole panel, which stores to Y */
} hy_hrpb_unit;

/* A panel in parts. The results of its parts, with indices `partial` to partial + parts -
   1, are added in this order and give the rows of Y from `row` on. */
typedef struct hy_hrpb_split {
    int32_t row, partial, parts;
} hy_hrpb_split;

/* Number of elements of each array, and of partials, the results of parts; stored in
   pack.head. */
typedef struct hy_hrpb_head {
    int64_t units, splits, partials, blocks;
} hy_hrpb_head;

/* How a variant wants heavy row panels, which have many blocks, to be cut into units. */
typedef struct hy_hrpb_rules {
    int64_t wave;  /* number of units (warps) that the device runs at once. A unit has at
                      most 1/wave of all blocks, or `least` blocks if that is more */
    int64_t least; /* panels of up to this many blocks are never cut */
} hy_hrpb_rules;

/* hy_pack_hrpb_bytes() returns an upper bound on the bytes of an HRPB pack,
   hy_pack_hrpb_partials() one on the parts of all row panels that are cut. */
size_t hy_pack_hrpb_bytes(const hy_features *f, const hy_hrpb_rules *rules);
int64_t hy_pack_hrpb_partials(const hy_features *f, const hy_hrpb_rules *rules);

/* Fills job->pack; the caller sets job->pack.mem before. */
hybrid_status hy_pack_hrpb(hy_job *job, const hy_hrpb_rules *rules);

/* The pack as the kernels read it; the head comes from pack.head. */
typedef struct hy_hrpb_view {
    hy_hrpb_head head;
    const hy_hrpb_unit *unit;
    const hy_hrpb_split *split;
    const hy_hrpb_block *block;
    const void *val;
} hy_hrpb_view;
hy_hrpb_view hy_packed_hrpb(const hy_job *job);

/* ---- blocks.c, blocking.c: A as blocks of r x c for SpMV ----

   Block row I has rows r I to r I + r - 1 of A, whatever the chunks are, so the first and
   the last block row of a chunk may be incomplete. In each block row, from the left, a
   block begins at the first column with an entry that no earlier block covers, and covers
   c columns. A block that would pass the end of X is moved to the left. An element that
   is no entry of A is stored as -0.0, which kernels skip, because 0 times an infinity in
   X would give NaN. Entries of value -0.0 are stored as 0, which leaves every sum
   unchanged.

   If the blocks of a chunk would take more room than planned, the chunk is packed as
   1 x 1 blocks, which take a known room. A shape that options force, or the paper's form,
   is an error instead. */

enum { HY_BLOCK_MOST = 8 }; /* maximum rows and columns of a block */

typedef struct hy_block_shape {
    int32_t rows, cols;
} hy_block_shape;

static inline size_t hy_block_elements(hy_block_shape shape)
{
    return (size_t)shape.rows * (size_t)shape.cols;
}

/* Indices of the parameters of both variants in hy_features.parameter, and their text in
   hy_variant. A shape is forced if r or c is given. */
enum {
    HY_BLOCK_R,     /* parameter r: rows of a block */
    HY_BLOCK_C,     /* parameter c: columns of a block */
    HY_BLOCK_LANES, /* parameter R: for bellpack, lanes of a slice; for the form of the
                       paper, threads of a thread block */
    HY_BLOCK_PAPER, /* parameter paper, 1: blocks are stored and computed as in the paper
                       (pack_bcsr.c, pack_bellpack.c) */
    HY_BLOCK_RULE   /* parameter rule (hy_block_rule): how the shape is chosen */
};

#define HY_BLOCK_PARAMETERS                                                              \
    "r=1|2|3|4|5|6|7|8 c=1|2|3|4|5|6|7|8 R=32|64|128|256 paper=1 rule=bytes|model"

/* How the shape is chosen: the one with the fewest bytes, or the one that the execution
   model predicts to be the fastest (block_choice.h). */
typedef enum hy_block_rule { HY_BLOCK_BY_BYTES = 1, HY_BLOCK_BY_MODEL = 2 } hy_block_rule;

static inline int hy_block_is_forced(const hy_features *f)
{
    return f->parameter[HY_BLOCK_R] > 0 || f->parameter[HY_BLOCK_C] > 0;
}

/* Returns 1 if the chunk may be packed as 1 x 1 blocks instead of the chosen ones. */
static inline int hy_block_may_yield(const hy_features *f)
{
    return !hy_block_is_forced(f) && !f->parameter[HY_BLOCK_PAPER];
}

/* Sets f->block_rows, block_cols and block_fill to `shape` and its fill, which is taken
   from f->block_fills. */
void hy_block_shape_set(hy_features *f, hy_block_shape shape);

/* Returns an upper bound on the number of blocks of a chunk that must not fall back on 1
   x 1 blocks. The bound rests on the fill, which is an estimate, so packers must check
   it. */
int64_t hy_block_bound(const hy_features *f);

/* Returns the bytes of A in the blocks of f->block_*, without padding. */
double hy_block_stream_bytes(const hy_features *f);

/* Return the expected number of blocks of f->block_rows x f->block_cols, and of their
   block rows. */
double hy_block_count(const hy_features *f);
double hy_block_rows(const hy_features *f);

/* Returns NULL if blocks take at least a tenth fewer bytes than CSR, else the reason
   against blocks. */
const char *hy_block_refuse(const hy_features *f);

/* ---- pack_bcsr.c: block rows, each for a group of lanes ---- */

/* Indices of the pack's arrays in hy_pack.at. X is where hy_packed_x() expects it. */
enum {
    HY_BCSR_ROW_PTR, /* int32, block rows + 1 elements: blocks before each block row */
    HY_BCSR_COL,     /* int32: first column of each block */
    HY_BCSR_VAL,
    HY_BCSR_X = HY_GATHER_VAL
};

/* Head of the pack, in pack.head. The blocks of a row are stored in batches of
   2^log_group; the last batch has the remaining ones. Block b of a batch of n blocks that
   begins at block f has element e = i c + j at val[f r c + e n + b], so that lanes with
   neighbouring blocks read neighbouring words. */
typedef struct hy_bcsr_head {
    int64_t rows, blocks; /* rows: number of block rows; blocks: number of all blocks */
    hy_block_shape shape;
    int32_t log_group;
    int32_t before; /* rows of the first block row that lie before the chunk's first row */
} hy_bcsr_head;

size_t hy_pack_bcsr_bytes(const hy_features *f); /* returns an upper bound on the bytes of
                                                    a pack */
hybrid_status hy_pack_bcsr(hy_job *job);         /* fills job->pack; the caller sets
                                                    job->pack.mem before */

/* The pack as the kernels read it; the head comes from pack.head. */
typedef struct hy_bcsr_view {
    hy_bcsr_head head;
    const int32_t *row_ptr, *col;
    const void *val;
} hy_bcsr_view;
hy_bcsr_view hy_packed_bcsr(const hy_job *job);

/* ---- pack_bellpack.c: slices of block rows of similar length, each for a lane ---- */

enum {
    HY_BELLPACK_SLICES,
    HY_BELLPACK_ORDER, /* int32: block row at each place of the sorted order */
    HY_BELLPACK_COL,   /* int32: first column of the block in each cell */
    HY_BELLPACK_VAL,
    HY_BELLPACK_X = HY_GATHER_VAL
};

/* A slice covers places first, first + 1 and so on of the sorted order, with 2^log_ways
   lanes (GPU threads) for each place. Block b of a row belongs to its lane b % 2^log_ways
   at step b / 2^log_ways. A cell is the room for one block. The cell of lane l at step s
   has number at + s lanes + l; its element e is at val[(at + s lanes) r c + e lanes + l].
   The elements of cells without a block are marked as no entries. */
typedef struct hy_bellpack_slice {
    int64_t at;
    int32_t first, steps;
    int32_t lanes; /* lanes of the slice: R, or fewer in the last slice of a panel */
    int32_t log_ways;
} hy_bellpack_slice;

typedef struct hy_bellpack_head {
    int64_t rows, slices, cells; /* rows: number of block rows; cells: room for blocks in
                                    all slices */
    hy_block_shape shape;
    int32_t log_lanes; /* R = 2^log_lanes is the number of lanes of a whole slice, 32 to
                          256 */
    int32_t before;    /* rows of the first block row that lie before the chunk's first
                          row */
} hy_bellpack_head;

/* How a variant wants the lanes (GPU threads) of the slices to share the blocks. */
typedef struct hy_bellpack_rules {
    int64_t wave;  /* number of lanes that run at once. A lane has at most 1/wave of all
                      blocks, or `least` blocks if that is more. It has more only if 32
                      lanes are too few for a block row */
    int64_t least; /* block rows of up to this many blocks get one lane */
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

/* ---- rows.c: layout of a result ---- */

/* Returns the bytes of a chunk's result with as many rows and entries as the features
   allow at most. with_row_at adds the array row_at (start of each row), for backends that
   leave gaps between rows. */
size_t hy_rows_bytes(hy_op op, const hy_features *f, int with_row_at);

/* Returns the arrays of a result of hy_rows_bytes() bytes inside `block`. */
hy_rows hy_rows_in(void *block, hy_op op, const hy_features *f, int with_row_at);

#ifdef __cplusplus
}
#endif
#endif /* HY_PACK_H */
