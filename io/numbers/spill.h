/* io/numbers/spill.h - a file without a name that holds inflated numbers. */
#ifndef HY_SPILL_H
#define HY_SPILL_H

#include "base/contract/stored.h"

/* Creates a file without a name in the folder of temporary files. The system removes the
   file when it is closed. Returns its descriptor in *fd. IO_FAILED names the folder. */
hybrid_status hy_spill_create(hy_context *ctx, int *fd);

/* Appends bytes. IO_FAILED names the folder and the system's reason. */
hybrid_status hy_spill_append(hy_context *ctx, int fd, const void *data, size_t bytes);

#endif /* HY_SPILL_H */
