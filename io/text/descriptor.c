/* io/text/descriptor.c - opens paths that stand for open files of the process. */
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "io/text/io.h"

/* Returns the value of a text that consists of digits only; -1 for other texts and for
   values above INT_MAX. */
static int whole_number(const char *text)
{
    int64_t n = 0;

    if (*text == '\0')
        return -1;
    for (; *text; text++) {
        if (*text < '0' || *text > '9' || n > INT_MAX / 10)
            return -1;
        n = n * 10 + (*text - '0');
    }
    return n > INT_MAX ? -1 : (int)n;
}

static int descriptor_of(const char *path)
{
    static const char *const names[]   = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};

    for (int i = 0; i < 3; i++)
        if (strcmp(path, names[i]) == 0)
            return i;
    for (int i = 0; i < 2; i++)
        if (strncmp(path, folders[i], strlen(folders[i])) == 0)
            return whole_number(path + strlen(folders[i]));
    return -1;
}

int hy_is_descriptor(const char *path)
{
    return descriptor_of(path) >= 0;
}

int hy_open(const char *path, int flags)
{
    const int descriptor = descriptor_of(path);

    return descriptor >= 0 ? fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
                           : open(path, flags | O_CLOEXEC);
}
