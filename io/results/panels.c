/* io/results/panels.c - a result as panels: files of successive rows, in a folder. */
#include "io/results/panels.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/data/csr.h"
#include "io/results/durable.h"
#include "base/data/hash.h"

/* ---- the arrays of a panel --------------------------------------------------------- */

enum { MOST_ARRAYS = 3 };

/* The arrays of a panel in the order of its file. */
typedef struct layout {
    void *at[MOST_ARRAYS];
    int64_t bytes[MOST_ARRAYS];
    int count;
} layout;

static layout of_csr(const hybrid_csr *rows)
{
    return (layout){.at    = {rows->row_ptr, rows->val, rows->col},
                    .bytes = {(rows->rows + 1) * 8,
                              rows->nnz * (int64_t)hy_value_size(rows->type),
                              rows->nnz * 4},
                    .count = 3};
}

static layout of_dense(const hybrid_dense *rows)
{
    return (layout){
        .at    = {rows->data},
        .bytes = {rows->rows * rows->cols * (int64_t)hy_value_size(rows->type)},
        .count = 1};
}

static int64_t bytes_of(const layout *l)
{
    int64_t bytes = 0;

    for (int i = 0; i < l->count; i++)
        bytes += l->bytes[i];
    return bytes;
}

static uint64_t hash_of(const layout *l)
{
    uint64_t hash = 0;

    for (int i = 0; i < l->count; i++)
        hash = hy_hash(hash, l->at[i], (size_t)l->bytes[i]);
    return hash;
}

/* ---- files ------------------------------------------------------------------------- */

/* The path of a panel's file. It lies on the stack, so that a folder can be removed when
   no memory is left. */
typedef struct panel_path {
    char s[PATH_MAX + sizeof "/panel-9223372036854775807"];
} panel_path;

static panel_path path_of(const hy_panels *p, int64_t number)
{
    panel_path path;

    snprintf(path.s, sizeof path.s, "%s/panel-%06lld", p->folder, (long long)number);
    return path;
}

static hybrid_status write_arrays(hy_context *ctx, int fd, const char *path,
                                  const layout *l)
{
    for (int i = 0; i < l->count; i++)
        HY_TRY(hy_write_all(ctx, fd, path, l->at[i], (size_t)l->bytes[i]));
    return fsync(fd) == 0 ? HYBRID_OK : hy_fail_system(ctx, path, "write");
}

static hybrid_status write_file(hy_context *ctx, const char *path, const layout *l)
{
    const int fd =
        open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);

    if (fd < 0)
        return hy_fail_system(ctx, path, "write");
    hybrid_status status = write_arrays(ctx, fd, path, l);
    if (close(fd) != 0 && status == HYBRID_OK)
        status = hy_fail_system(ctx, path, "write");
    return status == HYBRID_OK ? hy_sync_folder_of(ctx, path) : status;
}

/* Writes the file of the next panel, and lists the panel in the manifest. */
static hybrid_status add(hy_file_writer *self, const layout *l, int64_t rows, int64_t nnz)
{
    hy_panels *p                = self->writer;
    const hy_panel_record panel = {rows, nnz, hash_of(l)};

    if (rows == 0)
        return HYBRID_OK;
    HY_TRY(write_file(self->ctx, path_of(p, p->manifest.count).s, l));
    HY_TRY(hy_manifest_add(&p->manifest, &panel));
    self->rows += rows;
    self->nnz += nnz;
    self->bytes += bytes_of(l);
    return HYBRID_OK;
}

static hybrid_status add_sparse(hy_file_writer *self, const hybrid_csr *rows)
{
    const layout l = of_csr(rows);
    return add(self, &l, rows->rows, rows->nnz);
}

static hybrid_status add_dense(hy_file_writer *self, const hybrid_dense *rows)
{
    const layout l = of_dense(rows);
    return add(self, &l, rows->rows, 0);
}

static hybrid_status finish(hy_file_writer *self)
{
    (void)self;
    return HYBRID_OK;
}

static void keep_all(hy_file_writer *self)
{
    (void)self;
}

static const hy_file_writer_ops ops = {
    .sparse = add_sparse, .dense = add_dense, .finish = finish, .abort = keep_all};

/* ---- reading ----------------------------------------------------------------------- */

static hybrid_status damaged(const hy_panels *p, int64_t number, const char *how)
{
    return hy_fail(p->writer.ctx, HYBRID_BAD_FILE,
                   "%s/panel-%06lld: %s; remove the folder to begin again", p->folder,
                   (long long)number, how);
}

static hybrid_status read_fully(const hy_panels *p, int64_t number, int fd, char *to,
                                int64_t bytes)
{
    while (bytes > 0) {
        const ssize_t got = read(fd, to, (size_t)bytes);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return hy_fail_system(p->writer.ctx, p->folder, "read a panel of");
        if (got == 0)
            return damaged(p, number, "the panel is shorter than it was");
        to += got;
        bytes -= got;
    }
    return HYBRID_OK;
}

/* Returns the bytes of a panel's file. */
static int64_t panel_bytes(const hy_file_shape *shape, const hy_panel_record *panel)
{
    const int64_t value = (int64_t)hy_value_size(shape->type);

    return shape->sparse ? hy_csr_bytes(panel->rows, panel->nnz, shape->type)
                         : panel->rows * shape->cols * value;
}

