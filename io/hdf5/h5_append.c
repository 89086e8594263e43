/* io/hdf5/h5_append.c - appends numbers to a dataset.

   Numbers are collected until they fill some chunks of the dataset. Workers compress
   these chunks in parallel, and the calling thread hands them to libhdf5, which writes
   them as they are. The dataset is created when its first numbers are written. A dataset
   that is complete by then has one chunk of its own size, or none if nothing is
   compressed. */
#include "io/hdf5/h5_append.h"

#include <string.h>

#include "base/data/min_max.h"
#include "base/memory/memory.h"
#include "base/threads/pool.h"
#include "io/hdf5/decode/h5_filters.h"

enum {
    CHUNK_BYTES   = 512 << 10,
    DEFLATE_LEVEL = 1,
    PLAIN_CHUNKS  = 2, /* chunks that are collected if nothing is compressed */
    MEMORY_SHARE  = 32 /* the chunks of a dataset take at most 1 / MEMORY_SHARE of the
                          budget of host memory, or one chunk. It is not a share of free
                          memory, so that equal calls write equal files */
};

hybrid_status hy_h5_written(const hy_h5_target *target, int is_good)
{
    const hy_h5_file file = {.ctx = target->ctx, .path = target->path};
    char text[128]        = "";

    if (is_good && target->disk.error == 0)
        return HYBRID_OK;
    if (target->disk.error == 0)
        return hy_h5_fail(&file, "libhdf5 cannot write %s", "the file");
    const char *reason = strerror_r(target->disk.error, text, sizeof text);
    return hy_fail(target->ctx, HYBRID_IO_FAILED, "cannot write '%s': %s", target->path,
                   reason);
}

/* ---- creating the dataset ---------------------------------------------------------- */

static int compresses(const hy_h5_target *target)
{
    return target->shuffle || target->compression != HY_STORED;
}

/* Adds the filters to the dataset's properties as optional ones: this file compresses the
   chunks, so libhdf5 need not have the filters. */
static int add_filters(const hy_h5_append *a, hid_t list)
{
    const hy_h5_target *t = a->target;
    const unsigned size = (unsigned)a->number.bytes, level = DEFLATE_LEVEL;
    herr_t done = 0;

    if (t->shuffle)
        done = H5Pset_filter(list, HY_H5_SHUFFLE, H5Z_FLAG_OPTIONAL, 1, &size);
    if (done >= 0 && t->compression == HY_DEFLATE)
        done = H5Pset_filter(list, HY_H5_DEFLATE, H5Z_FLAG_OPTIONAL, 1, &level);
    if (done >= 0 && t->compression == HY_ZSTD)
        done = H5Pset_filter(list, HY_H5_ZSTD, H5Z_FLAG_OPTIONAL, 1, &level);
    return done >= 0;
}

static hid_t stored_type(const hy_h5_number *number)
{
    if (number->kind == HY_H5_FLOAT)
        return number->bytes == 8 ? H5T_IEEE_F64LE : H5T_IEEE_F32LE;
    return number->bytes == 8 ? H5T_STD_I64LE : H5T_STD_I32LE;
}

static hid_t create_dataset(const hy_h5_append *a, hid_t list, hid_t space)
{
    const hsize_t chunk = (hsize_t)a->chunk;

    if (H5Pset_obj_track_times(list, 0) < 0) /* no times in the file, so that equal
                                                matrices give equal files */
        return -1;
    if (a->is_chunked && (H5Pset_chunk(list, 1, &chunk) < 0 || !add_filters(a, list)))
        return -1;
    return H5Dcreate2(a->target->id, a->name, stored_type(&a->number), space, H5P_DEFAULT,
                      list, H5P_DEFAULT);
}

