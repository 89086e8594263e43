/* io/hdf5/h5_file.c - opens files with libhdf5, and finds out where chunks lie. */
#include "io/hdf5/h5_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/hdf5/h5_driver.h"
#include "io/text/io.h"

/* ---- one thread at a time ---------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once  = PTHREAD_ONCE_INIT;

static void hold(void)
{
    pthread_mutex_lock(&lock);
}

static void let_go(void)
{
    pthread_mutex_unlock(&lock);
}

/* Lets fork() wait until no thread uses libhdf5. The child lacks the other threads, so it
   would otherwise wait for ever for the one that used libhdf5. If memory is too short for
   this, forks do not wait. */
static void prepare_forks(void)
{
    (void)pthread_atfork(hold, let_go, let_go);
}

void hy_h5_enter(hy_h5_entered *entered)
{
    pthread_once(&once, prepare_forks);
    hold();
    *entered = (hy_h5_entered){NULL, NULL};
    if (H5Eget_auto2(H5E_DEFAULT, &entered->report, &entered->data) >= 0)
        (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

void hy_h5_leave(const hy_h5_entered *entered)
{
    (void)H5Eset_auto2(H5E_DEFAULT, entered->report, entered->data);
    let_go();
}

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
        out->disk  = (hy_h5_disk){.fd = out->fd, .bytes = st.st_size};
        out->id    = hy_h5_driver_open(path, &out->disk);
        status     = out->id >= 0 ? HYBRID_OK
                                  : hy_h5_fail(out, "libhdf5 cannot open %s", "the file");
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

/* Returns 1 if the file does not hold the chunk. The second call of libhdf5 distinguishes
   such a chunk from a file that cannot be read; it visits all chunks, so it comes
   last. */
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
    haddr_t at;
    size_t bytes;

    *out = (hy_h5_place){.at = -1};
    if (is_absent(dataset, first))
        return HYBRID_OK;
    hy_h5_driver_note(1);
    const herr_t done = H5Dread_chunk(dataset, H5P_DEFAULT, first, &out->mask, &nothing);
    hy_h5_driver_note(0);
    hy_h5_driver_noted(&at, &bytes);
    if (done < 0 || bytes == 0 || bytes > UINT32_MAX || at > (haddr_t)file->bytes ||
        bytes > (haddr_t)file->bytes - at)
        return hy_h5_fail(file, "libhdf5 cannot find a chunk of '%s'", name);
    out->at    = (int64_t)at;
    out->bytes = (uint32_t)bytes;
    return HYBRID_OK;
}

hybrid_status hy_h5_pread(hy_context *ctx, int fd, const char *path, int64_t at,
                          size_t bytes, void *to)
{
    if (hy_h5_read_fully(fd, at, bytes, to))
        return HYBRID_OK;
    if (errno == 0)
        return hy_fail(
            ctx, HYBRID_IO_FAILED,
            "%s: bytes %lld to %lld are not all there: the file became shorter "
            "after it was opened",
            path, (long long)at, (long long)at + (long long)bytes);
    return system_failed(ctx, path, "numbers cannot be read");
}