/* Sets the arrays of *sparse or *dense to their places in the panel's bytes at `at`. */
static layout place(const hy_panels *p, const hy_panel_record *panel, char *at,
                    hybrid_csr *sparse, hybrid_dense *dense)
{
    const hy_file_shape *shape = &p->writer.shape;
    char *val                  = at + (panel->rows + 1) * 8;

    if (!shape->sparse) {
        *dense = (hybrid_dense){panel->rows,      shape->cols, shape->cols,
                                HYBRID_ROW_MAJOR, at,          shape->type};
        return of_dense(dense);
    }
    *sparse = (hybrid_csr){.rows        = panel->rows,
                           .cols        = shape->cols,
                           .nnz         = panel->nnz,
                           .offset_type = HYBRID_I64,
                           .row_ptr     = at,
                           .val         = val,
                           .col  = val + panel->nnz * (int64_t)hy_value_size(shape->type),
                           .type = shape->type,
                           .col_type = HYBRID_I32};
    return of_csr(sparse);
}

static hybrid_status read_file(const hy_panels *p, int64_t number, int fd,
                               hy_reused *block, hybrid_csr *sparse, hybrid_dense *dense)
{
    const hy_panel_record *panel = &p->manifest.panels[number];
    const int64_t bytes          = panel_bytes(&p->writer.shape, panel);
    struct stat st;

    if (fstat(fd, &st) != 0 || st.st_size != bytes)
        return damaged(p, number, "the panel has another size than it had");
    HY_TRY(hy_array_reuse(p->writer.ctx, block, bytes + 8, "a panel of the result"));
    const layout l = place(p, panel, block->array, sparse, dense);
    HY_TRY(read_fully(p, number, fd, block->array, bytes));
    return hash_of(&l) == panel->hash
               ? HYBRID_OK
               : damaged(p, number, "the checksum of the panel is wrong");
}

hybrid_status hy_panels_read(const hy_panels *p, int64_t number, hy_reused *block,
                             hybrid_csr *sparse, hybrid_dense *dense)
{
    const panel_path path = path_of(p, number);
    const int fd          = open(path.s, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

    if (fd < 0)
        return hy_fail_system(p->writer.ctx, path.s, "read");
    const hybrid_status status = read_file(p, number, fd, block, sparse, dense);
    close(fd);
    return status;
}

/* ---- taking over panels ------------------------------------------------------------ */

/* Checks that the sizes of the panel fit the result and the panels before it. */
static hybrid_status check_sizes(const hy_panels *p, int64_t number)
{
    const hy_file_writer *w      = &p->writer;
    const hy_panel_record *panel = &p->manifest.panels[number];

    if (panel->rows <= w->shape.rows - w->rows && panel->nnz <= INT64_MAX / 64 - w->nnz)
        return HYBRID_OK;
    return damaged(p, number, "the panel has more rows than the result");
}

static hybrid_status take_over(hy_panels *p)
{
    hybrid_status status = HYBRID_OK;
    hy_reused block      = {NULL, 0};
    hybrid_csr sparse;
    hybrid_dense dense;

    for (int64_t i = 0; i < p->manifest.count && status == HYBRID_OK; i++) {
        HY_TRY_ELSE_DONE(hy_progress_check(&p->writer.ctx->progress));
        HY_TRY_ELSE_DONE(check_sizes(p, i));
        HY_TRY_ELSE_DONE(hy_panels_read(p, i, &block, &sparse, &dense));
        p->writer.rows += p->manifest.panels[i].rows;
        p->writer.nnz += p->manifest.panels[i].nnz;
    }
done:
    hy_array_free_reused(p->writer.ctx, &block);
    return status;
}

static hybrid_status open_folder(hy_panels *p, const char *facts)
{
    hy_context *ctx = p->writer.ctx;
    char *path;

    if (mkdir(p->folder, 0777) != 0 && errno != EEXIST)
        return hy_fail_system(ctx, p->folder, "make the folder");
    HY_TRY(hy_join(ctx, p->folder, "/manifest", &path));
    hybrid_status status = hy_manifest_open(ctx, path, facts, &p->manifest);
    hy_array_free(ctx, path);
    if (status == HYBRID_OK)
        status = hy_sync_folder_of(ctx, p->folder);
    return status == HYBRID_OK ? take_over(p) : status;
}

hybrid_status hy_panels_open(hy_context *ctx, const char *folder, const char *facts,
                             const hy_file_shape *shape, hy_panels *out)
{
    *out        = (hy_panels){.manifest = {.fd = -1}};
    out->writer = (hy_file_writer){.ops = &ops, .ctx = ctx, .shape = *shape};
    HY_TRY(hy_join(ctx, folder, "", &out->folder));
    out->writer.writer         = out;
    const hybrid_status status = open_folder(out, facts);
    if (status != HYBRID_OK)
        hy_panels_close(out);
    return status;
}

void hy_panels_close(hy_panels *p)
{
    if (!p->folder)
        return;
    hy_manifest_close(&p->manifest);
    hy_array_free(p->writer.ctx, p->folder);
    *p = (hy_panels){.manifest = {.fd = -1}};
}

/* Removes the manifest first: without it a folder has no panels. */
void hy_panels_remove(const hy_panels *p)
{
    unlink(p->manifest.path);
    for (int64_t i = 0; i <= p->manifest.count; i++)
        unlink(path_of(p, i).s);
    rmdir(p->folder);
}
