/* pipeline/sink/sink_csr.h - stores a result in CSR.

   Size unknown: the sink reserves address space for an upper bound and fills it in order
   of rows. Pages that C does not need are never touched. Idle workers prefault pages
   ahead of the copies.

   Size known (later runs of a plan): the result has its exact size from the start, and a
   part's place is known before the part is computed.

   Several products: each makes the rows after those of the product before it. The result
   is handed out after the last product.

   Fresh pages lie on the NUMA node of the device that computes their entries. If devices
   have different nodes, that is known only when a part is reserved. Pages are then not
   prefaulted ahead, but by all workers before the part is stored.

   A device copies directly to pinned pages. It may send columns delta-coded
   (partition/move/deltas.h), and workers decode them. Parts have 32-bit columns. If the
   result has 64-bit columns, workers convert them and nothing is copied directly.

   HYBRID_INDEX_AUTO: if the upper bound does not decide the index types, offsets are
   stored in 64 bits and columns in 32, which suits any number of entries. At the end one
   of the two arrays is converted. */
#ifndef HY_SINK_CSR_H
#define HY_SINK_CSR_H

#include "base/contract/sink.h"
#include "pipeline/sink/prefault.h"

typedef struct hy_csr_sink {
    hy_sink sink; /* must be first: the sink's functions cast it to this struct */
    int64_t rows, cols;
    hybrid_type type;
    hybrid_csr *result; /* receives the result when the sink is finished */
    hy_span row_ptr, col, val;
    const int64_t *known; /* row_ptr of the result, rows + 1 offsets, if the size is
                             known; else NULL */
    int64_t first_row;    /* row of the result that is row 0 of the current product */
    int64_t end_row;      /* row after the last one of the current product */
    int64_t next_row;     /* size unknown: first row whose place in C is not reserved */
    int64_t reserved;     /* number of rows whose place in C is reserved */
    hybrid_index offset_type, col_type; /* types of the offsets and columns that are
                                           stored */
    int64_t index_max;                  /* maximum number of entries of a result with
                                           32-bit offsets */
    int undecided;                      /* 1: the index types are decided at the end, when
                                           one array is converted */
    int home;                           /* as in hy_csr_shape */
    int64_t total;                      /* for error sentences: C has at least this many
                                           entries */
    const char *remedy;
    hy_prefault prefault;
} hy_csr_sink;

/* Shape of a result: rows x cols. If `known` is NULL, it has at most `bound` and probably
   about `expected` entries; else `known` is its row_ptr (borrowed). */
typedef struct hy_csr_shape {
    int64_t rows, cols;
    hybrid_type type;
    int64_t bound, expected;
    int64_t total;      /* for error sentences: expected entries of C if several products
                           make it, else 0. Pages are prefaulted for `expected`
                           entries. */
    const char *remedy; /* advice if C exceeds host memory: hy_memory_full() */
    const int64_t *known;
    hybrid_index offsets, columns; /* index types; HYBRID_INDEX_AUTO: the sink chooses
                                      them by the number of entries */
    int64_t index_max;             /* maximum number of entries of a result with 32-bit
                                      offsets */
    int home; /* hy_backend_home() of the devices that compute C; HY_HOMES_DIFFER if it is
                 not the same for all */
} hy_csr_shape;

hybrid_status hy_csr_sink_open(hy_context *ctx, const hy_csr_shape *shape,
                               hybrid_csr *result, hy_csr_sink *out);

/* sink_csr_deltas.c: the operations accepts_deltas and store_deltas of the sink. */
int hy_csr_accepts_deltas(const hy_sink *sink);
hybrid_status hy_csr_store_deltas(hy_sink *sink, const hy_part *part, const void *deltas);

#endif /* HY_SINK_CSR_H */
