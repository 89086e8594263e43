/* engine/run/pattern.h - what a plan remembers of the patterns that it was made for.

   Chunks, bounds and room are those of the patterns planned for: with others, rows would
   be written where there is no room. So each run of a plan made with HYBRID_REUSE compares
   hashes first. After its first run the offsets of C's rows are kept: later ones count
   nothing. */
#ifndef HY_PATTERN_H
#define HY_PATTERN_H

#include "base/contract/context.h"

typedef struct hy_pattern {
    uint64_t a, b;    /* hashes of A and B */
    int64_t *row_ptr; /* of C, rows+1; NULL: not made for reuse */
    int known;        /* row_ptr is filled */
} hy_pattern;

/* For a plan made with HYBRID_REUSE. */
hybrid_status hy_pattern_note(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B,
                              hy_pattern *out);
void hy_pattern_free(hy_context *ctx, hy_pattern *pattern);

/* Whether they have the same arrays of a pattern. */
int hy_pattern_same(const hybrid_csr *A, const hybrid_csr *B);

/* BAD_STATE and a sentence if A or B, of which these are hashes, has another pattern. */
hybrid_status hy_pattern_check(hy_context *ctx, const hy_pattern *pattern, uint64_t a,
                               uint64_t b);

/* C came of them. */
void hy_pattern_keep(hy_context *ctx, hy_pattern *pattern, const hybrid_csr *C);

#endif /* HY_PATTERN_H */
