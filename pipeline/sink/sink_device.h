/* pipeline/sink/sink_device.h - stores results in the memory of the device that computes:
   the caller's Y, and a C that stays in device memory.

   Lanes write the parts to the result; workers store nothing. The number of entries of C
   is unknown before the last part, so each part has arrays of its own. At the end the
   device copies these arrays into one, unless C has only one part. */
#ifndef HY_SINK_DEVICE_H
#define HY_SINK_DEVICE_H

#include "pipeline/sink/sink_csr.h"
#include "pipeline/sink/sink_dense.h"

/* Opens a sink for all rows of Y. */
void hy_device_dense_sink_open(hy_context *ctx, const hy_update *update,
                               hy_dense_sink *out);

/* Sink of C. Parts must come in order of rows. */
typedef struct hy_device_csr_sink {
    hy_sink sink; /* must be first: the sink's functions cast it to this struct */
    hy_backend *device;
    hy_csr_shape shape;
    hybrid_csr *result; /* receives the result when the sink is finished */
    int64_t *row_ptr;   /* rows + 1 offsets, in device memory */
    hy_lane *lane;      /* lane that wrote the last part; NULL before the first part */
    struct hy_device_piece *first, **end; /* list of the parts, in order of rows */
    int64_t next_row;                     /* number of rows reserved so far */
} hy_device_csr_sink;

/* Opens a sink for *result as hy_csr_sink_open() does; shape->known is ignored. The
   arrays of C belong to the list in base/memory/device_results.h. */
hybrid_status hy_device_csr_sink_open(hy_context *ctx, hy_backend *device,
                                      const hy_csr_shape *shape, hybrid_csr *result,
                                      hy_device_csr_sink *out);

#endif /* HY_SINK_DEVICE_H */
