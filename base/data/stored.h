/* base/data/stored.h - numbers in a file, as they lie in memory: little endian, without a
   gap.

   They are read by pread(): an I/O error, or a file that has become shorter, is a status
   and a sentence, where reading mapped pages would end the process. */
#ifndef HY_STORED_H
#define HY_STORED_H

#include "base/contract/context.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hy_stored {
    hy_context *ctx;
    char *path; /* hy_array memory */
    int64_t offset; /* of the first, in bytes */
    int fd;
} hy_stored;

/* Open `path`, in which `bytes` bytes from `offset` on are wanted; the sum does not
   overflow. IO_FAILED and the system's reason when it cannot be opened; BAD_FILE when it is
   no regular file, or ends before. */
hybrid_status hy_stored_open(hy_context *ctx, const char *path, int64_t offset,
                             int64_t bytes, hy_stored *out);
void hy_stored_close(hy_stored *stored); /* zeroed is fine */

/* Bytes [at, at + bytes) of the numbers. By any thread. IO_FAILED names file and offset. */
hybrid_status hy_stored_read(const hy_stored *stored, int64_t at, void *to, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif /* HY_STORED_H */