/* Creates the dataset. `last` is 1 if it ends with the numbers in a->numbers. */
static hybrid_status create(hy_h5_append *a, int last)
{
    const int64_t total = last ? a->held : a->total;
    const hsize_t most = H5S_UNLIMITED, count = (hsize_t)hy_max(total, 0);

    a->is_chunked = total != 0 && (total < 0 || compresses(a->target));
    if (total > 0)
        a->chunk = hy_min(a->chunk, total);
    const hid_t list  = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t space = H5Screate_simple(1, &count, total < 0 ? &most : NULL);
    if (list >= 0 && space >= 0)
        a->dataset = create_dataset(a, list, space);
    if (list >= 0)
        (void)H5Pclose(list);
    if (space >= 0)
        (void)H5Sclose(space);
    return hy_h5_written(a->target, a->dataset >= 0);
}

/* ---- writing ----------------------------------------------------------------------- */

/* Writes the numbers in a->numbers to a dataset without chunks. */
static hybrid_status write_plain(const hy_h5_append *a, int64_t chunks)
{
    const hsize_t first = (hsize_t)a->written, count = (hsize_t)a->held;
    const hid_t file   = H5Dget_space(a->dataset);
    const hid_t memory = H5Screate_simple(1, &count, NULL);
    const int is_good =
        file >= 0 && memory >= 0 &&
        H5Sselect_hyperslab(file, H5S_SELECT_SET, &first, NULL, &count, NULL) >= 0 &&
        H5Dwrite(a->dataset, stored_type(&a->number), memory, file, H5P_DEFAULT,
                 a->numbers) >= 0;

    (void)chunks;
    if (file >= 0)
        (void)H5Sclose(file);
    if (memory >= 0)
        (void)H5Sclose(memory);
    return hy_h5_written(a->target, is_good);
}

/* Compresses chunks [begin, end) of the numbers in a->numbers. */
static hybrid_status pack_chunks(void *arg, int part, int64_t begin, int64_t end)
{
    const hy_h5_append *a  = arg;
    const hy_h5_target *t  = a->target;
    const size_t bytes     = (size_t)a->chunk * a->number.bytes;
    const hy_h5_packer how = {t->shuffle ? a->number.bytes : 1,
                              t->compression == HY_DEFLATE ? HY_H5_DEFLATE
                              : t->compression == HY_ZSTD  ? HY_H5_ZSTD
                                                           : 0,
                              DEFLATE_LEVEL};

    (void)part;
    for (int64_t i = begin; i < end; i++) {
        char *to           = a->packed + (size_t)i * a->packed_room;
        const char *from   = a->numbers + (size_t)i * bytes;
        a->packed_bytes[i] = hy_h5_pack(&how, from, bytes, to, a->packed_room);
        if (a->packed_bytes[i] == 0)
            return hy_fail(t->ctx, HYBRID_NO_MEMORY,
                           "cannot write '%s': no memory to compress a chunk", t->path);
    }
    return HYBRID_OK;
}

static herr_t hand_chunk(const hy_h5_append *a, int64_t i)
{
    const hsize_t first = (hsize_t)a->written + (hsize_t)i * (hsize_t)a->chunk;
    const size_t bytes  = (size_t)a->chunk * a->number.bytes;

    if (a->packed)
        return H5Dwrite_chunk(a->dataset, H5P_DEFAULT, 0, &first, a->packed_bytes[i],
                              a->packed + (size_t)i * a->packed_room);
    return H5Dwrite_chunk(a->dataset, H5P_DEFAULT, 0, &first, bytes,
                          a->numbers + (size_t)i * bytes);
}

static hybrid_status hand_over(const hy_h5_append *a, int64_t chunks)
{
    const hsize_t size = (hsize_t)a->written + (hsize_t)a->held;

    if (a->total < 0 && H5Dset_extent(a->dataset, &size) < 0)
        return hy_h5_written(a->target, 0);
    for (int64_t i = 0; i < chunks; i++)
        HY_TRY(hy_h5_written(a->target, hand_chunk(a, i) >= 0));
    return HYBRID_OK;
}

/* Calls `fn` between hy_h5_enter() and hy_h5_leave(). */
static hybrid_status within(hybrid_status (*fn)(const hy_h5_append *a, int64_t chunks),
                            const hy_h5_append *a, int64_t chunks)
{
    hy_h5_entered entered;

    hy_h5_enter(&entered);
    const hybrid_status status = fn(a, chunks);
    hy_h5_leave(&entered);
    return status;
}

