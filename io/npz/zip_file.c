/* io/npz/zip_file.c - reads the central directory of a ZIP file.

   The directory is the end of the file. A record behind the directory tells where it
   begins. ZIP64 has a second such record for sizes of 64 bits, and a third one that tells
   where the second one is. */
#include "io/npz/zip_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/data/min_max.h"
#include "io/npz/zip_bytes.h"
#include "io/text/io.h"

enum {
    COMMENT_BYTES   = UINT16_MAX,
    DIRECTORY_BYTES = 16 << 20 /* maximum bytes of a central directory */
};

/* Position and size of the central directory, in bytes. */
typedef struct directory {
    uint64_t at, bytes;
} directory;

static hybrid_status damaged(const hy_zip *zip, const char *what)
{
    return hy_fail(zip->ctx, HYBRID_BAD_FILE, "%s: the ZIP file is damaged: %s",
                   zip->path, what);
}

static hybrid_status failed(const hy_zip *zip, const char *what)
{
    const int error = errno;
    char text[128]  = "";

    return hy_fail(zip->ctx, HYBRID_IO_FAILED, "cannot %s '%s': %s", what, zip->path,
                   strerror_r(error, text, sizeof text));
}

/* ---- the directory's place --------------------------------------------------------- */

static hybrid_status find_directory64(const hy_zip *zip, int64_t end, directory *out)
{
    char record[HY_ZIP_END64];

    if (end < HY_ZIP_LOCATOR64)
        return damaged(zip, "its ZIP64 record is missing");
    HY_TRY(hy_zip_read(zip, end - HY_ZIP_LOCATOR64, record, HY_ZIP_LOCATOR64));
    const uint64_t at = hy_zip_get(record + 8, 8);
    if (hy_zip_get(record, 4) != HY_ZIP_LOCATOR64_MARK || end < HY_ZIP_END64 ||
        at > (uint64_t)end - HY_ZIP_END64)
        return damaged(zip, "its ZIP64 record is missing");
    HY_TRY(hy_zip_read(zip, (int64_t)at, record, HY_ZIP_END64));
    if (hy_zip_get(record, 4) != HY_ZIP_END64_MARK)
        return damaged(zip, "its ZIP64 record is missing");
    *out = (directory){hy_zip_get(record + 48, 8), hy_zip_get(record + 40, 8)};
    return HYBRID_OK;
}

/* Sets *at to the position in `tail`, the last bytes of the file, of the record that ends
   the file, and returns 1; returns 0 if it is missing. A comment may follow the
   record. */
static int find_end(const char *tail, int64_t bytes, int64_t *at)
{
    for (*at = bytes - HY_ZIP_END; *at >= 0; --*at)
        if (hy_zip_get(tail + *at, 4) == HY_ZIP_END_MARK &&
            *at + HY_ZIP_END + (int64_t)hy_zip_get(tail + *at + 20, 2) == bytes)
            return 1;
    return 0;
}

static hybrid_status find_in_tail(const hy_zip *zip, char *tail, int64_t bytes,
                                  directory *out)
{
    int64_t at;

    HY_TRY(hy_zip_read(zip, zip->size - bytes, tail, (size_t)bytes));
    if (!find_end(tail, bytes, &at))
        return damaged(zip, "its end is missing");
    *out = (directory){hy_zip_get(tail + at + 16, 4), hy_zip_get(tail + at + 12, 4)};
    if (out->at == UINT32_MAX || out->bytes == UINT32_MAX ||
        hy_zip_get(tail + at + 10, 2) == UINT16_MAX)
        return find_directory64(zip, zip->size - bytes + at, out);
    return HYBRID_OK;
}

static hybrid_status find_directory(const hy_zip *zip, directory *out)
{
    const int64_t bytes = hy_min(zip->size, HY_ZIP_END + COMMENT_BYTES);
    void *tail;

    HY_TRY(hy_array(zip->ctx, bytes + 1, 1, "the directory of a file", &tail));
    const hybrid_status status = find_in_tail(zip, tail, bytes, out);
    hy_array_free(zip->ctx, tail);
    if (status != HYBRID_OK)
        return status;
    if (out->bytes > (uint64_t)zip->size || out->at > (uint64_t)zip->size - out->bytes)
        return damaged(zip, "its directory is not within the file");
    if (out->bytes > DIRECTORY_BYTES)
        return damaged(zip, "its directory has more than 16 MiB");
    return HYBRID_OK;
}

/* ---- entries ----------------------------------------------------------------------- */

/* Reads the 64-bit sizes in an entry's extra field: one for each of `sizes` whose 32-bit
   field has all bits set. Returns 0 if one is missing. */
static int take_sizes64(const char *extra, size_t bytes, uint64_t *sizes[3])
{
    while (bytes >= 4 && hy_zip_get(extra, 2) != 1) {
        const size_t skip = 4 + (size_t)hy_zip_get(extra + 2, 2);
        if (skip > bytes)
            return 0;
        extra += skip;
        bytes -= skip;
    }
    size_t left =
        bytes >= 4 ? hy_smaller((size_t)hy_zip_get(extra + 2, 2), bytes - 4) : 0;
    extra += 4;
    for (int i = 0; i < 3; i++) {
        if (*sizes[i] != UINT32_MAX)
            continue;
        if (left < 8)
            return 0;
        *sizes[i] = hy_zip_get(extra, 8);
        extra += 8;
        left -= 8;
    }
    return 1;
}

