/* io/hdf5/h5_file.h - calls of libhdf5.

   libhdf5 keeps its state in global variables, so one thread of the process calls it at a
   time, between hy_h5_enter() and hy_h5_leave(). libhdf5 does not read the numbers of
   matrices: it only tells where they lie. */
#ifndef HY_H5_FILE_H
#define HY_H5_FILE_H

#include "base/contract/context.h"
#include "io/hdf5/h5_driver.h"

/* The program's own settings for error reports of libhdf5, kept between hy_h5_enter() and
   hy_h5_leave(). */
typedef struct hy_h5_entered {
    H5E_auto2_t report;
    void *data;
} hy_h5_entered;

void hy_h5_enter(hy_h5_entered *entered); /* also stops libhdf5 from printing its errors
                                             until hy_h5_leave() */
void hy_h5_leave(const hy_h5_entered *entered);

/* An HDF5 file that is open for reading. */
typedef struct hy_h5_file {
    hy_context *ctx;
    const char *path; /* path of the file; borrowed */
    hid_t id;         /* handle of the file in libhdf5 */
    int fd;           /* descriptor of the file, from which numbers are read */
    int64_t bytes;    /* size of the file in bytes */
    hy_h5_disk disk;  /* the file as the driver sees it (h5_driver.h) */
} hy_h5_file;

/* Opens `path`; *out must stay in place until it is closed. IO_FAILED with the system's
   reason, or BAD_FILE with libhdf5's reason. */
hybrid_status hy_h5_file_open(hy_context *ctx, const char *path, hy_h5_file *out);
void hy_h5_file_close(hy_h5_file *file);

/* Fails with BAD_FILE and "PATH: <what>: <reason of libhdf5>". `name` takes the place of
   %s in `what`. */
hybrid_status hy_h5_fail(const hy_h5_file *file, const char *what, const char *name);

/* The place of a chunk of a dataset in its file. */
typedef struct hy_h5_place {
    int64_t at;     /* position in bytes; -1: the file does not hold the chunk, whose
                       numbers then have the fill value */
    uint32_t bytes; /* bytes of the chunk in the file, compressed */
    uint32_t mask;  /* bit i is set if filter i was not applied to the chunk */
} hy_h5_place;

/* Finds the chunk of `dataset` whose first number has the indices `first`. Takes time
   that grows with the logarithm of the number of chunks; H5Dget_chunk_info() visits all
   chunks before the one that is asked for. BAD_FILE if the chunk is not within the
   file. */
hybrid_status hy_h5_find_chunk(const hy_h5_file *file, hid_t dataset, const char *name,
                               const hsize_t *first, hy_h5_place *out);

/* Reads bytes [at, at + bytes) of a file. IO_FAILED names file and byte. */
hybrid_status hy_h5_pread(hy_context *ctx, int fd, const char *path, int64_t at,
                          size_t bytes, void *to);

#endif /* HY_H5_FILE_H */
