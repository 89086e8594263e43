/* engine/files/result_size.h - estimates the entries of C = A*B from a sample of rows,
   before anything is computed.

   Method: entries of A are drawn at equal distances. For each drawn entry the columns of
   its row of C are counted with a hash set. A row is drawn with a probability
   proportional to its entries of A, so the mean of entries(row of C) / entries(row of A)
   over the draws estimates nnz(C) / nnz(A).

   Cost: 16 to 256 rows of A and the rows of B that they touch. A long row is sampled and
   extrapolated. No values are read. */
#ifndef HY_RESULT_SIZE_H
#define HY_RESULT_SIZE_H

#include "engine/files/files.h"

typedef struct hy_result_size {
    double products; /* estimated scalar products */
    double entries;  /* estimated entries of C */
    double least;    /* lower bound on the entries of C that is almost certain: the
                        entries counted in the drawn rows, scaled up to all of A, minus 3
                        % and three standard errors */
} hy_result_size;

/* Estimates the size of C = A*B. Operands may be in memory or in files; the caller must
   have checked those in memory, which have 32-bit columns. Sampling ends when the
   standard error is at most 3 % of the entries, or when it is clear whether C has more
   entries than `limit` (NAN: no limit), or after 256 draws. Columns out of range in files
   are ignored; other errors of files are returned. */
hybrid_status hy_estimate_result(const hy_files *call, const hy_source *A,
                                 const hy_source *B, double limit, hy_result_size *out);

#endif /* HY_RESULT_SIZE_H */
