/* pipeline/sink/sink_csr.h - a result in CSR.

   Address space is reserved by the upper bound on its entries and filled in order of
   rows; what is not used was never touched. Idle workers make pages ready ahead of the
   copies. In later runs of a plan the offsets of the rows are known: then the result has
   its exact size from the start, and parts have their place before they are computed.

   Rows may come from one product, or from several, each of which makes those after the
   rows of the one before: the result is handed out at the end of the last.

   A device copies to pages that are pinned itself, and may bring columns delta-coded
   (partition/move/deltas.h), which workers decode to their place. Parts have columns of 32 bits:
   to 64 workers widen them, so that nothing is copied directly.

   Where offsets and columns are to have 32 bits or 64 by the number of entries, and the
   bound does not tell which, offsets are stored in 64 bits and columns in 32: either is
   right, whatever comes. In the end the other of the two is converted. */
#ifndef HY_SINK_CSR_H
#define HY_SINK_CSR_H

#include "base/contract/sink.h"
#include "pipeline/sink/prefault.h"

typedef struct hy_csr_sink {
    hy_sink sink; /* first */
    int64_t rows, cols;
    hybrid_type type;
    hybrid_csr *result; /* set by finish() */
    hy_span row_ptr, col, val;
    const int64_t *known; /* row_ptr of the result, rows+1; NULL: not known */
    int64_t first_row;    /* of the result, that is row 0 of the product at hand, */
    int64_t end_row;      /* and the one after its last */
    int64_t next_row;     /* unless known: rows before it have their place */
    int64_t taken;        /* rows that have their place, */
    int64_t nnz;          /* and their entries */
    hybrid_index offset_type, col_type; /* as they are stored */
    int64_t index_max;                  /* entries whose offsets fit 32 bits */
    int undecided;                      /* one of them is converted in the end */
    int64_t total;                      /* entries of C that sentences tell of */
    const char *remedy;
    hy_prefault ahead;
} hy_csr_sink;

/* What becomes of *result: rows x cols with at most `bound` entries, probably about
   `expected`; or with the offsets `known` (borrowed), unless NULL. On failure nothing is
   held. */
typedef struct hy_csr_shape {
    int64_t rows, cols;
    hybrid_type type;
    int64_t bound, expected;
    int64_t total;      /* expected entries if several products make C, else 0: pages are not
                           made ready for as many */
    const char *remedy; /* against a C that exceeds host memory: hy_memory_full() */
    const int64_t *known;
    hybrid_index offsets, columns; /* HYBRID_INDEX_AUTO: both, by the number of entries */
    int64_t index_max;             /* entries whose offsets fit 32 bits */
} hy_csr_shape;

hybrid_status hy_csr_sink_open(hy_context *ctx, const hy_csr_shape *shape,
                               hybrid_csr *result, hy_csr_sink *out);

/* The product that begins makes rows [first, end), of all of which about so many entries
   are expected. Without this call it makes all. */
void hy_csr_sink_part(hy_csr_sink *sink, int64_t first, int64_t end, int64_t expected);

/* sink_csr_deltas.c: the operations takes_deltas and store_deltas of the sink. */
int hy_csr_takes_deltas(const hy_sink *sink);
hybrid_status hy_csr_store_deltas(hy_sink *sink, const hy_part *part, const void *deltas);

#endif /* HY_SINK_CSR_H */