/* Reads an entry of the directory, and sets *used to the bytes that it takes. */
static hybrid_status take_entry(const hy_zip *zip, const char *at, size_t left,
                                hy_zip_member *out, size_t *used)
{
    uint64_t bytes, packed, header, *sizes[3] = {&bytes, &packed, &header};

    if (left < HY_ZIP_CENTRAL || hy_zip_get(at, 4) != HY_ZIP_CENTRAL_MARK)
        return damaged(zip, "an entry of its directory is invalid");
    const size_t name  = (size_t)hy_zip_get(at + 28, 2);
    const size_t extra = (size_t)hy_zip_get(at + 30, 2);
    *used              = HY_ZIP_CENTRAL + name + extra + (size_t)hy_zip_get(at + 32, 2);
    if (*used > left)
        return damaged(zip, "an entry of its directory is invalid");
    packed = hy_zip_get(at + 20, 4);
    bytes  = hy_zip_get(at + 24, 4);
    header = hy_zip_get(at + 42, 4);
    if (!take_sizes64(at + HY_ZIP_CENTRAL + name, extra, sizes) ||
        header > (uint64_t)zip->size || packed > (uint64_t)zip->size ||
        bytes > INT64_MAX / 2)
        return damaged(zip, "a size in its directory is invalid");
    *out = (hy_zip_member){.name      = at + HY_ZIP_CENTRAL,
                           .length    = name,
                           .method    = (int)hy_zip_get(at + 10, 2),
                           .encrypted = (int)(hy_zip_get(at + 8, 2) & 1),
                           .crc       = (uint32_t)hy_zip_get(at + 16, 4),
                           .header    = (int64_t)header,
                           .packed    = (int64_t)packed,
                           .bytes     = (int64_t)bytes};
    return HYBRID_OK;
}

/* Reads all entries of the directory. A digital signature, which ends the directory, may
   follow them. */
static hybrid_status take_entries(hy_zip *zip, size_t bytes)
{
    for (size_t at = 0, used = 0; at + HY_ZIP_CENTRAL <= bytes; at += used)
        HY_TRY(take_entry(zip, zip->directory + at, bytes - at,
                          &zip->member[zip->count++], &used));
    return HYBRID_OK;
}

static hybrid_status read_directory(hy_zip *zip)
{
    directory place = {0, 0};
    void *memory;

    HY_TRY(find_directory(zip, &place));
    HY_TRY(hy_array(zip->ctx, (int64_t)place.bytes + 1, 1, "the directory of a file",
                    &memory));
    zip->directory = memory;
    HY_TRY(hy_zip_read(zip, (int64_t)place.at, memory, (size_t)place.bytes));
    HY_TRY(hy_array(zip->ctx, (int64_t)place.bytes / HY_ZIP_CENTRAL + 1,
                    sizeof(hy_zip_member), "the directory of a file", &memory));
    zip->member = memory;
    return take_entries(zip, (size_t)place.bytes);
}

/* ---- functions for readers --------------------------------------------------------- */

static hybrid_status open_file(hy_zip *zip)
{
    struct stat st;

    zip->fd = hy_open(zip->path, O_RDONLY | O_NONBLOCK);
    if (zip->fd < 0)
        return failed(zip, "open");
    if (fstat(zip->fd, &st) != 0)
        return failed(zip, "open");
    if (!S_ISREG(st.st_mode))
        return hy_fail(zip->ctx, HYBRID_BAD_FILE,
                       "%s: a ZIP file must be a regular file, because its directory is "
                       "at its end",
                       zip->path);
    zip->size = st.st_size;
    return read_directory(zip);
}

hybrid_status hy_zip_open(hy_context *ctx, const char *path, hy_zip *out)
{
    *out = (hy_zip){.ctx = ctx, .path = path, .fd = -1};

    const hybrid_status status = open_file(out);
    if (status != HYBRID_OK)
        hy_zip_close(out);
    return status;
}

void hy_zip_close(hy_zip *zip)
{
    if (!zip->ctx)
        return;
    if (zip->fd >= 0)
        close(zip->fd);
    hy_array_free(zip->ctx, zip->directory);
    hy_array_free(zip->ctx, zip->member);
    *zip = (hy_zip){.ctx = NULL};
}

static int has_name(const hy_zip_member *member, const char *name)
{
    const size_t length = strlen(name);

    return member->length == length + 4 && memcmp(member->name, name, length) == 0 &&
           memcmp(member->name + length, ".npy", 4) == 0;
}

hybrid_status hy_zip_find(const hy_zip *zip, const char *name, const hy_zip_member **out)
{
    *out = NULL;
    for (int64_t i = 0; i < zip->count; i++) {
        if (!has_name(&zip->member[i], name))
            continue;
        if (*out)
            return hy_fail(zip->ctx, HYBRID_BAD_FILE, "%s: has several members '%s.npy'",
                           zip->path, name);
        *out = &zip->member[i];
    }
    return HYBRID_OK;
}
