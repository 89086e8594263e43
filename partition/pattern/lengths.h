/* partition/pattern/lengths.h - the number of entries of each row in 1, 2 or 4 bytes.

   Counting scalar products reads the length of a row of B for each entry of A. An array
   of the narrowest type that holds the longest row stays in a core's cache; offsets of 64
   bits would not. */
#ifndef HY_LENGTHS_H
#define HY_LENGTHS_H

#include "base/contract/context.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hy_lengths {
    void *of;  /* number of entries of each row of B, as unsigned integers of `bytes`
                  bytes; from hy_array() */
    int bytes; /* bytes of one element of `of`: 1, 2 or 4, since a row of B has at most
                  2^31-1 entries */
    int64_t longest; /* largest number of entries of a row of B */
} hy_lengths;

/* Stores the lengths of all rows of B, in parallel. Free `out` with hy_lengths_free(). */
hybrid_status hy_lengths_note(hy_context *ctx, const hybrid_csr *B, hy_lengths *out);
void hy_lengths_free(hy_context *ctx, hy_lengths *lengths);

/* Sets sums[j] = sum + the lengths of rows col[0] to col[j], for j < n. Returns the last
   sum, or `sum` if n is 0. */
int64_t hy_lengths_sums(const hy_lengths *lengths, const int32_t *col, int64_t n,
                         int64_t sum, int64_t *sums);

#ifdef __cplusplus
}
#endif
#endif /* HY_LENGTHS_H */
