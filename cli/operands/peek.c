/* cli/operands/peek.c - looks at the beginning of an operand without consuming it. */
#include "cli/operands/peek.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

enum { TRIES = 100, PAUSE_NS = 10000000 };

/* ---- bytes ----------------------------------------------------------------------- */

/* Waits until a pipe contains bytes or has ended, and copies what it contains to `text`;
   tee() duplicates the bytes without consuming them. Returns their number; 0 if the pipe
   has ended. */
static size_t peek_once(int fd, char *text, size_t room)
{
    int ends[2];
    ssize_t got = -1;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return 0;
    if (tee(fd, ends[1], room, 0) > 0)
        got = read(ends[0], text, room);
    close(ends[0]);
    close(ends[1]);
    return got > 0 ? (size_t)got : 0;
}

/* Repeats peek_once() until `text` has a complete line or is full, at most TRIES times,
   because a program may write its first line in several pieces. */
static size_t peek_pipe(int fd, char *text, size_t room)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    size_t bytes                = peek_once(fd, text, room);

    for (int i = 0; i < TRIES && bytes > 0 && bytes < room && !memchr(text, '\n', bytes);
         i++) {
        nanosleep(&pause, NULL);
        bytes = peek_once(fd, text, room);
    }
    return bytes;
}

/* Copies the first bytes of a file or pipe. Does not move the offset of the
   descriptor. */
static size_t peek_descriptor(int fd, char *text, size_t room)
{
    struct stat st;

    if (fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode))
        return peek_pipe(fd, text, room);
    const off_t at    = lseek(fd, 0, SEEK_CUR);
    const ssize_t got = at >= 0 ? pread(fd, text, room, at) : -1;
    return got > 0 ? (size_t)got : 0;
}

static size_t peek_file(const char *path, char *text, size_t room)
{
    struct stat st;

    /* opening a pipe would wait for its writer, and closing it would end the writer */
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    const size_t bytes = peek_descriptor(fd, text, room);
    close(fd);
    return bytes;
}

/* ---- gzip ------------------------------------------------------------------------ */

/* Copies the `bytes` bytes at `raw` to `text`, inflated if they are gzip data, as far as
   there is room. */
static size_t inflate_head(char *raw, size_t bytes, char *text, size_t room)
{
    z_stream z = {.next_in   = (z_const Bytef *)raw,
                  .avail_in  = (uInt)bytes,
                  .next_out  = (Bytef *)text,
                  .avail_out = (uInt)room};

    if (bytes < 2 || raw[0] != '\x1f' || raw[1] != '\x8b') {
        memcpy(text, raw, bytes);
        return bytes;
    }
    if (inflateInit2(&z, 15 + 16) != Z_OK)
        return 0;
    inflate(&z, Z_SYNC_FLUSH);
    inflateEnd(&z);
    return room - z.avail_out;
}

size_t cli_peek(const char *name, char text[CLI_PEEK_BYTES])
{
    const size_t room = CLI_PEEK_BYTES - 1;
    char raw[CLI_PEEK_BYTES];
    const size_t bytes = strcmp(name, "-") == 0 ? peek_descriptor(STDIN_FILENO, raw, room)
                                                : peek_file(name, raw, room);
    const size_t inflated = inflate_head(raw, bytes, text, room);

    text[inflated] = '\0';
    return inflated;
}