/* Writes all numbers in a->numbers to the file. The last chunk is filled up with
   zeros. */
static hybrid_status flush(hy_h5_append *a, int last)
{
    hy_h5_entered entered;
    hybrid_status status = HYBRID_OK;

    hy_h5_enter(&entered);
    if (a->dataset < 0)
        status = create(a, last);
    hy_h5_leave(&entered);
    if (status != HYBRID_OK || a->held == 0)
        return status;
    if (!a->is_chunked)
        HY_TRY(within(write_plain, a, 0));
    else {
        const int64_t chunks = (a->held + a->chunk - 1) / a->chunk;
        memset(a->numbers + (size_t)a->held * a->number.bytes, 0,
               (size_t)(chunks * a->chunk - a->held) * a->number.bytes);
        if (a->packed)
            HY_TRY(hy_pool_for(a->target->ctx->pool, HY_COMPUTE, 0, chunks, 1,
                               pack_chunks, a));
        HY_TRY(within(hand_over, a, chunks));
    }
    a->written += a->held;
    a->held = 0;
    return HYBRID_OK;
}

/* ---- the interface ----------------------------------------------------------------- */

/* Returns the number of chunks that are collected: two for each thread that compresses,
   if memory allows. Each takes `bytes` bytes. */
static int64_t chunks_of(const hy_h5_target *target, int64_t bytes)
{
    const int64_t cap    = hy_meter_cap(&target->ctx->memory.meter);
    const int64_t most   = cap > 0 ? cap / MEMORY_SHARE / bytes : INT64_MAX;
    const int64_t wanted = compresses(target)
                               ? 2 * (hy_pool_max_threads(target->ctx->pool) + 1)
                               : PLAIN_CHUNKS;

    return hy_max(1, hy_min(wanted, most));
}

hybrid_status hy_h5_append_open(hy_h5_target *target, const char *name,
                                hy_h5_number number, int64_t total, hy_h5_append *out)
{
    hy_context *ctx      = target->ctx;
    const int64_t chunk  = CHUNK_BYTES / (int64_t)number.bytes;
    const size_t packed  = compresses(target) ? hy_h5_packed_bound(CHUNK_BYTES) : 0;
    const int64_t chunks = chunks_of(target, CHUNK_BYTES + (int64_t)packed);
    void *memory;

    *out = (hy_h5_append){.target      = target,
                          .name        = name,
                          .number      = number,
                          .total       = total,
                          .chunk       = chunk,
                          .dataset     = -1,
                          .room        = chunks * chunk,
                          .packed_room = packed};
    HY_TRY(hy_array(ctx, chunks, CHUNK_BYTES, "a part of a file", &memory));
    out->numbers = memory;
    HY_TRY(hy_array(ctx, chunks, sizeof(size_t), "a part of a file", &memory));
    out->packed_bytes = memory;
    HY_TRY(hy_array(ctx, chunks, packed, "a part of a file", &memory));
    out->packed = memory;
    return HYBRID_OK;
}

hybrid_status hy_h5_append_room(hy_h5_append *append, int64_t most, char **to,
                                int64_t *count)
{
    if (append->held == append->room)
        HY_TRY(flush(append, 0));
    *to    = append->numbers + (size_t)append->held * append->number.bytes;
    *count = hy_min(most, append->room - append->held);
    append->held += *count;
    return HYBRID_OK;
}

hybrid_status hy_h5_append_finish(hy_h5_append *append)
{
    hy_h5_entered entered;

    HY_TRY(flush(append, append->written == 0));
    hy_h5_enter(&entered);
    const herr_t done = H5Dclose(append->dataset);
    hy_h5_leave(&entered);
    return hy_h5_written(append->target, done >= 0);
}

void hy_h5_append_free(hy_h5_append *append)
{
    if (!append->target)
        return;
    hy_array_free(append->target->ctx, append->numbers);
    hy_array_free(append->target->ctx, append->packed);
    hy_array_free(append->target->ctx, append->packed_bytes);
    append->target = NULL;
}
