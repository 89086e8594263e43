/* io/npz/zip_read.c - reads the members of a ZIP file. */
#include "io/npz/zip_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/data/min_max.h"
#include "base/memory/shortage.h"
#include "io/formats/plain_numbers.h"
#include "io/npz/zip_bytes.h"
#include "io/sort/spill.h"

enum {
    STORED        = 0,
    DEFLATED      = 8,
    MOST_RATIO    = 1032, /* deflated bytes become at most this many times as many */
    IN_BYTES      = 64 << 10,
    OUT_BYTES     = 256 << 10,
    INFLATE_BYTES = 44 << 10 /* bytes that zlib needs to inflate */
};

hybrid_status hy_zip_read(const hy_zip *zip, int64_t at, char *to, size_t bytes)
{
    char text[128] = "";

    while (bytes > 0) {
        const ssize_t got = pread(zip->fd, to, bytes, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return hy_fail(zip->ctx, HYBRID_IO_FAILED, "%s: byte %lld cannot be read: %s",
                           zip->path, (long long)at,
                           got == 0 ? "the file has become shorter"
                                    : strerror_r(errno, text, sizeof text));
        to += got;
        at += got;
        bytes -= (size_t)got;
    }
    return HYBRID_OK;
}

static hybrid_status fail(const hy_zip *zip, const hy_zip_member *m, const char *why)
{
    return hy_fail(zip->ctx, HYBRID_BAD_FILE, "%s: member '%.*s' %s", zip->path,
                   (int)hy_smaller(m->length, 64), m->name, why);
}

/* Sets *at to the position in the file of the member's bytes, and checks that the member
   can be read. */
static hybrid_status find_bytes(const hy_zip *zip, const hy_zip_member *m, int64_t *at)
{
    char header[HY_ZIP_LOCAL];

    if (m->encrypted)
        return fail(zip, m, "is encrypted");
    if (m->method != STORED && m->method != DEFLATED)
        return fail(zip, m, "is neither stored nor deflated");
    if (m->header > zip->size - HY_ZIP_LOCAL)
        return fail(zip, m, "is not within the file");
    HY_TRY(hy_zip_read(zip, m->header, header, sizeof header));
    *at = m->header + HY_ZIP_LOCAL + (int64_t)hy_zip_get(header + 26, 2) +
          (int64_t)hy_zip_get(header + 28, 2);
    if (hy_zip_get(header, 4) != HY_ZIP_LOCAL_MARK || *at > zip->size - m->packed)
        return fail(zip, m, "is not within the file");
    if (m->method == STORED ? m->bytes != m->packed : m->bytes / MOST_RATIO > m->packed)
        return fail(zip, m, "has an impossible size");
    return HYBRID_OK;
}

/* ---- inflating --------------------------------------------------------------------- */

/* A member on its way to a descriptor or to memory. */
typedef struct inflating {
    const hy_zip *zip;
    const hy_zip_member *member;
    z_stream z;
    int64_t at, left; /* position in the file, and number, of the member's bytes that have
                         not been read */
    int64_t made;     /* number of bytes inflated so far */
    uint32_t crc;
    int ended;
    char in[IN_BYTES];
} inflating;

/* Inflates up to `room` bytes; fewer only at the end of the member. */
static hybrid_status inflate_some(inflating *f, char *to, size_t room, size_t *bytes)
{
    z_stream *z = &f->z;

    z->next_out  = (Bytef *)to;
    z->avail_out = (uInt)room;
    while (z->avail_out > 0 && !f->ended) {
        if (z->avail_in == 0 && f->left > 0) {
            const size_t piece = hy_smaller((size_t)f->left, IN_BYTES);
            HY_TRY(hy_zip_read(f->zip, f->at, f->in, piece));
            f->at += (int64_t)piece;
            f->left -= (int64_t)piece;
            z->next_in  = (Bytef *)f->in;
            z->avail_in = (uInt)piece;
            HY_TRY(hy_progress_check(&f->zip->ctx->progress));
        }
        const int code = inflate(z, Z_NO_FLUSH);
        f->ended       = code == Z_STREAM_END;
        if (code != Z_OK && code != Z_STREAM_END)
            return fail(f->zip, f->member, "has damaged data");
    }
    *bytes = room - z->avail_out;
    f->made += (int64_t)*bytes;
    f->crc = (uint32_t)crc32_z(f->crc, (const Bytef *)to, *bytes);
    return f->made <= f->member->bytes
               ? HYBRID_OK
               : fail(f->zip, f->member, "is longer than announced");
}

/* Receives the next `count` bytes of a member, inflated. */
typedef hybrid_status (*take_fn)(void *arg, const char *bytes, size_t count);

/* Checks a member that has been inflated to its end. */
static hybrid_status check_end(const inflating *f)
{
    if (f->made != f->member->bytes)
        return fail(f->zip, f->member, "is shorter than announced");
    return f->crc == f->member->crc ? HYBRID_OK
                                    : fail(f->zip, f->member, "has a wrong checksum");
}

static hybrid_status inflate_all(inflating *f, char *out, take_fn take, void *arg)
{
    for (size_t bytes; !f->ended;) {
        HY_TRY(inflate_some(f, out, OUT_BYTES, &bytes));
        HY_TRY(take(arg, out, bytes));
    }
    return check_end(f);
}

static hybrid_status begin(const hy_zip *zip, const hy_zip_member *m, int64_t at,
                           inflating **out)
{
    void *memory;

    HY_TRY(hy_array(zip->ctx, 1, sizeof(inflating), "the window that inflates a member",
                    &memory));
    inflating *f = memory;
    f->zip       = zip;
    f->member    = m;
    f->z         = (z_stream){.next_in = NULL};
    f->at        = at;
    f->left      = m->packed;
    f->made      = 0;
    f->crc       = 0;
    f->ended     = 0;
    *out         = f;
    if (inflateInit2(&f->z, -15) == Z_OK) /* largest window, no header */
        return HYBRID_OK;
    hy_array_free(zip->ctx, memory);
    return hy_memory_refused(zip->ctx, "the window that inflates a member", INFLATE_BYTES,
                             NULL);
}

static void end(inflating *f)
{
    inflateEnd(&f->z);
    hy_array_free(f->zip->ctx, f);
}

/* ---- numbers ----------------------------------------------------------------------- */

typedef struct spilling {
    hy_spill spill;
    int64_t at;   /* bytes written to the spill (a temporary file) so far */
    int64_t skip; /* number of the member's next bytes that are left out: the rest of its
                     .npy header */
} spilling;

static hybrid_status spill(void *arg, const char *bytes, size_t count)
{
    spilling *s       = arg;
    const size_t skip = hy_smaller((size_t)s->skip, count);

    s->skip -= (int64_t)skip;
    HY_TRY(hy_spill_write(&s->spill, bytes + skip, count - skip, s->at));
    s->at += (int64_t)(count - skip);
    return HYBRID_OK;
}

static hybrid_status inflate_to(const hy_zip *zip, const hy_zip_member *m, int64_t at,
                                spilling *to)
{
    inflating *f;
    void *out;

    HY_TRY(begin(zip, m, at, &f));
    hybrid_status status = hy_array(zip->ctx, OUT_BYTES, 1, "inflated bytes", &out);
    if (status == HYBRID_OK) {
        status = inflate_all(f, out, spill, to);
        hy_array_free(zip->ctx, out);
    }
    end(f);
    return status;
}

hybrid_status hy_zip_numbers(const hy_zip *zip, const hy_zip_member *member, int64_t skip,
                             int64_t count, size_t size, hy_stored *out)
{
    spilling to = {.skip = skip};
    int64_t at;

    HY_TRY(find_bytes(zip, member, &at));
    if (member->method == STORED)
        return hy_plain_numbers_open(zip->ctx, zip->path, at + skip, count, size, out);
    HY_TRY(hy_spill_open(zip->ctx, &to.spill));
    const hybrid_status status = inflate_to(zip, member, at, &to);
    if (status != HYBRID_OK) {
        hy_spill_close(&to.spill);
        return status;
    }
    return hy_plain_numbers_take(zip->ctx, zip->path, to.spill.fd, count, size, out);
}

/* ---- numbers in order ----------------------------------------------------------------
 */

/* The numbers of a deflated member, which are inflated as they are read. */
typedef struct stream {
    hy_zip zip;           /* `ctx`, `path` and `fd` of the caller's ZIP file; its other
                             fields are not set */
    hy_zip_member member; /* the caller's member; its name lies in `path` */
    inflating *inflating;
    int64_t next; /* index of the number that is read next */
    char path[];  /* path with a final 0, then the member's name */
} stream;

/* Reads the rest of the member, which must be empty, and checks its end. */
static hybrid_status end_stream(const stream *s)
{
    size_t bytes;
    char more;

    HY_TRY(inflate_some(s->inflating, &more, 1, &bytes));
    return check_end(s->inflating);
}

static hybrid_status read_stream(const hy_stored *self, int64_t first, int64_t count,
                                 void *to)
{
    stream *s    = self->reader;
    size_t bytes = 0;

    assert(first == s->next);
    (void)first; /* unused in a build without assertions */
    for (size_t left = (size_t)count * self->size; left > 0; left -= bytes) {
        HY_TRY(inflate_some(s->inflating, to, hy_smaller(left, OUT_BYTES), &bytes));
        if (bytes == 0)
            return check_end(s->inflating);
        to = (char *)to + bytes;
    }
    s->next += count;
    return s->next == self->count ? end_stream(s) : HYBRID_OK;
}

static void close_stream(hy_stored *self)
{
    stream *s = self->reader;

    if (s->inflating)
        end(s->inflating);
    if (s->zip.fd >= 0)
        close(s->zip.fd);
    hy_array_free(self->ctx, s);
}

/* Begins to inflate the member, whose bytes are at `at`, and leaves out its first `skip`
   bytes. */
static hybrid_status begin_stream(stream *s, int64_t at, int64_t skip, int64_t count)
{
    char head[4096];

    if (s->zip.fd < 0)
        return hy_fail_system(s->zip.ctx, s->zip.path, "read");
    HY_TRY(begin(&s->zip, &s->member, at, &s->inflating));
    for (size_t bytes; skip > 0; skip -= (int64_t)bytes) {
        HY_TRY(inflate_some(s->inflating, head, hy_smaller((size_t)skip, sizeof head),
                            &bytes));
        if (bytes == 0)
            return check_end(s->inflating);
    }
    return count == 0 ? end_stream(s) : HYBRID_OK;
}

hybrid_status hy_zip_stream(const hy_zip *zip, const hy_zip_member *member, int64_t skip,
                            int64_t count, size_t size, hy_stored *out)
{
    static const hy_stored_ops ops = {.read = read_stream, .close = close_stream};
    const size_t path              = strlen(zip->path) + 1;
    void *memory;
    int64_t at;

    HY_TRY(find_bytes(zip, member, &at));
    if (member->method == STORED)
        return hy_plain_numbers_open(zip->ctx, zip->path, at + skip, count, size, out);
    HY_TRY(hy_array(zip->ctx, (int64_t)(sizeof(stream) + path + member->length), 1,
                    "the window that inflates a member", &memory));
    stream *s = memory;
    *s        = (stream){.zip = {.ctx = zip->ctx, .path = s->path}, .member = *member};
    s->member.name = memcpy(s->path + path, member->name, member->length);
    memcpy(s->path, zip->path, path);
    s->zip.fd                  = fcntl(zip->fd, F_DUPFD_CLOEXEC, 0);
    hy_stored numbers          = {&ops, zip->ctx, size, count, s};
    const hybrid_status status = begin_stream(s, at, skip, count);
    if (status != HYBRID_OK)
        close_stream(&numbers);
    else
        *out = numbers;
    return status;
}

/* ---- the beginning of a member
 * --------------------------------------------------------- */

hybrid_status hy_zip_head(const hy_zip *zip, const hy_zip_member *member, char *to,
                          size_t room, size_t *bytes)
{
    inflating *f;
    int64_t at;

    HY_TRY(find_bytes(zip, member, &at));
    *bytes = hy_smaller(room, (size_t)member->bytes);
    if (member->method == STORED)
        return hy_zip_read(zip, at, to, *bytes);
    HY_TRY(begin(zip, member, at, &f));
    const hybrid_status status = inflate_some(f, to, room, bytes);
    end(f);
    return status;
}
