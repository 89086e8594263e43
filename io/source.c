/* io/source.c - the whole contents of a file: mapped, read from a pipe, or inflated. */
#include "io/io.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "io/digits.h"

enum { FIRST_BYTES = 1 << 16, AFTER = 1 + HY_TEXT_PAD /* bytes behind a text */ };

static hybrid_status fail_system(hy_context *ctx, const char *path, const char *verb)
{
    return hy_fail(ctx, HYBRID_IO_FAILED, "cannot %s '%s': %s", verb, path,
                   strerror(errno));
}

/* ---- an array that grows with the data ------------------------------------------ */

typedef struct growing {
    char *ptr;
    size_t bytes, room; /* ptr holds room + AFTER */
} growing;

static hybrid_status grow(hy_context *ctx, growing *t, size_t room)
{
    void *bigger;

    HY_TRY(hy_array(ctx, (int64_t)room + AFTER, 1, "contents of a file", &bigger));
    if (t->bytes > 0)
        memcpy(bigger, t->ptr, t->bytes);
    hy_array_free(ctx, t->ptr);
    t->ptr  = bigger;
    t->room = room;
    return HYBRID_OK;
}

static void adopt(hy_source *source, growing *t)
{
    memset(t->ptr + t->bytes, 0, AFTER);
    source->text  = t->ptr;
    source->bytes = t->bytes;
    source->array = t->ptr;
}

/* ---- three ways to get at the bytes --------------------------------------------- */

/* The pages of the file lie over an anonymous mapping that is one page longer when
   needed: what follows the file's last byte are always readable zeros. */
