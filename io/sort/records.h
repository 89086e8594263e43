/* io/sort/records.h - entries of a sparse matrix as records that a number orders. */
#ifndef HY_RECORDS_H
#define HY_RECORDS_H

#include "base/contract/context.h"

/* Limits on the sizes of a matrix whose entries are sorted. */
#define HY_KEY_ROWS ((int64_t)UINT32_MAX)
#define HY_KEY_COLS ((int64_t)INT32_MAX)

/* An entry. Keys order entries by row, then by column. */
typedef struct hy_record {
    uint64_t key; /* row << 32 | column << 1 | 1 if the entry is a mirror image */
    double value;
} hy_record;

static inline uint64_t hy_key(int64_t row, int64_t col)
{
    return (uint64_t)row << 32 | (uint64_t)col << 1;
}

static inline int64_t hy_key_row(uint64_t key)
{
    return (int64_t)(key >> 32);
}

static inline int32_t hy_key_col(uint64_t key)
{
    return (int32_t)(key >> 1 & INT32_MAX);
}

/* Returns 1 if both keys have the same row and column. */
static inline int hy_key_same(uint64_t a, uint64_t b)
{
    return a >> 1 == b >> 1;
}

/* Returns 1 if the values of all records have the bits of `value`. */
int hy_records_alike(const hy_record *records, int64_t count, double value);

/* Sorts at most INT32_MAX records by key on the pool. Records with equal keys keep their
   order. `spare` has room for `count` records. NO_MEMORY if the counts of buckets do not
   fit the budget. */
hybrid_status hy_records_sort(hy_context *ctx, hy_record *records, hy_record *spare,
                              int64_t count);

#endif /* HY_RECORDS_H */
