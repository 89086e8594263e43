/* io/hdf5/h5_driver.h - the driver through which libhdf5 reads and writes files.

   The driver tells where a chunk lies: while it notes, reading numbers stores their place
   instead. If writing fails, it keeps the system's reason, drops what libhdf5 writes from
   then on, and reports success: callers look at hy_h5_disk.error. hy_h5_enter() must have
   been called. */
#ifndef HY_H5_DRIVER_H
#define HY_H5_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#define H5_USE_110_API /* the same functions in every later version */
#include <hdf5.h>

/* An open file, from the caller's descriptor. */
typedef struct hy_h5_disk {
    int fd;
    int64_t bytes; /* size of the file */
    int may_write;
    int drops;       /* 1: writing does nothing */
    int error;       /* errno of the first write that failed; 0: none has */
    int64_t written; /* bytes written so far */
} hy_h5_disk;

/* Opens a file, or makes the empty file of the descriptor an HDF5 file if disk->may_write
   is 1. *disk must stay in place until the file is closed. Returns a value below 0 if
   libhdf5 fails. */
hid_t hy_h5_driver_open(const char *path, hy_h5_disk *disk);

/* Begins (1) and ends (0) to note places, and returns the last one. *bytes is 0 if there
   is none. */
void hy_h5_driver_note(int on);
void hy_h5_driver_noted(haddr_t *at, size_t *bytes);

/* Reads bytes [at, at + bytes). Returns 0 at a failure and sets errno, to 0 if the file
   ends before. */
int hy_h5_read_fully(int fd, int64_t at, size_t bytes, char *to);

#endif /* HY_H5_DRIVER_H */