static hybrid_status map_file(hy_context *ctx, int fd, size_t bytes, hy_source *source)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t all  = ((bytes + AFTER - 1) / page + 1) * page;

    void *map = mmap(NULL, all, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
        return fail_system(ctx, source->path, "map");
    source->map       = map;
    source->map_bytes = all;
    if (bytes > 0 &&
        mmap(map, bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED)
        return fail_system(ctx, source->path, "map");
    source->text  = map;
    source->bytes = bytes;
    return HYBRID_OK;
}

static hybrid_status read_pipe(hy_context *ctx, int fd, hy_source *source)
{
    growing t            = {0};
    hybrid_status status = HYBRID_OK;

    HY_TRY_ELSE_DONE(grow(ctx, &t, FIRST_BYTES));
    for (;;) {
        if (t.bytes == t.room)
            HY_TRY_ELSE_DONE(grow(ctx, &t, 2 * t.room));
        const ssize_t got = read(fd, t.ptr + t.bytes, t.room - t.bytes);
        if (got < 0 && errno != EINTR)
            HY_TRY_ELSE_DONE(fail_system(ctx, source->path, "read"));
        if (got == 0)
            break;
        if (got > 0)
            t.bytes += (size_t)got;
    }
    adopt(source, &t);
    return HYBRID_OK;
done:
    hy_array_free(ctx, t.ptr);
    return status;
}

static hybrid_status open_bytes(hy_context *ctx, const char *path, hy_source *source)
{
    struct stat st;
    hybrid_status status;

    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail_system(ctx, path, "open");
    if (fstat(fd, &st) != 0) {
        status = fail_system(ctx, path, "open");
    } else if (S_ISDIR(st.st_mode)) {
        errno  = EISDIR;
        status = fail_system(ctx, path, "read");
    } else if (S_ISREG(st.st_mode)) {
        status = map_file(ctx, fd, (size_t)st.st_size, source);
    } else {
        status = read_pipe(ctx, fd, source);
    }
    close(fd);
    return status;
}

/* ---- gzip ----------------------------------------------------------------------- */

static int is_gzip(const char *text, size_t bytes)
{
    return bytes >= 2 && (unsigned char)text[0] == 0x1f && (unsigned char)text[1] == 0x8b;
}

/* A member has ended: 1 if another one follows, 0 at the end of the file (which may be
   padded with zeros), -1 if something else follows. */
static int next_member(z_stream *z, const char *end)
{
    const char *p = (const char *)z->next_in;

    if (is_gzip(p, (size_t)(end - p)))
        return 1;
    while (p < end && *p == 0)
        p++;
    return p == end ? 0 : -1;
}

static hybrid_status fail_gzip(hy_context *ctx, const hy_source *source, int code,
                               const z_stream *z)
{
    if (code == Z_MEM_ERROR)
        return hy_fail(ctx, HYBRID_NO_MEMORY, "no memory to inflate '%s'", source->path);
    if (code == Z_DATA_ERROR || code == Z_NEED_DICT)
        return hy_fail(ctx, HYBRID_BAD_FILE, "%s: the gzip data are damaged: %s",
                       source->path, z->msg ? z->msg : "dictionary needed");
    return hy_fail(ctx, HYBRID_BAD_FILE, "%s: the gzip data are truncated", source->path);
}

static hybrid_status inflate_all(hy_context *ctx, const hy_source *source, z_stream *z,
                                 growing *t)
{
    const char *end      = source->text + source->bytes;
    const size_t at_once = (size_t)1 << 30; /* zlib counts in unsigned int */

    for (;;) {
        if (t->bytes == t->room)
            HY_TRY(grow(ctx, t, 2 * t->room));
        const size_t left  = (size_t)(end - (const char *)z->next_in);
        const size_t space = t->room - t->bytes;
        z->avail_in        = (uInt)(left < at_once ? left : at_once);
        z->avail_out       = (uInt)(space < at_once ? space : at_once);
        z->next_out        = (Bytef *)t->ptr + t->bytes;
        const int code     = inflate(z, Z_NO_FLUSH);
        t->bytes           = (size_t)((char *)z->next_out - t->ptr);
        if (code == Z_STREAM_END) {
            const int next = next_member(z, end);
            if (next < 0)
                return hy_fail(ctx, HYBRID_BAD_FILE, "%s: bytes follow the gzip data",
                               source->path);
            if (next == 0)
                return HYBRID_OK;
            inflateReset(z);
        } else if (code != Z_OK) {
            return fail_gzip(ctx, source, code, z);
        }
    }
}

/* Replace the compressed bytes of `source` by what they stand for. */
static hybrid_status gunzip(hy_context *ctx, hy_source *source)
{
    growing t            = {0};
    z_stream z           = {0};
    hybrid_status status = HYBRID_OK;
    const char *path     = source->path;

    if (inflateInit2(&z, 15 + 16) != Z_OK) /* largest window, gzip header */
        return hy_fail(ctx, HYBRID_NO_MEMORY, "no memory to inflate '%s'", path);
    z.next_in = (z_const Bytef *)source->text;
    HY_TRY_ELSE_DONE(grow(ctx, &t, FIRST_BYTES + 4 * source->bytes));
    HY_TRY_ELSE_DONE(inflate_all(ctx, source, &z, &t));
    hy_source_close(ctx, source);
    source->path = path;
    adopt(source, &t);
    t.ptr = NULL;
done:
    hy_array_free(ctx, t.ptr);
    inflateEnd(&z);
    return status;
}

/* ---- what the readers call ------------------------------------------------------ */

hybrid_status hy_source_open(hy_context *ctx, const char *path, hy_source *out)
{
    hybrid_status status;

    *out = (hy_source){.path = path};
    HY_TRY_ELSE_DONE(open_bytes(ctx, path, out));
    if (is_gzip(out->text, out->bytes))
        HY_TRY_ELSE_DONE(gunzip(ctx, out));
    return HYBRID_OK;
done:
    hy_source_close(ctx, out);
    return status;
}

hybrid_status hy_source_copy(hy_context *ctx, const char *name, const void *data,
                             size_t bytes, hy_source *out)
{
    growing t = {0};
    hybrid_status status;

    *out = (hy_source){.path = name};
    HY_TRY(grow(ctx, &t, bytes));
    if (bytes > 0)
        memcpy(t.ptr, data, bytes);
    t.bytes = bytes;
    adopt(out, &t);
    if (is_gzip(out->text, out->bytes))
        HY_TRY_ELSE_DONE(gunzip(ctx, out));
    return HYBRID_OK;
done:
    hy_source_close(ctx, out);
    return status;
}

void hy_source_close(hy_context *ctx, hy_source *source)
{
    if (source->map)
        munmap(source->map, source->map_bytes);
    hy_array_free(ctx, source->array);
    *source = (hy_source){0};
}
