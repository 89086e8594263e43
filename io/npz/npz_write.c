/* io/npz/npz_write.c - writes a sparse matrix as SciPy's save_npz() does.

   The sizes of all members follow from the shape, so that each member has its place from
   the beginning, and rows are appended to three members at once. Headers with checksums
   and the directory are written at the end. All sizes are in ZIP64 fields. */
#include <string.h>
#include <zlib.h>

#include "base/data/csr.h"
#include "io/arrays/npy.h"
#include "io/formats/byte_file.h"
#include "io/npz/npz.h"
#include "io/npz/zip_bytes.h"
#include "io/numbers/put_rows.h"

enum {
    VERSION     = 45,          /* version of the ZIP format: the first with ZIP64 */
    DATE        = 1 << 5 | 1,  /* 1 January 1980: files do not depend on time */
    NAME_BYTES  = 16,          /* maximum bytes of a member's name */
    LOCAL_EXTRA = 4 + 2 * 8,   /* bytes of the extra field with both 64-bit sizes of a
                                  member */
    CENTRAL_EXTRA = 4 + 3 * 8, /* bytes of the extra field with both sizes and the
                                  position */
    MEMBER_BYTES = HY_ZIP_CENTRAL + NAME_BYTES + CENTRAL_EXTRA
};

/* The members of the file, in the order in which SciPy writes them. */
typedef enum part { INDICES, INDPTR, FORMAT, SHAPE, DATA, PARTS } part;
static const char *const names[] = {"indices.npy", "indptr.npy", "format.npy",
                                    "shape.npy", "data.npy"};

typedef struct member {
    int64_t at;    /* position of the member's header in the file */
    int64_t bytes; /* bytes of the member, which is a .npy file */
    uint32_t crc;
    hy_byte_region region; /* range of the file for the numbers of the member */
} member;

typedef struct npz_writer {
    hy_byte_file file;
    hy_number_kind index;
    hy_number_kind value;
    member member[PARTS];
} npz_writer;

/* ---- places ------------------------------------------------------------------------ */

static int64_t header_bytes(part p)
{
    return HY_ZIP_LOCAL + (int64_t)strlen(names[p]) + LOCAL_EXTRA;
}

/* Returns the number of elements of a member. The member `format` is one word of 3
   bytes. */
static int64_t count_of(const hy_file_shape *shape, part p)
{
    return p == INDPTR ? shape->rows + 1 : p == SHAPE ? 2 : p == FORMAT ? 1 : shape->nnz;
}

static int size_of(const npz_writer *w, part p)
{
    return p == FORMAT ? 3 : p == SHAPE ? 8 : p == DATA ? w->value.size : w->index.size;
}

/* Sets the places of all members. Returns 0 if a size exceeds 2^62 bytes. */
static int place_members(npz_writer *w, const hy_file_shape *shape)
{
    int64_t at = 0, bytes;

    for (int p = 0; p < PARTS; p++) {
        if (__builtin_mul_overflow(count_of(shape, (part)p), size_of(w, (part)p),
                                   &bytes) ||
            bytes > INT64_MAX / 4 || at > INT64_MAX / 4)
            return 0;
        w->member[p].at    = at;
        w->member[p].bytes = HY_NPY_HEADER_BYTES + bytes;
        at += header_bytes((part)p) + w->member[p].bytes;
    }
    return 1;
}

static int64_t numbers_at(const npz_writer *w, part p)
{
    return w->member[p].at + header_bytes(p) + HY_NPY_HEADER_BYTES;
}

/* ---- beginning --------------------------------------------------------------------- */

static const char *descr_of(const npz_writer *w, part p)
{
    if (p == FORMAT)
        return "|S3";
    if (p == DATA)
        return w->value.size == 8 ? "<f8" : "<f4";
    return p == SHAPE || w->index.size == 8 ? "<i8" : "<i4";
}

/* Writes the .npy header of a member, and opens the region behind it. */
static hybrid_status begin_member(npz_writer *w, const hy_file_shape *shape, part p)
{
    member *m        = &w->member[p];
    const int64_t at = numbers_at(w, p);
    char header[HY_NPY_HEADER_BYTES];

    hy_npy_make_header(descr_of(w, p), HYBRID_ROW_MAJOR,
                       p == FORMAT ? -1 : count_of(shape, p), -1, header);
    m->crc = (uint32_t)crc32_z(0, (const Bytef *)header, sizeof header);
    HY_TRY(hy_byte_file_put(&w->file, at - HY_NPY_HEADER_BYTES, header, sizeof header));
    HY_TRY(hy_byte_region_open(&w->file, at, at + m->bytes - HY_NPY_HEADER_BYTES,
                               &m->region));
    m->region.crc = &m->crc;
    return HYBRID_OK;
}

