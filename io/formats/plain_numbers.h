/* io/formats/plain_numbers.h - numbers that lie in a file as they lie in memory,
   little-endian and without gaps.

   Numbers are read with pread(). An I/O error, or a file that has become shorter, then
   gives a status and a sentence, where reading mapped pages would end the process. */
#ifndef HY_PLAIN_NUMBERS_H
#define HY_PLAIN_NUMBERS_H

#include "base/contract/stored.h"

/* Opens `path` to read `count` numbers of `size` bytes from byte `offset` on. The caller
   ensures that the end of the numbers fits int64_t.

   IO_FAILED, with the system's reason, if the file cannot be opened; BAD_FILE if it is no
   regular file or too short. If reading fails later, IO_FAILED names file and byte. */
hybrid_status hy_plain_numbers_open(hy_context *ctx, const char *path, int64_t offset,
                                    int64_t count, size_t size, hy_stored *out);

/* Takes over the open file `fd`, which begins with `count` numbers that the library has
   written, and closes it also after a failure. Messages call it the temporary data of
   `name`. NO_MEMORY. */
hybrid_status hy_plain_numbers_take(hy_context *ctx, const char *name, int fd,
                                    int64_t count, size_t size, hy_stored *out);

#endif /* HY_PLAIN_NUMBERS_H */
