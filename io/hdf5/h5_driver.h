/* io/hdf5/h5_driver.h - the driver through which libhdf5 reads and writes files.

   The driver finds out where a chunk of a dataset lies: after hy_h5_driver_note(1) it
   records the place of a reading instead of reading. If a write fails, the driver keeps
   the system's reason, ignores later writes, and reports success to libhdf5: callers look
   at hy_h5_disk.error. Every function must be called after hy_h5_enter(). */
#ifndef HY_H5_DRIVER_H
#define HY_H5_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#define H5_USE_110_API /* selects the functions of version 1.10, which later versions    \
                          have, too */
#include <hdf5.h>

/* A file as the driver sees it. The caller opens and closes its descriptor. */
typedef struct hy_h5_disk {
    int fd;
    int64_t bytes; /* size of the file in bytes */
    int may_write;
    int drops;       /* 1: writes are ignored, and reported to libhdf5 as successful */
    int error;       /* errno of the first write that failed; 0: none has */
    int64_t written; /* number of bytes written so far */
    int64_t pending, pending_bytes; /* place and number of the successive bytes of raw data
                                       that were written last, which the disk has not been
                                       asked to write yet */
} hy_h5_disk;

/* Opens a file, or makes the empty file of the descriptor an HDF5 file if disk->may_write
   is 1. *disk must stay in place until the file is closed. Returns a value below 0 if
   libhdf5 fails. */
hid_t hy_h5_driver_open(const char *path, hy_h5_disk *disk);

/* hy_h5_driver_note() starts (1) or ends (0) the recording of places.
   hy_h5_driver_noted() returns the place in the file that was recorded last; *bytes is 0
   if there is none. */
void hy_h5_driver_note(int on);
void hy_h5_driver_noted(haddr_t *at, size_t *bytes);

/* Reads bytes [at, at + bytes) of a file. Returns 1, or 0 at a failure, with errno set;
   errno is 0 if the file ends before. */
int hy_h5_read_fully(int fd, int64_t at, size_t bytes, char *to);

#endif /* HY_H5_DRIVER_H */
