/* io/npz/zip_bytes.h - little-endian numbers and signatures of ZIP files. */
#ifndef HY_ZIP_BYTES_H
#define HY_ZIP_BYTES_H

#include <stdint.h>
#include <string.h>

/* Sizes of the records of a ZIP file in bytes, without names and extra fields. */
enum {
    HY_ZIP_LOCAL     = 30, /* header that precedes a member */
    HY_ZIP_CENTRAL   = 46, /* a member's entry in the central directory */
    HY_ZIP_END       = 22, /* record that ends the file */
    HY_ZIP_END64     = 56, /* record that ends a ZIP64 file */
    HY_ZIP_LOCATOR64 = 20  /* record that tells where the record of HY_ZIP_END64 bytes
                              begins */
};

enum {
    HY_ZIP_LOCAL_MARK     = 0x04034b50,
    HY_ZIP_CENTRAL_MARK   = 0x02014b50,
    HY_ZIP_END_MARK       = 0x06054b50,
    HY_ZIP_END64_MARK     = 0x06064b50,
    HY_ZIP_LOCATOR64_MARK = 0x07064b50
};

static inline uint64_t hy_zip_get(const void *at, int bytes)
{
    const unsigned char *p = (const unsigned char *)at;
    uint64_t value         = 0;

    for (int i = bytes - 1; i >= 0; i--)
        value = value << 8 | p[i];
    return value;
}

/* Stores `value` as `bytes` bytes, the least significant first. Returns the place behind
   them. */
static inline char *hy_zip_put(char *to, int bytes, uint64_t value)
{
    for (int i = 0; i < bytes; i++, value >>= 8)
        to[i] = (char)(value & 255);
    return to + bytes;
}

#endif /* HY_ZIP_BYTES_H */
