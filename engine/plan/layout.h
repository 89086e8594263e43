/* engine/plan/layout.h - how a product would lie on its device: a value, to be compared.

   A layout has the image of B or X, slots, and the chunks for which these leave room.
   choose.c tries layouts and gives one to the plan. */
#ifndef HY_LAYOUT_H
#define HY_LAYOUT_H

#include "engine/plan/product.h"
#include "partition/pattern/extents.h"

enum {
    HY_RESIDENT_SHARE = 4 /* value of `share` with HYBRID_RESIDENT: slots take a quarter,
                             so that many packs of A fit beside them */
};

/* Bytes that a run sends to the device if an X that does not fit is gathered with each
   chunk, comes as a ring of rows, or comes in column blocks. -1: unknown, or X cannot
   come in this way. */
typedef struct hy_ways_up {
    int64_t gathered, row_ring, column_blocks;
} hy_ways_up;

typedef struct hy_layout {
    /* The caller of hy_layout_try() or hy_layout_cut() sets: */
    hy_image image;   /* image of B or X on the device */
    int depth;        /* number of slots; 0: there is no such layout */
    int share;        /* slots take 1/share of the memory that B or X leaves */
    int64_t products; /* maximum scalar products of a chunk (grain.h) */

    /* Planning sets: */
    hy_image if_pinned;     /* image of X in runs with pinned X and Y; only if it has
                               column blocks (hy_image.axis) */
    size_t image_bytes;     /* bytes of B or X that a run sends to the device; undefined
                               if chunks gather them */
    size_t image_room;      /* bytes of device memory set aside for B or X; 0 if chunks
                               gather them or the caller has them in device memory */
    size_t converted_bytes; /* bytes of device memory for converted copies of a B or X
                               that the caller has on the device */
    hy_chunk *chunks;
    int64_t count;
    hy_ways_up ways_up; /* bytes of this layout and of those compared with it */
    double seconds;     /* predicted seconds of the best layout on the device, even if the
                           host computes in place of it; 0: no estimate */
} hy_layout;

/* The product for which layouts are compared. */
typedef struct hy_planning {
    const hy_product *product;
    const hybrid_csr *A, *B; /* B is NULL for SpMM */
    hy_features features;    /* the product's features, with which layouts are estimated;
                                unknown features have the values that are best for a
                                device */
    double host_s;       /* predicted seconds of the host, where unknown features have the
                            worst values for it; INFINITY if the host may not compute in
                            place of the device */
    hy_extents *extents; /* first and last columns of the entries in blocks of rows of A;
                            computed at first use (schedule.h) */
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
   to run must leave other live plans the device memory for their runs.
   hy_layout_caches_all() returns 1 if the packs of all chunks are marked. */
void hy_layout_cache_beside(const hy_product *product, size_t image_room,
                            hy_layout *layout);
int hy_layout_caches_all(const hy_layout *layout);

#endif /* HY_LAYOUT_H */
