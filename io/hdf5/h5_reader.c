/* io/hdf5/h5_reader.c - what the readers of whole and of chunked datasets share. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/memory/memory.h"
#include "io/hdf5/h5_array.h"

/* ---- types ------------------------------------------------------------------------- */

static hybrid_status choose_type(const hy_h5_array *a, hy_h5_wanted wanted,
                                 hy_h5_number *to)
{
    const hy_h5_number *from = &a->number;
    const int is_float       = from->kind == HY_H5_FLOAT;
    const int is_narrow =
        from->bytes < 4 || (from->bytes == 4 && from->kind == HY_H5_SIGNED);

    if (wanted == HY_H5_VALUES)
        *to = (hy_h5_number){HY_H5_FLOAT, is_float ? from->bytes : 8, 0};
    else if (is_float)
        return hy_fail(a->file->ctx, HYBRID_BAD_FILE,
                       "%s: '%s' must hold integers, but holds floating-point numbers",
                       a->file->path, a->name);
    else
        *to = (hy_h5_number){
            HY_H5_SIGNED,
            wanted == HY_H5_I32 || (wanted == HY_H5_OFFSETS && is_narrow) ? 4 : 8, 0};
    return HYBRID_OK;
}

hybrid_status hy_h5_deliver(const hy_h5_reader *reader, const char *in, int64_t first,
                            int64_t count, char *to)
{
    const hy_h5_array *a = &reader->array;
    const int64_t done   = hy_h5_convert(&a->number, &reader->to, in, count, to);

    if (done == count)
        return HYBRID_OK;
    const int64_t number = first + done;
    return hy_fail(reader->ctx, HYBRID_BAD_FILE,
                   "%s: number %lld of '%s' does not fit a signed integer of %d bits",
                   reader->path, (long long)number, a->name,
                   8 * (int)(reader->to.kind == HY_H5_FLOAT ? 8 : reader->to.bytes));
}

void hy_h5_fill(const hy_h5_array *array, int64_t count, char *to)
{
    for (int64_t i = 0; i < count; i++)
        memcpy(to + i * (int64_t)array->number.bytes, array->fill, array->number.bytes);
}

/* ---- opening ----------------------------------------------------------------------- */

/* Copies the path of the file and, behind it in one block of memory, the dataset's
   name. */
static hybrid_status take_names(hy_h5_reader *r, const hy_h5_array *a)
{
    const size_t path = strlen(a->file->path) + 1, name = strlen(a->name) + 1;
    void *copy;

    HY_TRY(hy_array(r->ctx, (int64_t)(path + name), 1, "the name of a file", &copy));
    r->path       = memcpy(copy, a->file->path, path);
    r->array.name = memcpy(r->path + path, a->name, name);
    return HYBRID_OK;
}

static hybrid_status begin(hy_h5_reader *r, const hy_h5_array *a, hy_h5_wanted wanted)
{
    HY_TRY(choose_type(a, wanted, &r->to));
    HY_TRY(take_names(r, a));
    r->fd = fcntl(a->file->fd, F_DUPFD_CLOEXEC, 0);
    if (r->fd < 0)
        return hy_fail(r->ctx, HYBRID_IO_FAILED,
                       "%s: the process has too many open files", r->path);
    return HYBRID_OK;
}

void hy_h5_reader_free(hy_h5_reader *reader)
{
    hy_h5_array_free(reader->ctx, &reader->array);
    if (reader->fd >= 0)
        (void)close(reader->fd); /* The file was only read, so close() loses nothing. */
    hy_array_free(reader->ctx, reader->path);
}

hybrid_status hy_h5_array_open(hy_context *ctx, hy_h5_array *array, hy_h5_wanted wanted,
                               hy_stored *out)
{
    const int chunked    = array->chunk[0] > 0;
    hy_h5_reader r       = {.ctx = ctx, .array = *array, .fd = -1};
    void *made           = NULL;
    hybrid_status status = begin(&r, array, wanted);

    r.array.file = NULL;
    if (status == HYBRID_OK)
        status = (chunked ? hy_h5_chunked_make : hy_h5_whole_make)(&r, &made);
    if (status != HYBRID_OK)
        hy_h5_reader_free(&r);
    else
        *out = (hy_stored){.ops    = chunked ? &hy_h5_chunked : &hy_h5_whole,
                           .ctx    = ctx,
                           .size   = r.to.bytes,
                           .count  = hy_h5_count(array),
                           .reader = made};
    array->compact = NULL;
    array->places  = NULL;
    return status;
}

hybrid_status hy_h5_vector_open(const hy_h5_file *file, const char *name,
                                hy_h5_wanted wanted, hy_stored *out, hy_h5_number *type)
{
    hy_h5_array array;

    HY_TRY(hy_h5_array_describe(file, name, &array));
    if (type)
        *type = array.number;
    if (array.rank == 1)
        return hy_h5_array_open(file->ctx, &array, wanted, out);
    hy_h5_array_free(file->ctx, &array);
    return hy_fail(file->ctx, HYBRID_BAD_FILE, "%s: '%s' must have one axis", file->path,
                   name);
}
