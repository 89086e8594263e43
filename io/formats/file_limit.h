/* io/formats/file_limit.h - the limit of the process on the size of files. */
#ifndef HY_FILE_LIMIT_H
#define HY_FILE_LIMIT_H

#include <stddef.h>
#include <stdint.h>

/* Returns -1 if `bytes` bytes may be written at position `at` of a file. Otherwise returns
   the limit (RLIMIT_FSIZE), in bytes, and sets errno to EFBIG. A write beyond the limit
   would end the process by the signal SIGXFSZ. */
int64_t hy_file_limit(int64_t at, size_t bytes);

#endif /* HY_FILE_LIMIT_H */
