/* engine/run/pattern.h - what a plan keeps of the patterns that it was made for.

   Chunks and buffer sizes depend on the patterns: with another pattern, rows would be
   written outside their buffers. Every run of a plan with HYBRID_REUSE therefore compares
   hashes first. After the first run the plan keeps the offsets of C, so that later runs
   count nothing. */
#ifndef HY_PATTERN_H
#define HY_PATTERN_H

#include "base/contract/context.h"

typedef struct hy_pattern {
    uint64_t a, b;    /* hashes of the patterns of A and B */
    int64_t *row_ptr; /* offsets of C (rows + 1), with memory only for HYBRID_REUSE; else
                         NULL */
    int known;        /* 1: a run has filled row_ptr */
} hy_pattern;

/* For a plan with HYBRID_REUSE: stores the hashes of both patterns and allocates row_ptr.
   hy_pattern_free() frees it. */
hybrid_status hy_pattern_note(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B,
                              hy_pattern *out);
void hy_pattern_free(hy_context *ctx, hy_pattern *pattern);

/* Returns 1 if both have the same offset and column arrays. */
int hy_pattern_same(const hybrid_csr *A, const hybrid_csr *B);

/* Fails with BAD_STATE and a sentence if `a` and `b`, the hashes of a run's A and B,
   differ from the plan's. */
hybrid_status hy_pattern_check(hy_context *ctx, const hy_pattern *pattern, uint64_t a,
                               uint64_t b);

/* Copies the offsets of C to row_ptr, if it exists and is not filled yet. */
void hy_pattern_record(hy_context *ctx, hy_pattern *pattern, const hybrid_csr *C);

#endif /* HY_PATTERN_H */
