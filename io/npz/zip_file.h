/* io/npz/zip_file.h - reads members of a ZIP file, stored or deflated, also with the
   64-bit sizes of ZIP64.

   The file is not trusted: every place and size is checked against the size of the file,
   and inflating stops at the announced size. */
#ifndef HY_ZIP_FILE_H
#define HY_ZIP_FILE_H

#include "base/contract/stored.h"

typedef struct hy_zip_member {
    const char *name; /* `length` bytes, without a final 0 */
    size_t length;
    int method;     /* 0: stored; 8: deflated; any other number if it is not used */
    int encrypted;
    uint32_t crc;   /* CRC-32 of the member's bytes after inflating */
    int64_t header; /* position of the member's own header in the file */
    int64_t packed; /* bytes that the member takes in the file */
    int64_t bytes;  /* bytes of the member after inflating */
} hy_zip_member;

typedef struct hy_zip {
    hy_context *ctx;  /* NULL: the file is not open */
    const char *path; /* path of the file; borrowed */
    int fd;
    int64_t size;
    char *directory; /* central directory of the file, which holds the names */
    hy_zip_member *member;
    int64_t count; /* number of members */
} hy_zip;

/* Opens a regular file and reads its central directory. BAD_FILE if the file is no ZIP
   file or is damaged, IO_FAILED with the system's reason. */
hybrid_status hy_zip_open(hy_context *ctx, const char *path, hy_zip *out);
void hy_zip_close(hy_zip *zip); /* accepts a zeroed struct */

/* Reads bytes of the file itself. IO_FAILED names the byte that cannot be read. */
hybrid_status hy_zip_read(const hy_zip *zip, int64_t at, char *to, size_t bytes);

/* Sets *out to the member NAME.npy, or to NULL if there is none. BAD_FILE if the file has
   several members of this name. */
hybrid_status hy_zip_find(const hy_zip *zip, const char *name,
                          const hy_zip_member **out);

/* Reads the first bytes of a member: `room` or, if it has fewer, all. */
hybrid_status hy_zip_head(const hy_zip *zip, const hy_zip_member *member, char *to,
                          size_t room, size_t *bytes);

/* Opens `count` numbers of `size` bytes that lie behind the first `skip` bytes of a
   member and fill the rest of it. The numbers of a stored member are read in place. A
   deflated member is inflated to a temporary file first, and its checksum is verified. */
hybrid_status hy_zip_numbers(const hy_zip *zip, const hy_zip_member *member, int64_t skip,
                             int64_t count, size_t size, hy_stored *out);

/* Opens numbers as hy_zip_numbers() does, for a reader that reads each number once, from
   the first to the last. A deflated member is inflated as it is read, and its checksum is
   verified with the last number. *zip need not stay open. */
hybrid_status hy_zip_stream(const hy_zip *zip, const hy_zip_member *member, int64_t skip,
                            int64_t count, size_t size, hy_stored *out);

#endif /* HY_ZIP_FILE_H */
