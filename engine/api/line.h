/* engine/api/line.h - a row of any matrix, and sums in twice the precision. */
#ifndef HY_LINE_H
#define HY_LINE_H

#include <math.h>

#include "base/data/csr.h"

/* A row of a matrix. Entry k has the value val[first + k * step]. Its column is
   col[first + k], or k in a dense matrix (col == NULL). */
typedef struct hy_line {
    hybrid_type type;
    const void *val;
    const int32_t *col;
    int64_t first, step;
    int64_t count; /* entries of the row */
} hy_line;

static inline hy_line hy_line_sparse(const hybrid_csr *M, int64_t i)
{
    const int64_t begin = hy_offset(M, i);
    return (hy_line){M->type, M->val, M->col, begin, 1, hy_offset(M, i + 1) - begin};
}

static inline hy_line hy_line_dense(const hybrid_dense *M, int64_t i)
{
    const int by_rows   = M->order == HYBRID_ROW_MAJOR;
    const int64_t first = by_rows ? i * M->ld : i, step = by_rows ? 1 : M->ld;
    return (hy_line){M->type, M->data, NULL, first, step, M->cols};
}

static inline double hy_line_value(const hy_line *l, int64_t k)
{
    return hy_value_at(l->type, l->val, l->first + k * l->step);
}

static inline int64_t hy_line_col(const hy_line *l, int64_t k)
{
    return l->col ? l->col[l->first + k] : k;
}

/* A sum in double, and the sum of its rounding errors; both together are the sum in
   twice the precision. */
typedef struct hy_twofold {
    double sum, rest;
} hy_twofold;

/* Adds a term to a twofold sum, with Knuth's TwoSum. */
static inline void hy_twofold_add(hy_twofold *t, double term)
{
    const double sum = t->sum + term, added = sum - t->sum;

    t->rest += (t->sum - (sum - added)) + (term - added);
    t->sum = sum;
}

static inline double hy_twofold_distance(hy_twofold a, hy_twofold b)
{
    return fabs((a.sum - b.sum) + (a.rest - b.rest));
}

#endif /* HY_LINE_H */
