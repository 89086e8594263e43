/* engine/files/spgemm_parts.h - C = A*B, part by part of A.

   A caller begins a product, opens a sink for its rows, multiplies, and ends it. A
   caller that only predicts begins a product and forecasts. */
#ifndef HY_SPGEMM_PARTS_H
#define HY_SPGEMM_PARTS_H

#include "base/contract/sink.h"
#include "engine/files/files.h"
#include "partition/parts/b_rows.h"

/* State of one call of a public function that computes C = A*B part by part. */
typedef struct hy_spgemm {
    hy_files call;
    hy_sparse A, B;
    int64_t row_bytes;  /* maximum bytes of the rows of B for a single row of A, if those of
                           the next row are gathered meanwhile */
    int64_t rows_bytes; /* maximum bytes of the rows of B for a range of rows of A. The
                           rows for two ranges are in memory. hy_spgemm_begin() sets it */
    hy_a_parts a_parts; /* parts of A */
    hy_b_rows b_rows;   /* rows of B that the part of A in work touches */
    hy_sink *sink;      /* sink of C, which the caller sets */
    int64_t next; /* first row of C that the caller has not received from the sink yet. It
                     is set by a caller that goes on after an error */
} hy_spgemm;

/* Estimated use of memory while a range of rows is multiplied, and of time in all. */
typedef struct hy_spgemm_estimate {
    int64_t host_bytes, device_bytes, pinned_bytes; /* maximum bytes in use at a time */
    int64_t read_bytes; /* bytes of A and B that are read from files */
    double read_s;      /* seconds of reading them, beside the multiplication */
    double multiply_s;  /* seconds of planning and multiplying all ranges */
} hy_spgemm_estimate;

/* Begins a call: finds the operands, and checks their shapes and the options. */
hybrid_status hy_spgemm_begin(hy_spgemm *p, hybrid_engine *engine,
                              const hybrid_operand *A, const hybrid_operand *B,
                              const hybrid_plan_options *options);

/* Reads each operand completely that is in a file and small enough (hy_files_whole()),
   and checks operands in memory. A file given as both A and B is read once. */
hybrid_status hy_spgemm_read_small(hy_spgemm *p);

/* Computes rows of C, from row `first` to the last. Aborts the sink after an error. */
hybrid_status hy_spgemm_multiply(hy_spgemm *p, int64_t first);

/* Forecasts what hy_spgemm_multiply() needs from row 0 on. Reads and plans the first range
   of rows of A and one in the middle of A, and multiplies nothing. The other ranges are
   assumed to be like these. */
hybrid_status hy_spgemm_forecast(hy_spgemm *p, hy_spgemm_estimate *out);

/* Completes the report of the call, which has made `nnz` entries. */
void hy_spgemm_end(hy_spgemm *p, int64_t nnz);

/* Frees operands that were read completely. */
void hy_spgemm_release(hy_spgemm *p);

#endif /* HY_SPGEMM_PARTS_H */
