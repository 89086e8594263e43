/* io/numbers/spill.c - a file without a name that holds inflated numbers. */
#include "io/numbers/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *folder(void)
{
    const char *usual = getenv("TMPDIR");

    return usual && usual[0] ? usual : "/tmp";
}

static hybrid_status failed(hy_context *ctx)
{
    const int error = errno;
    char text[128]  = "";

    return hy_fail(ctx, HYBRID_IO_FAILED,
                   "cannot write a temporary file in '%s': %s; set TMPDIR to a folder "
                   "with more room",
                   folder(), strerror_r(error, text, sizeof text));
}

/* Some file systems lack O_TMPFILE. */
static int create_and_unlink(void)
{
    char path[PATH_MAX];

    const int length = snprintf(path, sizeof path, "%s/hybrid_spmm.XXXXXX", folder());
    if (length >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    const int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

hybrid_status hy_spill_create(hy_context *ctx, int *fd)
{
    *fd = open(folder(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (*fd < 0 && errno != ENOENT)
        *fd = create_and_unlink();
    return *fd < 0 ? failed(ctx) : HYBRID_OK;
}

hybrid_status hy_spill_append(hy_context *ctx, int fd, const void *data, size_t bytes)
{
    for (const char *from = data; bytes > 0;) {
        const ssize_t put = write(fd, from, bytes);
        if (put < 0 && errno != EINTR)
            return failed(ctx);
        if (put > 0) {
            from += put;
            bytes -= (size_t)put;
        }
    }
    return HYBRID_OK;
}
