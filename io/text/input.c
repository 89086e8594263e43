/* io/text/input.c - the text of a file: mapped, or read and decompressed window by window
   (a window is the part of the text that is in memory). */
#include "io/text/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/data/min_max.h"
#include "io/text/decoder.h"
#include "io/text/digits.h"
#include "io/text/io_sizes.h"

enum { AFTER = 1 + HY_TEXT_PAD }; /* bytes of zeros behind a text */

/* A window takes at most 1 / WINDOWS_IN_BUDGET of the memory that the engine has left,
   or HY_HEAD_BYTES if that is more, since the items of a window may take several times
   its bytes. */
enum { WINDOWS_IN_BUDGET = 64 };

/* Source of windows: the bytes of the file, which are text or compressed text. */
typedef struct hy_stream {
    int fd;             /* descriptor of the file; -1: all its bytes are in [next, end) */
    hy_decoder decoder; /* closed if the bytes are text */
    const char *next, *end; /* decoder: bytes that are not decoded yet */
    char *array;            /* decoder: memory of HY_HEAD_BYTES that holds [next, end), or
                               NULL */
} hy_stream;

/* ---- bytes ------------------------------------------------------------------------ */

/* Reads `room` bytes; fewer only at the end of the file. */
static hybrid_status read_bytes(hy_context *ctx, const hy_input *input, char *to,
                                size_t room, size_t *bytes)
{
    *bytes = 0;
    while (*bytes < room) {
        const ssize_t got = read(input->stream->fd, to + *bytes, room - *bytes);
        if (got < 0 && errno != EINTR)
            return hy_fail_system(ctx, input->path, "read");
        if (got == 0)
            break;
        if (got > 0)
            *bytes += (size_t)got;
        hy_progress_add(&ctx->progress, got > 0 ? got : 0);
        HY_TRY(hy_progress_check(&ctx->progress));
    }
    return HYBRID_OK;
}

/* ---- compressed bytes ------------------------------------------------------------ */

/* The formats of compressed files; NULL ends the table. */
static const hy_decoder_ops *const decoders[] = {&hy_decoder_gzip, &hy_decoder_zstd,
                                                 NULL};

/* Makes sure that [next, end) has at least one byte, unless the file has ended. */
static hybrid_status refill(hy_context *ctx, const hy_input *input)
{
    hy_stream *s = input->stream;
    size_t bytes;

    if (s->next < s->end || s->fd < 0)
        return HYBRID_OK;
    HY_TRY(read_bytes(ctx, input, s->array, HY_HEAD_BYTES, &bytes));
    s->next = s->array;
    s->end  = s->array + bytes;
    return HYBRID_OK;
}

/* Decodes `room` bytes to `to`; fewer only at the end of the data. */
static hybrid_status decode_bytes(hy_context *ctx, const hy_input *input, char *to,
                                  size_t room, size_t *bytes)
{
    hy_stream *s  = input->stream;
    hy_decoder *d = &s->decoder;
    hy_flow flow  = {.to = to, .room = room};

    while (flow.room > 0) {
        HY_TRY(refill(ctx, input));
        if (d->is_between && s->next == s->end)
            break;
        flow.next = s->next;
        flow.end  = s->end;
        HY_TRY((d->is_between ? d->ops->begin : d->ops->decode)(d, &flow));
        if (s->fd < 0) /* bytes from a descriptor were counted when they were read */
            hy_progress_add(&ctx->progress, flow.next - s->next);
        s->next = flow.next;
    }
    *bytes = room - flow.room;
    return HYBRID_OK;
}

/* ---- windows ---------------------------------------------------------------------- */

/* Makes a window of `room` bytes that begins with the `left` bytes at `from`. */
static hybrid_status enlarge(hy_context *ctx, hy_input *input, size_t room,
                             const char *from, size_t left)
{
    void *array;

    HY_TRY(hy_array(ctx, (int64_t)room + AFTER, 1, "the text of a file", &array));
    if (left > 0)
        memcpy(array, from, left);
    hy_array_free(ctx, input->array);
    input->array = array;
    input->room  = room;
    return HYBRID_OK;
}

