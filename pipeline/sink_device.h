/* pipeline/sink_device.h - results in the memory of the device that computes: Y of the
   caller, and a C that is left there.

   Parts come by lanes, and nothing is stored by workers. Of a C the number of entries is not
   known before the last part: each has arrays of its own until then, which are copied on
   the device in the end, unless it is the only one. */
#ifndef HY_SINK_DEVICE_H
#define HY_SINK_DEVICE_H

#include "pipeline/sink_dense.h"

/* All rows of Y. */
void hy_device_dense_sink_open(hy_context *ctx, const hy_update *update,
                               hy_dense_sink *out);

#endif /* HY_SINK_DEVICE_H */