static hybrid_status begin_members(npz_writer *w, const hy_file_shape *shape)
{
    const hy_number_kind i64 = hy_kind_of_index(HYBRID_I64);

    for (int p = 0; p < PARTS; p++)
        HY_TRY(begin_member(w, shape, (part)p));
    HY_TRY(hy_byte_region_put(&w->member[FORMAT].region, "csr", 3));
    HY_TRY(hy_put_index(&w->member[SHAPE].region, i64, shape->rows));
    HY_TRY(hy_put_index(&w->member[SHAPE].region, i64, shape->cols));
    return hy_put_index(&w->member[INDPTR].region, w->index, 0);
}

/* ---- rows -------------------------------------------------------------------------- */

static hybrid_status append(hy_file_writer *self, const hybrid_csr *rows)
{
    npz_writer *w = self->writer;

    HY_TRY(hy_put_offsets(&w->member[INDPTR].region, w->index, rows, self->nnz));
    HY_TRY(hy_put_columns(&w->member[INDICES].region, w->index, rows));
    HY_TRY(hy_put_values(&w->member[DATA].region, w->value, rows->type, rows->val,
                         rows->nnz));
    self->rows += rows->rows;
    self->nnz += rows->nnz;
    self->bytes +=
        rows->rows * w->index.size + rows->nnz * (w->index.size + w->value.size);
    return HYBRID_OK;
}

/* ---- end --------------------------------------------------------------------------- */

/* Writes the fields that both headers of a member have. */
static char *put_fields(char *to, const member *m, part p, int extra)
{
    to = hy_zip_put(to, 2, VERSION);
    to = hy_zip_put(to, 2, 0); /* flags */
    to = hy_zip_put(to, 2, 0); /* method: stored */
    to = hy_zip_put(to, 2, 0); /* time */
    to = hy_zip_put(to, 2, DATE);
    to = hy_zip_put(to, 4, m->crc);
    to = hy_zip_put(to, 8, UINT64_MAX); /* both sizes are in the extra field */
    to = hy_zip_put(to, 2, strlen(names[p]));
    return hy_zip_put(to, 2, (uint64_t)extra);
}

static char *put_name(char *to, part p)
{
    const size_t length = strlen(names[p]);

    memcpy(to, names[p], length);
    return to + length;
}

static char *put_extra(char *to, const member *m, int bytes)
{
    to = hy_zip_put(to, 2, 1);
    to = hy_zip_put(to, 2, (uint64_t)bytes - 4);
    to = hy_zip_put(to, 8, (uint64_t)m->bytes);
    to = hy_zip_put(to, 8, (uint64_t)m->bytes);
    return bytes == CENTRAL_EXTRA ? hy_zip_put(to, 8, (uint64_t)m->at) : to;
}

static hybrid_status put_local(const npz_writer *w, part p)
{
    const member *m = &w->member[p];
    char header[HY_ZIP_LOCAL + NAME_BYTES + LOCAL_EXTRA], *to = header;

    to = hy_zip_put(to, 4, HY_ZIP_LOCAL_MARK);
    to = put_fields(to, m, p, LOCAL_EXTRA);
    to = put_name(to, p);
    to = put_extra(to, m, LOCAL_EXTRA);
    return hy_byte_file_put(&w->file, m->at, header, (size_t)(to - header));
}

static char *put_central(char *to, const member *m, part p)
{
    to = hy_zip_put(to, 4, HY_ZIP_CENTRAL_MARK);
    to = hy_zip_put(to, 2, VERSION);
    to = put_fields(to, m, p, CENTRAL_EXTRA);
    to = hy_zip_put(to, 2, 0); /* length of a comment */
    to = hy_zip_put(to, 2, 0); /* number of the disk on which the member begins */
    to = hy_zip_put(to, 2, 0); /* attributes */
    to = hy_zip_put(to, 4, 0);
    to = hy_zip_put(to, 4, UINT32_MAX); /* the place is in the extra field */
    to = put_name(to, p);
    return put_extra(to, m, CENTRAL_EXTRA);
}

/* Writes the records that end the file, behind the directory, which begins at `at` and
   takes `bytes` bytes. Returns the place behind them. */
