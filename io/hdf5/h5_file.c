/* io/hdf5/h5_file.c - opens files for libhdf5, and finds out where chunks lie.

   The library reads a file through a driver that is defined here. When it reads a chunk,
   the driver notes its place in the file instead of reading it. */
#include "io/hdf5/h5_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

#include "io/text/io.h"

/* ---- one thread at a time ---------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void hy_h5_enter(hy_h5_entered *entered)
{
    pthread_mutex_lock(&lock);
    *entered = (hy_h5_entered){NULL, NULL};
    if (H5Eget_auto2(H5E_DEFAULT, &entered->report, &entered->data) >= 0)
        (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

void hy_h5_leave(const hy_h5_entered *entered)
{
    (void)H5Eset_auto2(H5E_DEFAULT, entered->report, entered->data);
    pthread_mutex_unlock(&lock);
}

/* ---- the driver: state is guarded by the lock -------------------------------------- */

typedef struct driven {
    H5FD_t public; /* first, as libhdf5 demands */
    int fd;
    haddr_t allocated; /* end of the addresses in use, in bytes */
    haddr_t bytes;     /* size of the file */
} driven;

static hid_t driver = H5I_INVALID_HID;
static const hy_h5_file *opening; /* the file that H5Fopen() is opening */
static struct {
    int is_on; /* 1: reading numbers notes their place instead */
    haddr_t at;
    size_t bytes;
} noted;

static H5FD_t *driver_open(const char *name, unsigned flags, hid_t access, haddr_t most)
{
    (void)name;
    (void)access;
    (void)most;
    driven *made = opening && !(flags & H5F_ACC_RDWR) ? calloc(1, sizeof *made) : NULL;
    if (!made)
        return NULL;
    made->fd    = opening->fd;
    made->bytes = (haddr_t)opening->bytes;
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
    return ((const driven *)(const void *)file)->allocated;
}

static herr_t driver_set_eoa(H5FD_t *file, H5FD_mem_t type, haddr_t at)
{
    (void)type;
    ((driven *)(void *)file)->allocated = at;
    return 0;
}

static haddr_t driver_eof(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const driven *)(const void *)file)->bytes;
}

static int read_fully(int fd, int64_t at, size_t bytes, char *to)
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
    const driven *d = (const driven *)(const void *)file;

    (void)transfer;
    if (noted.is_on && type == H5FD_MEM_DRAW) {
        noted.at    = at;
        noted.bytes = bytes;
        return 0;
    }
    if (at > d->bytes || bytes > d->bytes - at)
        return -1;
    return read_fully(d->fd, (int64_t)at, bytes, to) ? 0 : -1;
}

static herr_t driver_write(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t at,
                           size_t bytes, const void *from)
{
    (void)file;
    (void)type;
    (void)transfer;
    (void)at;
    (void)bytes;
    (void)from;
    return -1; /* Files are opened to be read. */
}

static const H5FD_class_t driver_class = {
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
    .fl_map    = H5FD_FLMAP_DICHOTOMY};

/* ---- files ------------------------------------------------------------------------- */

/* The innermost error of libhdf5 comes first in this walk. */
static herr_t take_reason(unsigned n, const H5E_error2_t *error, void *reason)
{
    if (n == 0 && error->desc)
        snprintf(reason, 160, "%s", error->desc);
    return 0;
}

hybrid_status hy_h5_fail(const hy_h5_file *file, const char *what, const char *name)
{
    char reason[160] = "", text[256];

    (void)H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_reason, reason);
    snprintf(text, sizeof text, what, name);
    return hy_fail(file->ctx, HYBRID_BAD_FILE, "%s: %s: %s", file->path, text,
                   reason[0] ? reason : "libhdf5 gives no reason");
}

static hybrid_status system_failed(hy_context *ctx, const char *path, const char *what)
{
    const int error = errno;
    char text[128]  = "";

    const char *reason = strerror_r(error, text, sizeof text);
    return hy_fail(ctx, HYBRID_IO_FAILED, "%s: %s: %s", path, what, reason);
}

