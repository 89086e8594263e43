/* pipeline/place.h - C as it grows, row after row.

   Address space is reserved by the upper bound on nnz(C) and filled in order; what is
   not used was never touched. Idle workers make pages ready ahead of the copies.

   In later runs of a plan the offsets of C's rows are known: then C has its exact size
   from the start, and chunks have their range before they are computed. */
#ifndef HY_PLACE_H
#define HY_PLACE_H

#include "base/pool.h"
#include "base/variant.h"
#include "pipeline/ahead.h"

typedef struct hy_place {
    hy_context *ctx;
    int64_t rows, cols;
    hybrid_type type;
    hy_span row_ptr, col, val;
    const int64_t *known; /* row_ptr of C, rows+1; NULL = not known yet */
    int64_t next_row;     /* unless known: rows before it have their place */
    int64_t taken;        /* rows that have their place, */
    int64_t nnz;          /* and their entries */
    hy_ahead ahead;
} hy_place;

/* C of rows x cols with at most `bound` entries, probably about `expected`; or with the
   offsets `known` (borrowed), unless NULL. On failure nothing is held. */
hybrid_status hy_place_open(hy_context *ctx, int64_t rows, int64_t cols, hybrid_type type,
                            int64_t bound, int64_t expected, const int64_t *known,
                            hy_place *place);

/* Give everything back; after hy_place_finish() nothing is left to give. */
void hy_place_close(hy_place *place);

/* Whether it is the chunk's turn to take its range: known ones may at any time, others in
   order of rows. */
int hy_place_turn(const hy_place *place, const hy_job *job);

/* Take the range of the chunk's entries, when it is its turn. Unless that is known, the
   chunk has been computed. One thread. */
hybrid_status hy_place_take(hy_place *place, hy_job *job);

/* Whether the device can copy the chunk's entries straight to their range. */
int hy_place_direct(const hy_place *place, const hy_job *job);

/* Whether copies will go there: pages of C that were used before are being pinned. */
int hy_place_pins(const hy_place *place);

/* The columns of all the chunk's entries, `packed` (partition/deltas.h), to their range. */
hybrid_status hy_place_unpack(const hy_place *place, const hy_job *job,
                              const void *packed);

/* Store where the chunk's rows start, and `count` of its entries from `first` on, which
   lie at the front of job->back. If there are gaps between rows, hy_place_store() does
   both, for all entries. Chunks may be stored in any order, at once. */
hybrid_status hy_place_store_offsets(const hy_place *place, const hy_job *job);
hybrid_status hy_place_store(hy_place *place, const hy_job *job, int64_t first,
                             int64_t count);

/* All rows are stored: hand the arrays out. */
hybrid_status hy_place_finish(hy_place *place, hybrid_csr *C);

#endif /* HY_PLACE_H */