/* Reads more text into the window, behind its first `left` bytes. */
static hybrid_status fill(hy_context *ctx, hy_input *input, size_t left)
{
    hy_stream *s = input->stream;
    char *text   = input->array;
    size_t bytes;

    HY_TRY((s->decoder.ops ? decode_bytes : read_bytes)(ctx, input, text + left,
                                                        input->room - left, &bytes));
    input->text  = text;
    input->bytes = left + bytes;
    input->last  = input->bytes < input->room;
    memset(text + input->bytes, 0, AFTER);
    return HYBRID_OK;
}

/* Counts newlines, in counters of one byte so that compilers vectorise the loop. */
static int64_t count_lines(const char *p, const char *end)
{
    int64_t lines = 0;

    while (p < end) {
        const char *stop    = p + hy_smaller((size_t)(end - p), UINT8_MAX);
        unsigned char count = 0;
        for (; p < stop; p++)
            count = (unsigned char)(count + (*p == '\n'));
        lines += count;
    }
    return lines;
}

hybrid_status hy_input_next(hy_context *ctx, hy_input *input, const char *from)
{
    const size_t left = (size_t)(input->text + input->bytes - from);

    input->lines += count_lines(input->text, from);
    if (input->room < input->window)
        HY_TRY(enlarge(ctx, input, input->window, from, left));
    else
        memmove(input->array, from, left);
    return fill(ctx, input, left);
}

/* ---- three sources of bytes -------------------------------------------------------- */

/* Maps the file over an anonymous mapping that is one page longer if needed, so that
   readable zeros always follow the last byte. */
static hybrid_status map_file(hy_context *ctx, int fd, size_t bytes, hy_input *input)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t all  = ((bytes + AFTER - 1) / page + 1) * page;

    void *map = mmap(NULL, all, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
        return hy_fail_system(ctx, input->path, "map");
    input->map       = map;
    input->map_bytes = all;
    if (bytes > 0 &&
        mmap(map, bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED)
        return hy_fail_system(ctx, input->path, "map");
    input->text       = map;
    input->bytes      = bytes;
    input->file_bytes = (int64_t)bytes;
    input->last       = 1;
    return HYBRID_OK;
}

static hybrid_status open_stream(hy_context *ctx, int fd, hy_input *input)
{
    void *array;

    HY_TRY(hy_array(ctx, 1, sizeof(hy_stream), "a stream of bytes", &array));
    input->stream  = array;
    *input->stream = (hy_stream){.fd = fd};
    return HYBRID_OK;
}

/* Makes the descriptor, which the stream owns and closes, the source of windows. */
static hybrid_status read_pipe(hy_context *ctx, int fd, hy_input *input)
{
    const hybrid_status status = open_stream(ctx, fd, input);

    if (status != HYBRID_OK) {
        close(fd);
        return status;
    }
    const int64_t known = input->file_bytes < 0 ? HY_HEAD_BYTES : input->file_bytes + 1;
    HY_TRY(enlarge(ctx, input, hy_smaller(HY_HEAD_BYTES, (size_t)known), NULL, 0));
    return fill(ctx, input, 0);
}

/* Makes a regular file the source of windows, as read_pipe() does for a pipe. */
static hybrid_status read_regular(hy_context *ctx, int fd, int64_t bytes, hy_input *input)
{
    input->file_bytes = bytes;
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL); /* only makes reading faster */
    return read_pipe(ctx, fd, input);
}

/* Opens the file. Maps it if `maps` is 1 and it is a regular file read from its start;
   else reads its first window. */
static hybrid_status open_bytes(hy_context *ctx, const char *path, int maps,
                                hy_input *input)
{
    struct stat st;
    hybrid_status status;

    const int fd = hy_open(path, O_RDONLY);
    if (fd < 0)
        return hy_fail_system(ctx, path, "open");
    if (fstat(fd, &st) != 0) {
        status = hy_fail_system(ctx, path, "open");
    } else if (S_ISDIR(st.st_mode)) {
        errno  = EISDIR;
        status = hy_fail_system(ctx, path, "read");
    } else if (S_ISREG(st.st_mode) && lseek(fd, 0, SEEK_CUR) == 0) {
        if (!maps)
            return read_regular(ctx, fd, st.st_size, input);
        status = map_file(ctx, fd, (size_t)st.st_size, input);
    } else {
        return read_pipe(ctx, fd, input);
    }
    close(fd);
    return status;
}

/* If the first window is compressed, replaces it by the first window of decompressed
   text. Later windows are then decompressed, too. */