static hybrid_status open_in_library(hy_h5_file *file)
{
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);

    if (H5Iget_type(driver) != H5I_VFL) /* also if the program has called H5close() */
        driver = H5FDregister(&driver_class);
    opening = file;
    if (access >= 0 && H5Pset_driver(access, driver, NULL) >= 0)
        file->id = H5Fopen(file->path, H5F_ACC_RDONLY, access);
    opening              = NULL;
    hybrid_status status = HYBRID_OK;
    if (file->id < 0)
        status = hy_h5_fail(file, "libhdf5 cannot open %s", "the file");
    if (access >= 0)
        (void)H5Pclose(access);
    return status;
}

hybrid_status hy_h5_file_open(hy_context *ctx, const char *path, hy_h5_file *out)
{
    struct stat st;
    hybrid_status status;

    *out    = (hy_h5_file){.ctx = ctx, .path = path, .id = H5I_INVALID_HID};
    out->fd = hy_open(path, O_RDONLY | O_NONBLOCK); /* A blocking open of a pipe would
                                                       wait for a writer. */
    if (out->fd < 0)
        return system_failed(ctx, path, "cannot be opened");
    if (fstat(out->fd, &st) != 0)
        status = system_failed(ctx, path, "its size cannot be read");
    else if (!S_ISREG(st.st_mode))
        status =
            hy_fail(ctx, HYBRID_BAD_FILE,
                    "%s: is not a regular file, and HDF5 is read from such files", path);
    else {
        out->bytes = st.st_size;
        status     = open_in_library(out);
    }
    if (status != HYBRID_OK)
        hy_h5_file_close(out);
    return status;
}

void hy_h5_file_close(hy_h5_file *file)
{
    if (file->id >= 0)
        (void)H5Fclose(file->id); /* The file was only read, so closing loses nothing. */
    if (file->fd >= 0)
        (void)close(file->fd);
    file->id = H5I_INVALID_HID;
    file->fd = -1;
}

/* ---- numbers ----------------------------------------------------------------------- */

/* Returns 1 if the file does not hold the chunk. The second call distinguishes such a
   chunk from a file that cannot be read, and takes a time that grows with the number of
   chunks. */
static int is_absent(hid_t dataset, const hsize_t *first)
{
    hsize_t stored = 0;
    haddr_t at     = 0;
    unsigned mask  = 0;

    if (H5Dget_chunk_storage_size(dataset, first, &stored) >= 0)
        return stored == 0;
    return H5Dget_chunk_info_by_coord(dataset, first, &mask, &at, &stored) >= 0 &&
           at == HADDR_UNDEF;
}

hybrid_status hy_h5_find_chunk(const hy_h5_file *file, hid_t dataset, const char *name,
                               const hsize_t *first, hy_h5_place *out)
{
    char nothing = 0;

    *out = (hy_h5_place){.at = -1};
    if (is_absent(dataset, first))
        return HYBRID_OK;
    noted.is_on       = 1;
    noted.bytes       = 0;
    const herr_t done = H5Dread_chunk(dataset, H5P_DEFAULT, first, &out->mask, &nothing);
    noted.is_on       = 0;
    if (done < 0 || noted.bytes == 0 || noted.bytes > UINT32_MAX ||
        noted.at > (haddr_t)file->bytes || noted.bytes > (haddr_t)file->bytes - noted.at)
        return hy_h5_fail(file, "libhdf5 cannot find a chunk of '%s'", name);
    out->at    = (int64_t)noted.at;
    out->bytes = (uint32_t)noted.bytes;
    return HYBRID_OK;
}

hybrid_status hy_h5_pread(hy_context *ctx, int fd, const char *path, int64_t at,
                          size_t bytes, void *to)
{
    if (read_fully(fd, at, bytes, to))
        return HYBRID_OK;
    if (errno == 0)
        return hy_fail(
            ctx, HYBRID_IO_FAILED,
            "%s: bytes %lld to %lld are not all there: the file became shorter "
            "after it was opened",
            path, (long long)at, (long long)at + (long long)bytes);
    return system_failed(ctx, path, "numbers cannot be read");
}
