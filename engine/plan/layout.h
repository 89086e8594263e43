/* engine/plan/layout.h - makes layouts (portion.h), which choose.c compares. */
#ifndef HY_LAYOUT_H
#define HY_LAYOUT_H

#include "engine/plan/portion.h"
#include "partition/pattern/extents.h"

/* `rows` is the number of rows of B or X that all chunks gather, summed over the chunks.
   `nnz` is the number of entries of these rows, 0 for SpMM. */
typedef struct hy_touch {
    int64_t rows, nnz;
} hy_touch;

/* The portion for which layouts are compared. Its own layout is not used. */
typedef struct hy_planning {
    const hy_product *product; /* the product of the portion */
    const hy_portion *portion;
    const hybrid_csr *A, *B; /* operands of the product; B is NULL for SpMM */
    hy_features features;    /* the portion's features, with which layouts are estimated;
                                unknown features have the values that are best for a
                                device */
    double host_s;       /* predicted seconds of the host, where unknown features have the
                            worst values for it; INFINITY if the host may not compute in
                            place of the device */
    int slots; /* slots that a schedule should prefer, if the caller of the library asks for
                  no number; 0: the schedule's choice */
    hy_extents *extents; /* first and last columns of the entries in blocks of rows of A;
                            computed at first use (schedule.h) */
    hy_touch *touch;     /* rows of B or X that gathering chunks touch; touch->rows is -1
                            until they are estimated (gathering.c) */
} hy_planning;

/* Cuts the chunks of the layout, from the fields that the caller has set (hy_layout). If
   some row does not fit, the layout has 0 slots and no chunks, which is not an error. The
   caller frees the layout. */
hybrid_status hy_layout_try(const hy_planning *p, hy_layout *layout);

/* Does what hy_layout_try() does, but a row that does not fit is an error: the message of
   NO_DEVICE_MEMORY names the row. */
hybrid_status hy_layout_cut(const hy_planning *p, hy_layout *layout);

/* Frees the chunks, after which the layout has 0 slots. A layout without chunks is
   allowed. */
void hy_layout_free(const hy_product *product, hy_layout *layout);

/* Chooses the packs of A that will be cached on the device, and marks their chunks
   (hy_chunk.cached). Packs are cached until the memory beside B or X and the slots is
   full. */
void hy_layout_cache(const hy_portion *portion, hy_layout *layout);

/* hy_layout_cache_beside() does what hy_layout_cache() does, but beside `image_room`
   bytes of B or X. Packs that last from run to run must leave other live plans the device
   memory for their runs. hy_layout_caches_all() returns 1 if the packs of all chunks are
   marked. */
void hy_layout_cache_beside(const hy_portion *portion, size_t image_room,
                            hy_layout *layout);
int hy_layout_caches_all(const hy_layout *layout);

#endif /* HY_LAYOUT_H */
