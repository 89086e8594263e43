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

/* ---- shared.c: B or X whole, as the device holds it for all chunks ---- */

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
