/* io/parts/parts_write.c - writes a matrix as raw numbers in several parts. */
#include "io/parts/parts_write.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "io/formats/put_json.h"
#include "io/formats/raw_names.h"
#include "io/formats/raw_write.h"
#include "io/results/durable.h"
#include "io/text/io.h"
#include "io/text/json_string.h"

enum { PART_BYTES = 64 /* room for the name of a part in the folder */ };
static const char mark[] = "partial"; /* file that an unfinished folder has */

typedef struct parts_writer {
    hy_byte_file json; /* description of all parts */
    char folder[HY_NAME_BYTES];
    DIR *files;          /* the folder, locked; NULL: there is none */
    hy_file_writer part; /* the part that receives rows; its ops are NULL if there is
                            none */
    int64_t count;       /* number of finished parts */
    hy_reused offsets;   /* buffer for the offsets of rows that are divided among parts */
} parts_writer;

/* ---- the folder ----------------------------------------------------------------------
 */

static void remove_parts(DIR *files)
{
    const struct dirent *entry;

    rewinddir(files);
    while ((entry = readdir(files)))
        if (strncmp(entry->d_name, "part-", 5) == 0)
            unlinkat(dirfd(files), entry->d_name, 0);
}

/* Sets *may to 1 if this call has made the folder, a killed process has left it, or it
   belongs to an earlier matrix of the description; else to 0. */
static hybrid_status may_take(hy_context *ctx, const char *target, const char *folder,
                              int is_new, int fd, int *may)
{
    char name[HY_NAME_BYTES + 2];

    *may = is_new || faccessat(fd, mark, F_OK, 0) == 0;
    if (*may)
        return HYBRID_OK;
    snprintf(name, sizeof name, "%s/", hy_base_of(folder));
    return hy_raw_is_old(ctx, target, name, may);
}

/* Locks the folder, which is open as `fd`, and opens it as w->files, unless another
   matrix or a running process needs it. */
static hybrid_status take_folder(hy_context *ctx, const char *target, int is_new, int fd,
                                 parts_writer *w)
{
    int may;

    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return HYBRID_OK; /* Other errors mean that the file system has no locks. */
    HY_TRY(may_take(ctx, target, w->folder, is_new, fd, &may));
    if (!may)
        return HYBRID_OK;
    w->files = fdopendir(fd);
    return w->files ? HYBRID_OK : hy_fail_system(ctx, w->folder, "open");
}

/* Makes the folder w->folder, or takes over one of this name. Leaves w->files NULL if
   that is not allowed, or if the name is that of a file. */
