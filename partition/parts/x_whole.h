/* partition/parts/x_whole.h - reads all of an X in a file. */
#ifndef HY_X_WHOLE_H
#define HY_X_WHOLE_H

#include "base/contract/source.h"

/* Reads X into *own, in the order (row- or column-major) of the source, and describes it
   in *out. All workers read. Adds the time and the bytes to the report. The caller frees
   *own, even after a failure. */
hybrid_status hy_x_read_whole(const hy_source *source, hy_reused *own, hybrid_dense *out,
                              hybrid_report *report);

#endif /* HY_X_WHOLE_H */
