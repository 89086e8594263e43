/* engine/plan/layout.h - how a product would lie on its device: a value, to be compared.

   A layout has the image of B or X, slots, and the chunks for which these leave room.
   choose.c tries layouts and gives one to the plan. */
#ifndef HY_LAYOUT_H
#define HY_LAYOUT_H

#include "engine/plan/product.h"
#include "partition/pattern/extents.h"

enum {
    HY_RESIDENT_SHARE = 4 /* value of `share` with HYBRID_RESIDENT: slots are small, so
                             that many packs of A fit beside them */
};

/* Bytes that a run sends to the device in each way in which an X that does not fit could
   come: gathered with each chunk, as a ring of rows, or in column
   blocks. -1: unknown, or the way cannot be used. */
typedef struct hy_ways_up {
    int64_t gathered, row_ring, column_blocks;
} hy_ways_up;

typedef struct hy_layout {
    /* set by the caller of hy_layout_try() or hy_layout_cut() */
    hy_image image;   /* image of B or X on the device */
    int depth;        /* number of slots; 0: there is no such layout */
    int share;        /* all slots together take one part in `share` of the memory that B
                         or X leaves */
    int64_t products; /* most scalar products that a chunk should have (grain.h) */

    /* filled in by planning */
    hy_image if_pinned;     /* image of X in runs with pinned X and Y, if it has column
                               blocks */
    size_t image_bytes;     /* bytes of B or X sent to the device in a run; meaningless if
                               it is gathered */
    size_t image_room;      /* bytes of the room for B or X on the device; 0 if it is
                               gathered */
    size_t converted_bytes; /* room for copies that kernels need of a B or X that the
                               caller has on the device */
    hy_chunk *chunks;
    int64_t count;
    hy_ways_up ways_up; /* of the ways that were compared, which include this layout's */
    double seconds;     /* predicted time of the best layout on the device, even if the
                           host computes instead; 0 if none was estimated */
} hy_layout;

/* The product for which layouts are compared. */
typedef struct hy_planning {
    const hy_product *product;
    const hybrid_csr *A, *B; /* B is NULL for SpMM */
    hy_features features;    /* features with which layouts are estimated: those of the
                                product; those that are unknown are as favourable to a
                                device as they can be */
    double host_s;       /* predicted seconds of the host, with the least favourable of
                            such features; INFINITY if it may not compute in the
                            device's place */
    hy_extents *extents; /* first and last columns in which blocks of rows of A have
                            entries; found when first needed (schedule.h) */
} hy_planning;

/* Cuts the chunks, from the fields that the caller has set. If some row does not fit, the
   layout has 0 slots and no chunks, which is not an error. The caller frees it. */
hybrid_status hy_layout_try(const hy_planning *p, hy_layout *layout);

/* As hy_layout_try(), but a row that does not fit is an error: NO_DEVICE_MEMORY names the
   row. */
hybrid_status hy_layout_cut(const hy_planning *p, hy_layout *layout);

/* Frees the chunks, after which the layout has 0 slots. A layout without chunks is
   allowed. */
void hy_layout_free(const hy_product *product, hy_layout *layout);

/* Chooses the packs of A that will be cached on the device, as many as fit beside B or X
   and the slots, and marks their chunks (hy_chunk.cached). */
void hy_layout_cache(const hy_product *product, hy_layout *layout);

/* As hy_layout_cache(), but beside `image_room` bytes of B or X. Packs that last from run
   to run leave other live plans the device memory that they need to run.
   hy_layout_caches_all() returns 1 if the packs of all chunks are marked. */
void hy_layout_cache_beside(const hy_product *product, size_t image_room,
                            hy_layout *layout);
int hy_layout_caches_all(const hy_layout *layout);

#endif /* HY_LAYOUT_H */
