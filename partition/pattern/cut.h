/* partition/pattern/cut.h - the limits of a chunk, and arrays of chunks. */
#ifndef HY_CUT_H
#define HY_CUT_H

#include "partition/pattern/inspect.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns 1 if every count of a chunk with features `f` (rows, entries, scalar products,
   entries of the result, gathered rows and entries of B) is so small that kernels can use
   32-bit numbers. A chunk of more than one row must satisfy this. */
int hy_chunk_is_counted(const hy_features *f);

typedef struct hy_cut {
    const hybrid_csr *A;
    const hybrid_csr *B; /* operand B of SpGEMM; NULL for SpMM */
    const hy_profile *profile;
    const hy_variant *variant;
    const hy_rates *rates;
    size_t slot_bytes;    /* maximum device bytes of a chunk: its pack, work (scratch
                             memory) and result */
    size_t host_bytes;    /* maximum host bytes of a chunk of several rows: its pack and,
                             for SpMM, its rows of Y; 0: no limit */
    int64_t products_max; /* maximum scalar products of a chunk of several rows; a single
                             row may exceed it */
    int64_t chunk_rows;   /* maximum rows of a chunk; 0 = no limit */
    int64_t first_row;    /* number of row 0 of A in error sentences */
    hy_image image;       /* how B or X lies on the device */
} hy_cut;

/* Returns the device bytes of a chunk with this cost: pack, work and result, each rounded
   up to the alignment of arrays. */
size_t hy_cost_bytes(const hy_cost *cost);

/* Returns the device bytes of a chunk with these features: pack, work and result. */
size_t hy_cut_bytes(const hy_cut *cut, const hy_features *f);

/* Returns 1 if a chunk with these features keeps to the limits of `cut`. A chunk of one
   row need only fit a slot. */
int hy_cut_fits(const hy_cut *cut, const hy_features *f);

/* Returns 1 if a chunk of several rows with these features keeps to all limits but that
   of a slot: it fits host memory, it has at most cut->chunk_rows rows, and all its counts
   fit 31 bits. `products`, the scalar products of all its passes together, must be at
   most cut->products_max. */
int hy_cut_is_moderate(const hy_cut *cut, const hy_features *f, int64_t products);

/* Returns NO_DEVICE_MEMORY. The message says that row `row`, which has features `f`, does
   not fit a slot. */
hybrid_status hy_cut_refuse(hy_context *ctx, const hy_cut *cut, int64_t row,
                            const hy_features *f);

/* Return the features with another out_room. hy_with_least_room() lets the chunk have room
   for the entries that a sample predicts, with some to spare, and for all entries that
   any one of its rows can have. hy_with_room() lets it have all the room that `slot`
   bytes leave, but at least the least. If the variant cannot count entries for which there
   is no room (hy_variant.overflows), both return room for out_bound. */
hy_features hy_with_least_room(const hy_variant *variant, const hy_features *f);
hy_features hy_with_room(const hy_variant *variant, const hy_rates *rates, size_t slot,
                         const hy_features *f);

/* A growing array of chunks; hy_array_free() frees `of`. */
typedef struct hy_chunk_array {
    hy_chunk *of;
    int64_t count, capacity;
} hy_chunk_array;

/* Makes room in the array for `capacity` chunks in all. */
hybrid_status hy_chunk_array_reserve(hy_context *ctx, hy_chunk_array *array,
                                     int64_t capacity);

/* Appends a copy of the chunk. Its id becomes its index in the array. */
hybrid_status hy_chunk_array_append(hy_context *ctx, hy_chunk_array *array,
                                    const hy_chunk *chunk);

/* Appends a chunk: rows [row, row + f->rows), columns [0, width), features `f`. */
hybrid_status hy_chunk_array_add(hy_context *ctx, hy_chunk_array *array,
                                 const hy_cut *cut, int64_t width, int64_t row,
                                 const hy_features *f);

#ifdef __cplusplus
}
#endif
#endif /* HY_CUT_H */
