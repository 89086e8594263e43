/* engine/files/result_size.h - estimates the entries of C = A*B from a sample of rows,
   before anything is computed. Operands are in memory or in files.

   Method: entries of A are drawn at even distances. The row of a drawn entry is counted: its
   columns of C are collected in a table. A row is drawn with a probability that grows with
   its entries of A, so the mean of entries(C row) / entries(A row) over the draws estimates
   nnz(C) / nnz(A).

   Cost: 16 to 256 rows of A and the rows of B that they name. Some entries of a long row are
   read, and the rest is extrapolated. No value is read. */
#ifndef HY_RESULT_SIZE_H
#define HY_RESULT_SIZE_H

#include "engine/files/files.h"

typedef struct hy_result_size {
    double products; /* expected scalar products */
    double entries;  /* expected entries of C */
    double least;    /* C hardly has fewer entries: what was counted without extrapolation,
                        less 3 % and three standard errors */
} hy_result_size;

/* Estimates C = A*B; operands in memory are checked and have columns of 32 bits. Sampling
   ends when the standard error is 3 %, or when it is clear whether C has more entries than
   `limit` (NAN: no limit). Columns of files that are out of range are left out; other
   errors of files are returned. */
hybrid_status hy_estimate_result(const hy_files *call, const hy_sparse *A,
                                 const hy_sparse *B, double limit, hy_result_size *out);

#endif /* HY_RESULT_SIZE_H */
