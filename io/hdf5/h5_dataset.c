/* io/hdf5/h5_dataset.c - describes a dataset: type, shape, filters, and where its numbers
   lie. */
#include <stdio.h>
#include <string.h>

#include "base/memory/memory.h"
#include "io/hdf5/h5_array.h"

static hybrid_status fail(const hy_h5_array *a, const char *what)
{
    return hy_fail(a->file->ctx, HYBRID_BAD_FILE, "%s: '%s' %s", a->file->path, a->name,
                   what);
}

hybrid_status hy_h5_check_absent(const hy_h5_file *file, const char *name, int64_t count)
{
    if (count >> 16 <= file->bytes)
        return HYBRID_OK;
    return hy_fail(file->ctx, HYBRID_BAD_FILE,
                   "%s: '%s' stands for %lld numbers that are not in the file, which has "
                   "only %lld bytes",
                   file->path, name, (long long)count, (long long)file->bytes);
}

/* ---- type and shape ---------------------------------------------------------------- */

/* Returns 1 for numbers of IEEE 754 with 32 or 64 bits. */
static int is_real(hid_t type)
{
    return H5Tequal(type, H5T_IEEE_F32LE) > 0 || H5Tequal(type, H5T_IEEE_F64LE) > 0 ||
           H5Tequal(type, H5T_IEEE_F32BE) > 0 || H5Tequal(type, H5T_IEEE_F64BE) > 0;
}

/* Sets a->number to the type of the numbers in the file. NumPy's truth values are an
   enumeration of integers. */
static hybrid_status take_number(hy_h5_array *a, hid_t type)
{
    const H5T_class_t class = H5Tget_class(type);
    const size_t bytes      = H5Tget_size(type);

    if (class == H5T_ENUM) {
        const hid_t super          = H5Tget_super(type);
        const hybrid_status status = take_number(a, super);
        if (super >= 0)
            (void)H5Tclose(super);
        return status;
    }
    const int is_integer = class == H5T_INTEGER &&
                           (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8) &&
                           H5Tget_precision(type) == 8 * bytes;
    if (!is_integer && !is_real(type))
        return fail(a,
                    "holds neither integers of 8 to 64 bits nor floating-point numbers "
                    "of 32 or 64 bits");
    a->number.bytes      = bytes;
    a->number.big_endian = bytes > 1 && H5Tget_order(type) == H5T_ORDER_BE;
    a->number.kind       = !is_integer                         ? HY_H5_FLOAT
                           : H5Tget_sign(type) == H5T_SGN_NONE ? HY_H5_UNSIGNED
                                                               : HY_H5_SIGNED;
    return HYBRID_OK;
}

static hybrid_status take_shape(hy_h5_array *a, hid_t space)
{
    hsize_t dims[2] = {1, 1};
    const int rank  = H5Sget_simple_extent_ndims(space);
    int64_t count;

    if (H5Sget_simple_extent_type(space) != H5S_SIMPLE || rank < 1 || rank > 2 ||
        H5Sget_simple_extent_dims(space, dims + 2 - rank, NULL) < 0)
        return fail(a, "must have one or two axes");
    a->rank = rank;
    for (int i = 0; i < 2; i++)
        a->dims[i] = (int64_t)dims[i];
    if (dims[0] > INT64_MAX / 16 || dims[1] > INT64_MAX / 16 ||
        __builtin_mul_overflow(a->dims[0], a->dims[1], &count) || count > INT64_MAX / 16)
        return fail(a, "takes 2^63 bytes or more");
    return HYBRID_OK;
}

/* ---- where the numbers lie --------------------------------------------------------- */

static hybrid_status take_filters(hy_h5_array *a, hid_t creation)
{
    const int count = H5Pget_nfilters(creation);
    char text[96];
    int known;

    if (count < 0 || count > HY_H5_FILTERS)
        return fail(a, "has more than 8 filters");
    a->filters.count = count;
    for (int i = 0; i < count; i++) {
        unsigned flags = 0, config = 0;
        size_t values    = 0;
        const int id     = H5Pget_filter2(creation, (unsigned)i, &flags, &values, NULL, 0,
                                          NULL, &config);
        const char *name = id < 0 ? "unknown" : hy_h5_unreadable(id, &known);
        if (!name) {
            a->filters.filter[i] = id;
            continue;
        }
        snprintf(text, sizeof text,
                 "is compressed by a filter that this build cannot decode: %s, number %d",
                 name, id);
        return fail(a, text);
    }
    return HYBRID_OK;
}

/* Fails if too many numbers lie in chunks that were never written. */
static hybrid_status check_places(const hy_h5_array *a, int64_t count)
{
    const int64_t numbers = a->chunk[0] * a->chunk[1];
    int64_t absent        = 0;

    for (int64_t i = 0; i < count; i++)
        absent += a->places[i].at < 0;
    return hy_h5_check_absent(
        a->file, a->name, absent > INT64_MAX / numbers ? INT64_MAX : absent * numbers);
}

/* Finds the places of all chunks of the dataset in the file. */
static hybrid_status take_places(hy_h5_array *a, hid_t dataset)
{
    const int64_t rows = hy_h5_chunks_of(a, 0), cols = hy_h5_chunks_of(a, 1);
    void *places;

    if (rows > 0 && cols > a->file->bytes / rows)
        return fail(a, "has more chunks than the file has bytes");
    HY_TRY(hy_array(a->file->ctx, rows * cols, sizeof(hy_h5_place), "a part of a file",
                    &places));
    a->places = places;
    for (int64_t i = 0; i < rows * cols; i++) {
        const hsize_t row      = (hsize_t)(i / cols) * (hsize_t)a->chunk[0];
        const hsize_t col      = (hsize_t)(i % cols) * (hsize_t)a->chunk[1];
        const hsize_t first[2] = {a->rank == 1 ? col : row, col};
        HY_TRY(hy_h5_find_chunk(a->file, dataset, a->name, first, &a->places[i]));
        if (a->places[i].bytes > hy_h5_scratch_bytes(&a->filters))
            return fail(a, "has a chunk that takes more bytes than its numbers");
    }
    return check_places(a, rows * cols);
}

