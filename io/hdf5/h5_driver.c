/* io/hdf5/h5_driver.c - reads and writes files for libhdf5. */
#include "io/hdf5/h5_driver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

enum {
    EARLY_BYTES =
        4 << 20,         /* successive bytes after which the disk begins to write them */
    GAP_BYTES = 64 << 10 /* maximum distance of writes that count as successive: libhdf5
                            puts small blocks of its own between chunks */
};

typedef struct driven {
    H5FD_t public; /* must be the first member: libhdf5 passes its address to the
                      functions below, which use it as the address of the struct */
    hy_h5_disk *disk;
    haddr_t allocated; /* end of the addresses that libhdf5 uses, in bytes */
} driven;

/* hy_h5_enter() locks these variables. */
static hid_t driver = H5I_INVALID_HID;
static hy_h5_disk *opening; /* the disk of the file that libhdf5 is opening */
static struct {
    int is_on;
    haddr_t at;
    size_t bytes;
} noted;

static driven *driven_of(const H5FD_t *file)
{
    return (driven *)(uintptr_t)file;
}

/* ---- functions that libhdf5 calls -------------------------------------------------- */

static H5FD_t *driver_open(const char *name, unsigned flags, hid_t access, haddr_t most)
{
    (void)name;
    (void)access;
    (void)most;
    if (!opening || (flags & H5F_ACC_RDWR && !opening->may_write))
        return NULL;
    driven *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->disk = opening;
    return &made->public;
}

static herr_t driver_close(H5FD_t *file)
{
    free(file);
    return 0;
}

static herr_t driver_query(const H5FD_t *file, unsigned long *flags)
{
    (void)file;
    *flags = 0;
    return 0;
}

static haddr_t driver_eoa(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return driven_of(file)->allocated;
}

static herr_t driver_set_eoa(H5FD_t *file, H5FD_mem_t type, haddr_t at)
{
    (void)type;
    driven_of(file)->allocated = at;
    return 0;
}

static haddr_t driver_eof(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return (haddr_t)driven_of(file)->disk->bytes;
}

int hy_h5_read_fully(int fd, int64_t at, size_t bytes, char *to)
{
    while (bytes > 0) {
        const ssize_t got = pread(fd, to, bytes, at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            errno = got == 0 ? 0 : errno;
            return 0;
        }
        to += got;
        at += got;
        bytes -= (size_t)got;
    }
    return 1;
}

static herr_t driver_read(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t at,
                          size_t bytes, void *to)
{
    const hy_h5_disk *disk = driven_of(file)->disk;

    (void)transfer;
    if (noted.is_on && type == H5FD_MEM_DRAW) {
        noted.at    = at;
        noted.bytes = bytes;
        return 0;
    }
    if (at > (haddr_t)disk->bytes || bytes > (haddr_t)disk->bytes - at)
        return -1;
    return hy_h5_read_fully(disk->fd, (int64_t)at, bytes, to) ? 0 : -1;
}

/* Keeps the reason of a failure, and ignores later writes. libhdf5 is told that every
   write succeeded: after a failed write it could not even close the file without a
   crash. */
static herr_t write_failed(hy_h5_disk *disk)
{
    disk->error = errno;
    disk->drops = 1;
    return 0;
}

/* Asks the system to begin writing to the disk, once enough successive bytes were written
   to its cache. Otherwise it would keep most of them until the file is synchronised at
   the end, when there is nothing left to compute meanwhile. Failures do no harm:
   synchronising reports them. */
static void begin_writing(hy_h5_disk *disk, int64_t at, int64_t bytes)
{
    const int64_t end = disk->pending + disk->pending_bytes;

    if (at < end || at - end > GAP_BYTES) {
        disk->pending       = at;
        disk->pending_bytes = 0;
    }
    disk->pending_bytes = at + bytes - disk->pending;
    if (disk->pending_bytes < EARLY_BYTES)
        return;
    (void)sync_file_range(disk->fd, disk->pending, disk->pending_bytes,
                          SYNC_FILE_RANGE_WRITE);
    disk->pending += disk->pending_bytes;
    disk->pending_bytes = 0;
}

static herr_t driver_write(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t at,
                           size_t bytes, const void *from)
{
    hy_h5_disk *disk    = driven_of(file)->disk;
    const haddr_t begin = at;

    (void)transfer;
    if (disk->drops)
        return 0;
    for (const char *p = from; bytes > 0;) {
        const ssize_t done = pwrite(disk->fd, p, bytes, (off_t)at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return write_failed(disk);
        p += done;
        at += (haddr_t)done;
        bytes -= (size_t)done;
        disk->written += done;
        if ((int64_t)at > disk->bytes)
            disk->bytes = (int64_t)at;
    }
    if (type == H5FD_MEM_DRAW)
        begin_writing(disk, (int64_t)begin, (int64_t)(at - begin));
    return 0;
}

/* Gives the file the size that libhdf5's addresses need. */
static herr_t driver_truncate(H5FD_t *file, hid_t transfer, hbool_t closing)
{
    const driven *d = driven_of(file);

    (void)transfer;
    (void)closing;
    if (!d->disk->may_write || d->disk->drops || (haddr_t)d->disk->bytes == d->allocated)
        return 0;
    if (ftruncate(d->disk->fd, (off_t)d->allocated) != 0)
        return write_failed(d->disk);
    d->disk->bytes = (int64_t)d->allocated;
    return 0;
}

static const H5FD_class_t class = {
#if H5_VERSION_GE(1, 13, 0)
    .version = H5FD_CLASS_VERSION,
    .value   = (H5FD_class_value_t)(H5_VFD_RESERVED + 1),
#endif
    .name      = "hybrid_spmm",
    .maxaddr   = (haddr_t)INT64_MAX,
    .fc_degree = H5F_CLOSE_STRONG,
    .open      = driver_open,
    .close     = driver_close,
    .query     = driver_query,
    .get_eoa   = driver_eoa,
    .set_eoa   = driver_set_eoa,
    .get_eof   = driver_eof,
    .read      = driver_read,
    .write     = driver_write,
    .truncate  = driver_truncate,
    .fl_map    = H5FD_FLMAP_DICHOTOMY};

/* ---- functions for the room -------------------------------------------------------- */

/* Closes the list and keeps the errors of libhdf5, which every call clears. */
static void close_list(hid_t list)
{
    const hid_t errors = H5Eget_current_stack();

    (void)H5Pclose(list);
    if (errors >= 0)
        (void)H5Eset_current_stack(errors); /* frees `errors`, too */
}

hid_t hy_h5_driver_open(const char *path, hy_h5_disk *disk)
{
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    hid_t file         = H5I_INVALID_HID;

    if (H5Iget_type(driver) != H5I_VFL) /* the driver is not registered: at the first
                                           call, or after the program has called
                                           H5close() */
        driver = H5FDregister(&class);
    opening = disk;
    if (access >= 0 && H5Pset_driver(access, driver, NULL) >= 0)
        file = disk->may_write ? H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access)
                               : H5Fopen(path, H5F_ACC_RDONLY, access);
    opening = NULL;
    if (access >= 0)
        close_list(access);
    return file;
}

void hy_h5_driver_note(int on)
{
    noted.is_on = on;
    if (on)
        noted.bytes = 0;
}

void hy_h5_driver_noted(haddr_t *at, size_t *bytes)
{
    *at    = noted.at;
    *bytes = noted.bytes;
}
