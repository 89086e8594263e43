/* io/formats/file_limit.c - the limit of the process on the size of files. */
#include "io/formats/file_limit.h"

#include <errno.h>
#include <sys/resource.h>

int64_t hy_file_limit(int64_t at, size_t bytes)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
        (rlim_t)at + bytes <= limit.rlim_cur)
        return -1;
    errno = EFBIG;
    return (int64_t)limit.rlim_cur;
}