static hybrid_status take_chunks(hy_h5_array *a, hid_t dataset, hid_t creation)
{
    hsize_t chunk[2] = {1, 1};

    if (H5Pget_chunk(creation, a->rank, chunk + 2 - a->rank) != a->rank ||
        chunk[0] == 0 || chunk[1] == 0 || chunk[0] > UINT32_MAX ||
        chunk[1] > UINT32_MAX / chunk[0] / a->number.bytes)
        return fail(a, "has chunks of an impossible size");
    a->chunk[0] = (int64_t)chunk[0];
    a->chunk[1] = (int64_t)chunk[1];
    HY_TRY(take_filters(a, creation));
    a->filters.number_bytes = a->number.bytes;
    a->filters.chunk_bytes  = (size_t)(a->chunk[0] * a->chunk[1]) * a->number.bytes;
    return take_places(a, dataset);
}

static hybrid_status take_contiguous(hy_h5_array *a, hid_t dataset, hid_t creation)
{
    const haddr_t at    = H5Dget_offset(dataset);
    const int64_t bytes = hy_h5_count(a) * (int64_t)a->number.bytes;

    if (H5Pget_external_count(creation) != 0)
        return fail(a, "lies in other files");
    if (at == HADDR_UNDEF) /* The dataset has no place in the file, because none of its
                              numbers was ever written. */
        return hy_h5_check_absent(a->file, a->name, hy_h5_count(a));
    if (at > (haddr_t)a->file->bytes || bytes > a->file->bytes - (int64_t)at)
        return hy_fail(a->file->ctx, HYBRID_BAD_FILE,
                       "%s: '%s' has %lld bytes from byte %lld on, and the file has %lld",
                       a->file->path, a->name, (long long)bytes, (long long)at,
                       (long long)a->file->bytes);
    a->at = (int64_t)at;
    return HYBRID_OK;
}

/* Copies the numbers of a compact dataset, less than 64 KiB, which libhdf5 has read
   together with the dataset's header. */
static hybrid_status take_compact(hy_h5_array *a, hid_t dataset, hid_t type)
{
    const int64_t bytes = hy_h5_count(a) * (int64_t)a->number.bytes;
    void *numbers;

    if ((hsize_t)bytes != H5Dget_storage_size(dataset))
        return fail(a, "does not store all its numbers");
    HY_TRY(hy_array(a->file->ctx, bytes, 1, "a part of a file", &numbers));
    a->compact = numbers;
    return H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) < 0
               ? hy_h5_fail(a->file, "libhdf5 cannot read '%s'", a->name)
               : HYBRID_OK;
}

static hybrid_status take_layout(hy_h5_array *a, hid_t dataset, hid_t type,
                                 hid_t creation)
{
    H5D_fill_value_t fill = H5D_FILL_VALUE_DEFAULT;

    if (H5Pfill_value_defined(creation, &fill) < 0 ||
        (fill == H5D_FILL_VALUE_USER_DEFINED &&
         H5Pget_fill_value(creation, type, a->fill) < 0))
        return hy_h5_fail(a->file, "libhdf5 cannot read the fill value of '%s'", a->name);
    switch (H5Pget_layout(creation)) {
    case H5D_CHUNKED:
        return take_chunks(a, dataset, creation);
    case H5D_CONTIGUOUS:
        return take_contiguous(a, dataset, creation);
    case H5D_COMPACT:
        return take_compact(a, dataset, type);
    default:
        return fail(a, "is virtual: its numbers lie in other files");
    }
}

/* ---- the dataset ------------------------------------------------------------------- */

static hybrid_status take(hy_h5_array *a, hid_t dataset, hid_t type, hid_t space,
                          hid_t creation)
{
    if (type < 0 || space < 0 || creation < 0)
        return hy_h5_fail(a->file, "libhdf5 cannot describe '%s'", a->name);
    HY_TRY(take_number(a, type));
    HY_TRY(take_shape(a, space));
    return take_layout(a, dataset, type, creation);
}

hybrid_status hy_h5_array_describe(const hy_h5_file *file, const char *name,
                                   hy_h5_array *out)
{
    *out                = (hy_h5_array){.file = file, .name = name, .at = -1};
    const hid_t dataset = H5Dopen2(file->id, name, H5P_DEFAULT);
    if (dataset < 0)
        return hy_h5_fail(file, "libhdf5 cannot open the dataset '%s'", name);
    const hid_t type     = H5Dget_type(dataset);
    const hid_t space    = H5Dget_space(dataset);
    const hid_t creation = H5Dget_create_plist(dataset);

    const hybrid_status status = take(out, dataset, type, space, creation);
    if (type >= 0)
        (void)H5Tclose(type);
    if (space >= 0)
        (void)H5Sclose(space);
    if (creation >= 0)
        (void)H5Pclose(creation);
    (void)H5Dclose(dataset);
    if (status != HYBRID_OK)
        hy_h5_array_free(file->ctx, out);
    return status;
}

void hy_h5_array_free(hy_context *ctx, hy_h5_array *array)
{
    hy_array_free(ctx, array->compact);
    hy_array_free(ctx, array->places);
    array->compact = NULL;
    array->places  = NULL;
}
