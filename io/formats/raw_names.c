/* io/formats/raw_names.c - names of the files and folders that hold the numbers of a
   description. */
#include "io/formats/raw_names.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io/text/io.h"
#include "io/text/json_string.h"

const char *hy_base_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

hybrid_status hy_raw_name(hy_context *ctx, const char *target, int number,
                          const char *ending, char to[HY_NAME_BYTES])
{
    const char *base = hy_base_of(target), *dot = strrchr(base, '.');
    const size_t stem = dot && dot > base ? (size_t)(dot - target) : strlen(target);
    char middle[16]   = "";

    if (number > 0)
        snprintf(middle, sizeof middle, ".%d", number);
    if (stem + strlen(middle) + strlen(ending) >= HY_NAME_BYTES)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                       "a path of %zu bytes is too long for a file", strlen(target));
    snprintf(to, HY_NAME_BYTES, "%.*s%s%s", (int)stem, target, middle, ending);
    return HYBRID_OK;
}

/* Writes the beginning of a name as a description has it, with a quote and escapes. */
static void quote(const char *name, char *to)
{
    *to++ = '"';
    for (; *name; name++)
        to += hy_json_string_encode(*name, to);
    *to = '\0';
}

/* Returns 1 if the text is in the first HY_HEAD_BYTES of the file, which `memory` has
   room for. A description is not longer. */
static int file_holds(const char *path, const char *text, char *memory)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0)
        return 0;
    const ssize_t bytes = pread(fd, memory, HY_HEAD_BYTES, 0);
    close(fd);
    return bytes > 0 && memmem(memory, (size_t)bytes, text, strlen(text)) != NULL;
}

hybrid_status hy_raw_is_old(hy_context *ctx, const char *target, const char *name,
                            int *is_old)
{
    char wanted[6 * HY_NAME_BYTES + 2]; /* an escape has at most 6 bytes */
    void *memory;

    *is_old = 0;
    if (access(target, F_OK) != 0)
        return HYBRID_OK;
    HY_TRY(hy_array(ctx, HY_HEAD_BYTES, 1, "the description of a file", &memory));
    quote(name, wanted);
    *is_old = !file_holds(target, wanted, memory);
    hy_array_free(ctx, memory);
    return HYBRID_OK;
}

hybrid_status hy_raw_names_are_taken(hy_context *ctx, const char *target,
                                     const char *last)
{
    return hy_fail(ctx, HYBRID_BAD_STATE,
                   "%s: the names of its numbers are taken up to '%s'; remove those that "
                   "no description needs",
                   target, last);
}
