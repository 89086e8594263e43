/* io/hdf5/decode/h5_filters.h - decodes and compresses chunks of HDF5: rectangles of a
   dataset that the file stores one by one. */
#ifndef HY_H5_FILTERS_H
#define HY_H5_FILTERS_H

#include <stddef.h>
#include <stdint.h>

enum { HY_H5_FILTERS = 8 }; /* maximum number of filters of a dataset */

/* Numbers of filters, as registered with the HDF Group. */
enum {
    HY_H5_DEFLATE    = 1,
    HY_H5_SHUFFLE    = 2,
    HY_H5_FLETCHER32 = 3,
    HY_H5_LZF        = 32000,
    HY_H5_ZSTD       = 32015
};

/* The filters through which chunks of a dataset passed when they were written, in that
   order. */
typedef struct hy_h5_filters {
    int count;
    int filter[HY_H5_FILTERS];
    size_t number_bytes; /* bytes of a number, for the shuffle filter */
    size_t chunk_bytes;  /* bytes of a decoded chunk */
} hy_h5_filters;

/* Returns the name of a filter that this build cannot decode, or NULL. Sets *known to 0
   for a filter that has no name here. */
const char *hy_h5_unreadable(int filter, int *known);

/* Memory with which one thread decodes chunks, one at a time. */
typedef struct hy_h5_decoder {
    void *inflater; /* decompressor of libdeflate; NULL: zlib inflates */
    char *scratch[2];
    size_t room; /* bytes of each of the two `scratch`: hy_h5_scratch_bytes() */
} hy_h5_decoder;

/* Returns the bytes that hy_h5_decode() needs in each hy_h5_decoder.scratch. */
size_t hy_h5_scratch_bytes(const hy_h5_filters *filters);

/* Decodes the `bytes` bytes at `raw`, to which the filters without a bit in `mask` were
   applied, and writes filters->chunk_bytes bytes to `to`. Returns NULL, or words about
   the fault for the end of a message. Never writes beyond the chunk or the scratch. */
const char *hy_h5_decode(const hy_h5_filters *filters, uint32_t mask,
                         hy_h5_decoder *decoder, const void *raw, size_t bytes, void *to);

/* Makes and frees decoder->inflater, which is NULL without libdeflate or without memory
   for it. */
void hy_h5_inflater_make(hy_h5_decoder *decoder);
void hy_h5_inflater_free(hy_h5_decoder *decoder);

/* ---- compressing (h5_pack.c) ------------------------------------------------------- */

typedef struct hy_h5_packer {
    size_t number_bytes; /* bytes of the numbers to shuffle; 1: no shuffle */
    int filter;          /* HY_H5_DEFLATE, HY_H5_ZSTD, or 0: no compression */
    int level;           /* effort of the compressor: 1 is the least */
} hy_h5_packer;

/* Returns the maximum size of `bytes` bytes after compression. */
size_t hy_h5_packed_bound(size_t bytes);

/* Compresses a chunk to `to`, of `most` bytes. Returns its size, or 0 without memory. */
size_t hy_h5_pack(const hy_h5_packer *packer, const char *in, size_t bytes, char *to,
                  size_t most);

#endif /* HY_H5_FILTERS_H */