static hybrid_status decode_text(hy_context *ctx, hy_input *input)
{
    const hy_decoder_ops *const *ops = decoders;

    while (*ops && !(*ops)->is(input->text, input->bytes))
        ops++;
    if (!*ops)
        return HYBRID_OK;
    if (!input->stream)
        HY_TRY(open_stream(ctx, -1, input));
    /* the window of a small file may be too small for its decompressed text */
    if (input->array && input->room < HY_HEAD_BYTES) {
        HY_TRY(enlarge(ctx, input, HY_HEAD_BYTES, input->text, input->bytes));
        input->text = input->array;
    }
    hy_stream *s = input->stream;
    s->next      = input->text;
    s->end       = input->text + input->bytes;
    s->array     = input->array;
    input->array = NULL;
    s->decoder   = (hy_decoder){.ops = *ops, .ctx = ctx, .path = input->path};
    HY_TRY(s->decoder.ops->open(&s->decoder));
    HY_TRY(enlarge(ctx, input, HY_HEAD_BYTES, NULL, 0));
    return fill(ctx, input, 0);
}

/* ---- functions for readers ------------------------------------------------------ */

static hybrid_status open_input(hy_context *ctx, const char *path, int maps,
                                size_t window, hy_input *out)
{
    hybrid_status status;

    *out = (hy_input){.path = path, .file_bytes = -1, .window = window};
    HY_TRY_ELSE_DONE(open_bytes(ctx, path, maps, out));
    HY_TRY_ELSE_DONE(decode_text(ctx, out));
    return HYBRID_OK;
done:
    hy_input_close(ctx, out);
    return status;
}

hybrid_status hy_input_open(hy_context *ctx, const char *path, hy_input *out)
{
    return open_input(ctx, path, 1, hy_io_sizes_of(ctx)->window, out);
}

hybrid_status hy_input_open_windows(hy_context *ctx, const char *path, hy_input *out)
{
    const int64_t share = hy_meter_left(&ctx->memory.meter) / WINDOWS_IN_BUDGET;
    const size_t most   = (size_t)hy_max(share, HY_HEAD_BYTES);

    return open_input(ctx, path, 0, hy_smaller(hy_io_sizes_of(ctx)->window, most), out);
}

hy_input hy_input_take(hy_input *input)
{
    const hy_input taken = *input;

    *input = (hy_input){.path = taken.path};
    return taken;
}

hybrid_status hy_input_copy(hy_context *ctx, const char *name, const void *data,
                            size_t bytes, hy_input *out)
{
    hybrid_status status;

    *out = (hy_input){.path       = name,
                      .last       = 1,
                      .file_bytes = (int64_t)bytes,
                      .window     = hy_io_sizes_of(ctx)->window};
    HY_TRY_ELSE_DONE(enlarge(ctx, out, bytes, data, bytes));
    out->text  = out->array;
    out->bytes = bytes;
    memset((char *)out->array + bytes, 0, AFTER);
    HY_TRY_ELSE_DONE(decode_text(ctx, out));
    return HYBRID_OK;
done:
    hy_input_close(ctx, out);
    return status;
}

/* Returns the number of bytes of the file that its stream has used so far. */
static int64_t taken(const hy_input *input)
{
    const hy_stream *s = input->stream;

    if (!s)
        return 0;
    if (s->decoder.ops)
        return s->fd < 0 ? input->file_bytes - (s->end - s->next) : s->end - s->array;
    return (int64_t)input->bytes;
}

void hy_input_begin(hy_context *ctx, const hy_input *input)
{
    hy_progress_begin_file(&ctx->progress, input->file_bytes);
    hy_progress_add(&ctx->progress, taken(input));
}

void hy_input_took(hy_context *ctx, const hy_input *input, int64_t bytes)
{
    if (!input->stream)
        hy_progress_add(&ctx->progress, bytes);
}

static void close_stream(hy_context *ctx, hy_stream *stream)
{
    if (stream->decoder.ops)
        stream->decoder.ops->close(&stream->decoder);
    if (stream->fd >= 0)
        close(stream->fd);
    hy_array_free(ctx, stream->array);
    hy_array_free(ctx, stream);
}

void hy_input_close(hy_context *ctx, hy_input *input)
{
    if (input->stream)
        close_stream(ctx, input->stream);
    if (input->map)
        munmap(input->map, input->map_bytes);
    hy_array_free(ctx, input->array);
    *input = (hy_input){0};
}
