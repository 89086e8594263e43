/* partition/pattern/extents.h - the range of columns in which a range of rows has entries
   (its extent).

   Columns ascend within a row, so the first and the last entry of each row suffice.
   Reading them costs a cache line each, which is nearly all of A if rows are short. All
   rows are therefore read once, and the extents of blocks of rows are stored. Planning a
   SpGEMM reads A anyway, and notes the extents of blocks. The extent of any range of rows
   is made from the blocks inside it; only the rows at its ends are read again. */
#ifndef HY_EXTENTS_H
#define HY_EXTENTS_H

#include "partition/pattern/profile.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The columns of some rows of A that have entries lie in [first, end). Without entries,
   first is INT32_MAX and end is 0. */
typedef struct hy_extent {
    int32_t first, end;
} hy_extent;

typedef struct hy_extents {
    const hybrid_csr *A;
    int64_t rows;      /* rows of each block; the last block may have fewer */
    int64_t count;     /* number of blocks of rows */
    hy_extent *blocks; /* extent of each block; NULL if a row spans more columns than the
                          `max_width` of hy_extents_find() */
} hy_extents;

/* Returns the extent of rows [begin, end) by reading every row. *widest is raised to the
   largest number of columns from the first to the last entry of a row. */
hy_extent hy_extents_scan(const hybrid_csr *A, int64_t begin, int64_t end,
                          int64_t *widest);

/* Finds the extents of all blocks of rows, in parallel. Leaves out->blocks NULL if a row
   spans more than `max_width` columns. The caller frees `out`, also after a failure. */
hybrid_status hy_extents_find(hy_context *ctx, const hybrid_csr *A, int64_t max_width,
                              hy_extents *out);
/* Takes the extents of blocks from the profile of A*B (hy_profile.firsts and ends)
   instead of reading A. */
hybrid_status hy_extents_take(hy_context *ctx, const hybrid_csr *A,
                              const hy_profile *profile, hy_extents *out);
void hy_extents_free(hy_context *ctx, hy_extents *extents);

/* Returns the extent of rows [begin, end). Requires extents->blocks. */
hy_extent hy_extents_of(const hy_extents *extents, int64_t begin, int64_t end);

#ifdef __cplusplus
}
#endif
#endif /* HY_EXTENTS_H */