static hybrid_status try_folder(hy_context *ctx, const char *target, parts_writer *w)
{
    const int is_new = mkdir(w->folder, 0777) == 0;

    if (!is_new && errno != EEXIST)
        return hy_fail_system(ctx, w->folder, "make the folder");
    const int fd = open(w->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    hybrid_status status = fd >= 0 ? take_folder(ctx, target, is_new, fd, w)
                           : errno == ENOTDIR || errno == ELOOP
                               ? HYBRID_OK
                               : hy_fail_system(ctx, w->folder, "open");
    if (fd >= 0 && !w->files)
        close(fd);
    if (is_new && !w->files)
        rmdir(w->folder);
    return status;
}

static hybrid_status open_folder(hy_context *ctx, const char *target, parts_writer *w)
{
    for (int i = 0; i < HY_NAMES && !w->files; i++) {
        HY_TRY(hy_raw_name(ctx, target, i, ".rows", w->folder));
        HY_TRY(try_folder(ctx, target, w));
    }
    if (!w->files)
        return hy_raw_names_are_taken(ctx, target, w->folder);
    const int fd =
        openat(dirfd(w->files), mark, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0)
        return hy_fail_system(ctx, w->folder, "write");
    close(fd);
    remove_parts(w->files);
    return HYBRID_OK;
}

/* Removes the folder with its parts. The mark is the last file, so that a process that is
   killed meanwhile leaves a folder that a later call replaces. */
static void remove_folder(const parts_writer *w)
{
    remove_parts(w->files);
    unlinkat(dirfd(w->files), mark, 0);
    rmdir(w->folder);
}

/* Makes the folder one of a finished matrix, and its contents and name durable. */
static hybrid_status finish_folder(hy_context *ctx, const parts_writer *w)
{
    char inside[HY_NAME_BYTES + sizeof mark];

    if (unlinkat(dirfd(w->files), mark, 0) != 0)
        return hy_fail_system(ctx, w->folder, "write");
    snprintf(inside, sizeof inside, "%s/%s", w->folder, mark);
    HY_TRY(hy_sync_folder_of(ctx, inside));
    return hy_sync_folder_of(ctx, w->folder);
}

/* ---- parts ---------------------------------------------------------------------------
 */

/* Writes the name of a part, relative to the description. */
static void name_part(const parts_writer *w, int64_t number, char *to, size_t room)
{
    snprintf(to, room, "%s/part-%06lld.json", hy_base_of(w->folder), (long long)number);
}

static hybrid_status open_part(hy_file_writer *self)
{
    parts_writer *w      = self->writer;
    hy_file_shape shape  = self->shape;
    const size_t parents = (size_t)(hy_base_of(w->folder) - w->folder);
    char path[HY_NAME_BYTES + PART_BYTES];

    snprintf(path, sizeof path, "%.*s", (int)parents, w->folder);
    name_part(w, w->count, path + parents, sizeof path - parents);
    shape.rows      = hy_min(shape.part_rows, shape.rows - self->rows);
    shape.nnz       = -1;
    shape.part_rows = 0;
    shape.target    = NULL;
    return hy_raw_create(self->ctx, path, &shape, &w->part);
}

static hybrid_status end_part(parts_writer *w)
{
    HY_TRY(w->part.ops->finish(&w->part));
    w->count++;
    return HYBRID_OK;
}

/* ---- rows ----------------------------------------------------------------------------
 */

/* Appends rows [first, first + count) of `rows` to the open part. */
static hybrid_status put_sparse(parts_writer *w, const hybrid_csr *rows, int64_t first,
                                int64_t count)
{
    const int64_t *from = (const int64_t *)rows->row_ptr + first;
    hybrid_csr some     = *rows;

    if (count == rows->rows)
        return w->part.ops->sparse(&w->part, rows);
    HY_TRY(hy_array_reuse(w->part.ctx, &w->offsets, (count + 1) * 8,
                          "offsets of a part of the result"));
    int64_t *to = w->offsets.array;
    for (int64_t i = 0; i <= count; i++)
        to[i] = from[i] - from[0];
    some.rows    = count;
    some.nnz     = to[count];
    some.row_ptr = to;
    if (from[0] > 0) {
        some.col = (int32_t *)rows->col + from[0];
        some.val = (char *)rows->val + from[0] * (int64_t)hy_value_size(rows->type);
    }
    return w->part.ops->sparse(&w->part, &some);
}

static hybrid_status put_dense(parts_writer *w, const hybrid_dense *rows, int64_t first,
                               int64_t count)
{
    hybrid_dense some = *rows;

    some.rows = count;
    some.data =
        hy_dense_at(rows, first * (rows->order == HYBRID_ROW_MAJOR ? rows->ld : 1));
    return w->part.ops->dense(&w->part, &some);
}

/* Appends rows [first, first + count) of *sparse or *dense, that of the matrix's kind, to
   the open part, and counts them. */
static hybrid_status put(hy_file_writer *self, const hybrid_csr *sparse,
                         const hybrid_dense *dense, int64_t first, int64_t count)
{
    parts_writer *w   = self->writer;
    const int64_t nnz = w->part.nnz, bytes = w->part.bytes;

    HY_TRY(sparse ? put_sparse(w, sparse, first, count)
                  : put_dense(w, dense, first, count));
    self->rows += count;
    self->nnz += w->part.nnz - nnz;
    self->bytes += w->part.bytes - bytes;
    return HYBRID_OK;
}

/* Divides `rows` rows among parts. */
static hybrid_status append(hy_file_writer *self, const hybrid_csr *sparse,
                            const hybrid_dense *dense, int64_t rows)
{
    parts_writer *w = self->writer;

    for (int64_t i = 0, count; i < rows; i += count) {
        if (!w->part.ops)
            HY_TRY(open_part(self));
        const int64_t room = w->part.shape.rows - w->part.rows;
        count              = hy_min(rows - i, room);
        if (count == 0)
            return hy_fail(self->ctx, HYBRID_BAD_ARGUMENT,
                           "%s: the matrix has more rows than were announced", w->folder);
        HY_TRY(put(self, sparse, dense, i, count));
        if (count == room)
            HY_TRY(end_part(w));
    }
    return HYBRID_OK;
}

static hybrid_status append_sparse(hy_file_writer *self, const hybrid_csr *rows)
{
    return append(self, rows, NULL, rows->rows);
}

static hybrid_status append_dense(hy_file_writer *self, const hybrid_dense *rows)
{
    return append(self, NULL, rows, rows->rows);
}

/* ---- description ---------------------------------------------------------------------
 */

static hybrid_status print(const void *writer, hy_byte_region *to)
{
    const parts_writer *w = writer;
    char name[HY_NAME_BYTES + PART_BYTES];

    HY_TRY(hy_byte_region_print(
        to, "{\"format\": \"hybrid-rows\", \"version\": 1,\n \"parts\": ["));
    for (int64_t i = 0; i < w->count; i++) {
        name_part(w, i, name, sizeof name);
        HY_TRY(hy_byte_region_print(to, i == 0 ? "\n  {\"file\": " : ",\n  {\"file\": "));
        HY_TRY(hy_put_json_string(to, name));
        HY_TRY(hy_byte_region_print(to, "}"));
    }
    return hy_byte_region_print(to, "]}\n");
}

/* ---- end -----------------------------------------------------------------------------
 */

static void close_writer(hy_file_writer *self)
{
    parts_writer *w = self->writer;

    if (w->files)
        closedir(w->files);
    (void)hy_byte_file_close(&w->json);
    hy_array_free_reused(self->ctx, &w->offsets);
    hy_array_free(self->ctx, w);
    self->ops = NULL;
}

static void abort_writer(hy_file_writer *self)
{
    parts_writer *w = self->writer;

    if (w->part.ops)
        w->part.ops->abort(&w->part);
    if (w->files)
        remove_folder(w);
    close_writer(self);
}

/* A matrix without rows has one part. If rows are missing, the last part says so. */
static hybrid_status finish(hy_file_writer *self)
{
    parts_writer *w = self->writer;

    if (!w->part.ops && (w->count == 0 || self->rows < self->shape.rows))
        HY_TRY(open_part(self));
    if (w->part.ops)
        HY_TRY(end_part(w));
    HY_TRY(hy_byte_file_print(&w->json, print, w));
    HY_TRY(hy_byte_file_sync(&w->json));
    HY_TRY(finish_folder(self->ctx, w));
    close_writer(self);
    return HYBRID_OK;
}

/* ---- beginning -----------------------------------------------------------------------
 */

/* Returns the bytes of the name as a string of JSON, without its quotes. */
static int64_t quoted_bytes(const char *name)
{
    char escape[8];
    int64_t bytes = 0;

    for (; *name; name++)
        bytes += (int64_t)hy_json_string_encode(*name, escape);
    return bytes;
}

/* Refuses a matrix whose description would be longer than what is read again. */
static hybrid_status check_length(hy_context *ctx, const hy_file_shape *shape,
                                  const parts_writer *w)
{
    const int64_t parts = hy_max(0, shape->rows - 1) / shape->part_rows + 1;
    const int64_t line  = PART_BYTES + quoted_bytes(hy_base_of(w->folder));

    if (parts < hy_min(HY_MOST_PARTS + 1, HY_HEAD_BYTES / line))
        return HYBRID_OK;
    return hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                   "%s: a description has no room for %lld parts with such a long name",
                   w->folder, (long long)parts);
}

static hybrid_status begin(hy_file_writer *self, const char *path)
{
    const hy_file_shape *shape = &self->shape;
    parts_writer *w            = self->writer;

    HY_TRY(open_folder(self->ctx, shape->target ? shape->target : path, w));
    HY_TRY(check_length(self->ctx, shape, w));
    return hy_byte_file_create(self->ctx, path, &w->json);
}

static const hy_file_writer_ops ops = {.state_bytes = sizeof(parts_writer),
                                       .begin       = begin,
                                       .sparse      = append_sparse,
                                       .dense       = append_dense,
                                       .finish      = finish,
                                       .abort       = abort_writer};

hybrid_status hy_parts_create(hy_context *ctx, const char *path,
                              const hy_file_shape *shape, hy_file_writer *out)
{
    return hy_file_writer_open(ctx, path, shape, &ops, out);
}
