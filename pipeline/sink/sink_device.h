/* pipeline/sink/sink_device.h - results in the memory of the device that computes: Y of
   the caller, and a C that is left there.

   Parts come by lanes, and nothing is stored by workers. Of a C the number of entries is not
   known before the last part: each has arrays of its own until then, which are copied on
   the device in the end, unless it is the only one. */
#ifndef HY_SINK_DEVICE_H
#define HY_SINK_DEVICE_H

#include "pipeline/sink/sink_csr.h"
#include "pipeline/sink/sink_dense.h"

/* All rows of Y. */
void hy_device_dense_sink_open(hy_context *ctx, const hy_update *update,
                               hy_dense_sink *out);

/* Of which parts come in order of rows. */
typedef struct hy_device_csr_sink {
    hy_sink sink; /* first */
    hy_backend *device;
    hy_csr_shape shape;
    hybrid_csr *result; /* set by finish() */
    int64_t *row_ptr;   /* rows+1, on the device */
    hy_lane *lane;      /* that brought the last part; NULL: there was none */
    struct hy_device_piece *first, **end; /* parts, in order */
    int64_t next_row, nnz;                /* of the parts that are reserved */
} hy_device_csr_sink;

/* What becomes of *result, as hy_csr_sink_open() has it; what is known of its offsets is not
   of use. Its arrays are of base/memory/device_results.h. */
hybrid_status hy_device_csr_sink_open(hy_context *ctx, hy_backend *device,
                                      const hy_csr_shape *shape, hybrid_csr *result,
                                      hy_device_csr_sink *out);

#endif /* HY_SINK_DEVICE_H */
