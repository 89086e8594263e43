/* io/formats/byte_file.h - a file that is written at given positions.

   Writers of formats whose arrays lie one behind the other create the file, and write
   each array from its own position on. Every error names the file and the byte. */
#ifndef HY_BYTE_FILE_H
#define HY_BYTE_FILE_H

#include "base/contract/context.h"

typedef struct hy_byte_file {
    hy_context *ctx; /* NULL: the file is not open */
    char *path;      /* path of the file, for messages, allocated with hy_array() */
    int fd;
} hy_byte_file;

/* Creates the file, or empties the file that `path` names. IO_FAILED with the system's
   reason. */
hybrid_status hy_byte_file_create(hy_context *ctx, const char *path, hy_byte_file *out);

/* Writes `bytes` bytes from position `at` on. Any thread may call it. IO_FAILED names the
   file, the byte and the system's reason, such as a full disk. CANCELLED if the call is
   cancelled. */
hybrid_status hy_byte_file_put(const hy_byte_file *file, int64_t at, const void *data,
                               size_t bytes);

/* Waits until all bytes that were written are on the disk. */
hybrid_status hy_byte_file_sync(const hy_byte_file *file);

/* Closes the file, also after a failure. IO_FAILED if the system lost bytes. Returns OK
   for a zeroed struct. */
hybrid_status hy_byte_file_close(hy_byte_file *file);

/* A range of the file that is written from its begin to its end. A region collects short
   pieces in a buffer. Each region of a file may be written by a thread of its own. */
typedef struct hy_byte_region {
    hy_context *ctx; /* NULL: the region is not open */
    const hy_byte_file *file;
    int64_t at;  /* position in the file of the first byte in the buffer */
    int64_t end; /* position behind the last byte of the region */
    char *buffer;
    size_t filled; /* number of bytes that wait in the buffer */
    uint32_t *crc; /* (optional) where the owner collects the CRC-32 of all bytes that
                      were put; the owner sets it to 0 first */
} hy_byte_region;

/* Opens bytes [begin, end) of the file as a region. */
hybrid_status hy_byte_region_open(const hy_byte_file *file, int64_t begin, int64_t end,
                                  hy_byte_region *out);
/* Appends bytes to the region. BAD_ARGUMENT if the region has no room for them. */
hybrid_status hy_byte_region_put(hy_byte_region *region, const void *data, size_t bytes);
/* Appends text of at most 500 bytes, formatted as printf() does. */
__attribute__((format(printf, 2, 3))) hybrid_status
hy_byte_region_print(hy_byte_region *region, const char *format, ...);
/* Writes the bytes in the buffer. BAD_ARGUMENT if fewer bytes were put than the region
   has. */
hybrid_status hy_byte_region_flush(hy_byte_region *region);
/* Frees the buffer. Accepts a zeroed struct, and may be called after the file is closed. */
void hy_byte_region_close(hy_byte_region *region);

/* Prints the whole contents of a file of text to a region, with hy_byte_region_print() and
   hy_byte_region_put(). `writer` is what the caller of hy_byte_file_print() passed. */
typedef hybrid_status (*hy_print_fn)(const void *writer, hy_byte_region *to);

/* Writes what `print` prints to the file, from its first byte on. */
hybrid_status hy_byte_file_print(const hy_byte_file *file, hy_print_fn print,
                                 const void *writer);

#endif /* HY_BYTE_FILE_H */
