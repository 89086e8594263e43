/* base/data/stored.h - numbers in a file, little-endian and without gaps.

   Numbers are read with pread(). An I/O error, or a file that has become shorter, then
   gives a status and a sentence, where reading mapped pages would end the process. */
#ifndef HY_STORED_H
#define HY_STORED_H

#include "base/contract/context.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hy_stored {
    hy_context *ctx;
    char *path;     /* copy of the path, hy_array memory */
    int64_t offset; /* position of the first number, in bytes */
    int fd;
} hy_stored;

/* Opens `path` to read `bytes` bytes from `offset` on; the sum must not overflow.
   IO_FAILED, with the system's reason, if it cannot be opened; BAD_FILE if it is no
   regular file or too short. */
hybrid_status hy_stored_open(hy_context *ctx, const char *path, int64_t offset,
                             int64_t bytes, hy_stored *out);
void hy_stored_close(hy_stored *stored); /* accepts a zeroed struct */

/* Reads bytes [at, at + bytes) of the numbers. Any thread may call it. IO_FAILED names
   file and offset. */
hybrid_status hy_stored_read(const hy_stored *stored, int64_t at, void *to, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif /* HY_STORED_H */
