/* partition/pack.h - operands and results as they lie in one block of memory.

   Packers run on the CPU and fill a pinned block; the layout is the same on the
   device, so one copy moves it. Offsets inside a block are 64 bit and count from 0. */
#ifndef HY_PACK_H
#define HY_PACK_H

#include "base/variant.h"

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

/* Whether the variant packs rows of A that are rows of B as well: the same arrays. */
int hy_pack_csr_same(const hy_variant *variant, const hybrid_csr *A, const hybrid_csr *B);

/* Whether the rows of A that the chunk needs are on the device already, as rows of B: then
   only their offsets are missing, which count from 0 in every pack. */
int hy_pack_csr_shares(const hy_job *job);

/* Operands of a chunk where the kernels read them: A from job->in, B from the
   gathered part of job->in or from problem->shared, whichever the chunk says. */
hy_csr_view hy_packed_a(const hy_job *job);
hy_csr_view hy_packed_b(const hy_job *job);

/* X of a chunk: row r (renumbered if gathered) and column j of the chunk's columns
   is at x[r * ld + j]. */
typedef struct hy_dense_view {
    const void *x;
    int64_t ld;
} hy_dense_view;
hy_dense_view hy_packed_x(const hy_job *job);

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
   each nonzero and each product (gpu/spgemm_cuda_esc_dup.cu says why). */
size_t hy_pack_dup_work(const hy_features *f);

/* Fill job->pack (mem is given). */
hybrid_status hy_pack_dup(hy_job *job);

/* The pack where the kernels read it, at job->in. */
hy_dup_view hy_packed_dup(const hy_job *job);

/* ---- pack_hrpb.c: A as panels of 16 rows, their columns moved together ---- */

/* Arrays of the pack; X where hy_packed_x() looks for it. */
enum {
    HY_HRPB_HEAD,
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

/* Part of a panel, in one of two ways.
   Bricks: 16 of the columns that the panel has entries in. Word 2 b + h has the pattern
   of rows 8 h to 8 h + 7 of brick b: bit 4 r + k is row r, column k. Values are in the
   order of bricks, rows, columns. Columns of no brick are copies of the last.
   Entries: 16 of its entries in the order of rows. Nibble e % 8 of word e / 8 is the row
   of entry e, word 2 their number. */
typedef struct hy_hrpb_block {
    int32_t col[HY_HRPB_COLS]; /* rows of X (renumbered if gathered) */
    uint32_t bits[2 * HY_HRPB_BRICKS];
    int32_t first; /* its values begin there */
} hy_hrpb_block;

/* What one warp computes: a panel, or part of one that is heavy. */
typedef struct hy_hrpb_unit {
    int32_t row;        /* first of the panel, from the chunk's first */
    int32_t begin, end; /* blocks */
    int32_t partial;    /* its number among the parts of all panels; -1: all of a panel */
    int32_t entries;    /* 1: blocks of entries; 0: of bricks */
} hy_hrpb_unit;

/* A panel in parts: partials `partial` to partial + parts - 1, to be added in order. */
typedef struct hy_hrpb_split {
    int32_t row, partial, parts;
} hy_hrpb_split;

/* At the start of the pack: how many there are of each. */
typedef struct hy_hrpb_head {
    int64_t units, splits, partials, blocks;
} hy_hrpb_head;

/* How a variant wants its panels. */
typedef struct hy_hrpb_rules {
    double fill; /* panels whose columns are filled less than this are kept as entries */
    int64_t wave;  /* units that run at once: no unit shall take longer than a wave's
                      share of all blocks, */
    int64_t least; /* but units of so many blocks are not cut */
} hy_hrpb_rules;

/* Bytes of that pack, and number of partials, at most. */
size_t hy_pack_hrpb_bytes(const hy_features *f, const hy_hrpb_rules *rules);
int64_t hy_pack_hrpb_partials(const hy_features *f, const hy_hrpb_rules *rules);

/* Fill job->pack (mem is given). */
hybrid_status hy_pack_hrpb(hy_job *job, const hy_hrpb_rules *rules);

/* The pack where the kernels read it; the head is the host's. */
typedef struct hy_hrpb_view {
    hy_hrpb_head head;
    const hy_hrpb_unit *unit;
    const hy_hrpb_split *split;
    const hy_hrpb_block *block;
    const void *val;
} hy_hrpb_view;
hy_hrpb_view hy_packed_hrpb(const hy_job *job);

/* ---- shared.c: B or X whole, as the device holds it for all chunks ---- */

/* Where the arrays of the image start: of B, row_ptr at 0; of X, val at 0. */
typedef struct hy_shared_layout {
    size_t col, val, bytes;
} hy_shared_layout;
hy_shared_layout hy_shared_layout_of(const hy_problem *problem);

/* B: row_ptr | col | val, each aligned to 256. X: rows x cols, row-major, ld = cols. */
size_t hy_shared_bytes(const hy_problem *problem);

/* B of that image, at problem->shared. */
hy_csr_view hy_shared_b(const hy_problem *problem);

/* Write bytes [at, at + bytes) of that image to dst. Any thread. */
void hy_shared_fill(const hy_problem *problem, size_t at, size_t bytes, char *dst);

/* ---- rows.c: room for a result ---- */

/* Bytes for a chunk's result at its bound, rows and entries; with_row_at: also an
   array row_at, for backends that leave gaps between rows. */
size_t hy_rows_bytes(hy_op op, const hy_features *f, int with_row_at);

/* The arrays of that result inside a block. */
hy_rows hy_rows_in(void *block, hy_op op, const hy_features *f, int with_row_at);

/* Store the rows of a SpMM chunk (dense, chunk columns wide) as
   Y = alpha * rows + beta * Y, whichever order and ld Y has. beta == 0 does not
   read Y. In parallel. */
hybrid_status hy_rows_store_dense(const hy_job *job);

#ifdef __cplusplus
}
#endif
#endif /* HY_PACK_H */
