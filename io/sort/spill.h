/* io/sort/spill.h - temporary files for data that do not fit the budget of host memory.

   A spill has no name, so that nothing of it remains however the process ends. */
#ifndef HY_SPILL_H
#define HY_SPILL_H

#include "base/contract/context.h"

/* A temporary file. A zeroed struct stands for none. */
typedef struct hy_spill {
    hy_context *ctx; /* NULL: the spill is closed */
    int fd;
} hy_spill;

/* Returns the folder in which spills are created. */
const char *hy_spill_folder(const hy_context *ctx);

/* Returns how many bytes may be written to the folder, or INT64_MAX if the system does not
   know. */
int64_t hy_spill_left(const hy_context *ctx);

/* Creates an empty spill. IO_FAILED names the folder and the system's reason. */
hybrid_status hy_spill_open(hy_context *ctx, hy_spill *out);

/* Write or read `bytes` bytes at byte `at`. Any thread may call them. IO_FAILED names the
   folder and the system's reason, such as a full disk. Writing is CANCELLED if the call is
   cancelled. */
hybrid_status hy_spill_write(const hy_spill *spill, const void *data, size_t bytes,
                             int64_t at);
hybrid_status hy_spill_read(const hy_spill *spill, void *to, size_t bytes, int64_t at);

void hy_spill_close(hy_spill *spill); /* accepts a zeroed struct */

#endif /* HY_SPILL_H */
