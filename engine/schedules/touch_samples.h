/* engine/schedules/touch_samples.h - counts, for a few ranges of rows of A, the rows of B
   or X that they touch. */
#ifndef HY_TOUCH_SAMPLES_H
#define HY_TOUCH_SAMPLES_H

#include "engine/plan/layout.h"

enum { HY_TOUCH_SAMPLES = 4 };

typedef struct hy_touch_samples {
    int64_t count;
    hy_chunk chunks[HY_TOUCH_SAMPLES];
    hy_touch touched[HY_TOUCH_SAMPLES]; /* for each chunk, the rows that it would gather */
} hy_touch_samples;

/* Sets samples->touched for samples->chunks. B is NULL for SpMM. */
hybrid_status hy_touch_count(const hy_portion *portion, const hybrid_csr *A,
                             const hybrid_csr *B, hy_touch_samples *samples);

/* Estimates the rows that all chunks of the gathered layout `asked` will gather together,
   before it is cut. The rows are counted for a few ranges of rows that fill a slot, and
   scaled up by the number of entries of A. */
hybrid_status hy_touch_estimate(const hy_planning *p, const hy_layout *asked,
                                hy_touch *out);

#endif /* HY_TOUCH_SAMPLES_H */
