/* engine/plan/layout.h - how a product could lie on its device: a value, to be compared.

   Of B or X what stays there, what passes through or what chunks bring; slots; and the
   chunks that all of this leaves room for. cut.c tries layouts and gives the plan one. */
#ifndef HY_LAYOUT_H
#define HY_LAYOUT_H

#include "engine/plan/product.h"
#include "partition/pattern/extents.h"

enum { HY_RESIDENT_SHARE = 4 /* slots beside an A that stays: small, and many fit */ };

/* Bytes up of the ways in which an X that does not fit could come; -1: was not looked at,
   or is not to be had. */
typedef struct hy_ways_up {
    int64_t gathered, window, panels;
} hy_ways_up;

typedef struct hy_layout {
    /* asked for */
    hy_image image;   /* of B or X on the device */
    int depth;        /* slots; 0: there is no such layout */
    int share;        /* which take one part in so many of what B or X leaves */
    int64_t products; /* to aim for in a chunk (grain.h) */

    /* what comes of it */
    hy_image if_pinned;    /* of X in runs with X and Y pinned; if it has column blocks */
    size_t resident_bytes; /* of B or X sent to the device, if it is not gathered */
    size_t shared_bytes;   /* and its room there; 0 if it is */
    size_t converted_bytes; /* room for what kernels cannot read of a B or X that the caller
                               has on the device */
    hy_chunk *chunks;
    int64_t count;
    hy_ways_up ways_up; /* of all ways that were compared, this one too */
    double seconds;     /* that a run is predicted to take on the device */
} hy_layout;

/* What all layouts are for that are compared. */
typedef struct hy_planning {
    const hy_product *product;
    const hybrid_csr *A, *B; /* B NULL: SpMM */
    hy_extents *extents;     /* of rows of A: found when somebody asks (schedule.h) */
} hy_planning;

/* From what is asked for what comes of it. 0 slots, and neither chunks nor an error, if
   some row does not fit so. To be freed. */
hybrid_status hy_layout_try(const hy_planning *p, hy_layout *layout);

/* The same, where that is an error: NO_DEVICE_MEMORY names the row. */
hybrid_status hy_layout_cut(const hy_planning *p, hy_layout *layout);

/* Its chunks; it has 0 slots then. One without chunks is fine. */
void hy_layout_free(const hy_product *product, hy_layout *layout);

/* Packs of A that stay get their places, as many as fit. */
void hy_layout_keep(const hy_product *product, hy_layout *layout);

/* The same beside `shared` bytes of B or X. Packs that last from run to run leave other live
   plans the device memory that these need to run. */
void hy_layout_keep_beside(const hy_product *product, size_t shared, hy_layout *layout);
int hy_layout_keeps_all(const hy_layout *layout);

#endif /* HY_LAYOUT_H */
