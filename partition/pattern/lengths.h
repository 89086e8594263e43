/* partition/pattern/lengths.h - how many entries rows have, in few bytes.

   Products are counted by asking for the length of a row of B for each entry of A. Words
   of the narrowest kind that holds the longest row stay in a core's cache where offsets
   would not, and none stands for a length that is to be looked up elsewhere. */
#ifndef HY_LENGTHS_H
#define HY_LENGTHS_H

#include "base/contract/context.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hy_lengths {
    void *of;  /* of each row; from hy_array() */
    int bytes; /* of one: 1, 2 or 4, as columns are 31-bit numbers */
} hy_lengths;

/* Of all rows, in parallel. Free with hy_lengths_free(). */
hybrid_status hy_lengths_note(hy_context *ctx, const hybrid_csr *B, hy_lengths *out);
void hy_lengths_free(hy_context *ctx, hy_lengths *lengths);

/* sums[j] = sum + the lengths of rows col[0] .. col[j], for j < n. Returns the last, or
   `sum` if n is 0. */
int64_t hy_lengths_sums(const hy_lengths *lengths, const int32_t *col, int64_t n,
                         int64_t sum, int64_t *sums);

#ifdef __cplusplus
}
#endif
#endif /* HY_LENGTHS_H */