static char *put_end(char *to, int64_t at, int64_t bytes)
{
    to = hy_zip_put(to, 4, HY_ZIP_END64_MARK);
    to = hy_zip_put(to, 8, HY_ZIP_END64 - 12);
    to = hy_zip_put(to, 2, VERSION);
    to = hy_zip_put(to, 2, VERSION);
    to = hy_zip_put(to, 8, 0); /* numbers of this disk and of the disk with the directory,
                                  4 bytes each */
    to = hy_zip_put(to, 8, PARTS);
    to = hy_zip_put(to, 8, PARTS);
    to = hy_zip_put(to, 8, (uint64_t)bytes);
    to = hy_zip_put(to, 8, (uint64_t)at);
    to = hy_zip_put(to, 4, HY_ZIP_LOCATOR64_MARK);
    to = hy_zip_put(to, 4, 0);
    to = hy_zip_put(to, 8, (uint64_t)(at + bytes));
    to = hy_zip_put(to, 4, 1); /* number of disks */
    to = hy_zip_put(to, 4, HY_ZIP_END_MARK);
    to = hy_zip_put(to, 4, 0); /* numbers of this disk and of the disk with the directory,
                                  2 bytes each */
    to = hy_zip_put(to, 2, PARTS);
    to = hy_zip_put(to, 2, PARTS);
    to = hy_zip_put(to, 8, UINT64_MAX); /* bytes and place are in the record above */
    return hy_zip_put(to, 2, 0);        /* comment */
}

static hybrid_status put_directory(const npz_writer *w)
{
    char all[PARTS * MEMBER_BYTES + HY_ZIP_END64 + HY_ZIP_LOCATOR64 + HY_ZIP_END];
    char *to         = all;
    const int64_t at = numbers_at(w, DATA) + w->member[DATA].bytes - HY_NPY_HEADER_BYTES;

    for (int p = 0; p < PARTS; p++)
        to = put_central(to, &w->member[p], (part)p);
    to = put_end(to, at, to - all);
    return hy_byte_file_put(&w->file, at, all, (size_t)(to - all));
}

static void close_writer(hy_file_writer *self)
{
    npz_writer *w = self->writer;

    for (int p = 0; p < PARTS; p++)
        hy_byte_region_close(&w->member[p].region);
    (void)hy_byte_file_close(&w->file);
    hy_array_free(self->ctx, w);
    self->ops = NULL;
}

static hybrid_status finish(hy_file_writer *self)
{
    npz_writer *w = self->writer;

    for (int p = 0; p < PARTS; p++) {
        HY_TRY(hy_byte_region_flush(&w->member[p].region));
        HY_TRY(put_local(w, (part)p));
    }
    HY_TRY(put_directory(w));
    HY_TRY(hy_byte_file_close(&w->file));
    close_writer(self);
    return HYBRID_OK;
}

/* Returns the type of offsets and columns, which SciPy wants to be the same. */
static hybrid_index index_of(const hy_file_shape *shape)
{
    const int is_wide = shape->offsets == HYBRID_I64 || shape->columns == HYBRID_I64 ||
                        shape->nnz > INT32_MAX || shape->cols > INT32_MAX;

    return is_wide ? HYBRID_I64 : HYBRID_I32;
}

int64_t hy_npz_bytes(const hy_file_shape *shape)
{
    const int64_t index = index_of(shape) == HYBRID_I64 ? 8 : 4;

    return hy_arrays_bytes(shape, index, index, (int64_t)hy_value_size(shape->type));
}

static hybrid_status begin(hy_file_writer *self, const char *path)
{
    const hy_file_shape *shape = &self->shape;
    npz_writer *w              = self->writer;

    w->index = hy_kind_of_index(index_of(shape));
    w->value = hy_kind_of_type(shape->type);
    if (!place_members(w, shape))
        return hy_fail(self->ctx, HYBRID_BAD_ARGUMENT,
                       "%s: the matrix is too large for a file", path);
    HY_TRY(hy_byte_file_create(self->ctx, path, &w->file));
    return begin_members(w, shape);
}

static const hy_file_writer_ops ops = {.state_bytes = sizeof(npz_writer),
                                       .begin       = begin,
                                       .sparse      = append,
                                       .finish      = finish,
                                       .abort       = close_writer};

hybrid_status hy_npz_create(hy_context *ctx, const char *path, const hy_file_shape *shape,
                            hy_file_writer *out)
{
    if (!shape->sparse)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                       "%s: a .npz file cannot hold a dense matrix", path);
    if (shape->nnz < 0)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                       "%s: a .npz file needs a sparse matrix whose number of entries is "
                       "known",
                       path);
    return hy_file_writer_open(ctx, path, shape, &ops, out);
}
