/* engine/plan/portion.h - what one site does of a product, and how.

   Each device has a variant, a layout and a cut of its own, because budgets and speeds
   differ. Portions of a dense result are cut from their own rows. Portions of a sparse
   result are cut from all rows, since in a run that does not know where rows of C begin
   each device takes the next rows. A host that helps devices is a portion that owns no
   rows. */
#ifndef HY_PORTION_H
#define HY_PORTION_H

#include "engine/plan/product.h"
#include "pipeline/site/site.h"

enum {
    HY_RESIDENT_SHARE = 4 /* value of `share` with HYBRID_RESIDENT: slots take a quarter,
                             so that many packs of A fit beside them */
};

/* Bytes that a run sends to the device if each chunk gathers the rows of B or X that it
   touches, and if X comes in a ring of rows or of column blocks, whichever sends fewer.
   -1: unknown, or B or X cannot come in this way. */
typedef struct hy_ways_up {
    int64_t gathered, ring;
} hy_ways_up;

/* How a product would lie on its device: the image of B or X, slots, and the chunks for
   which these leave room. */
typedef struct hy_layout {
    /* The caller of hy_layout_try() or hy_layout_cut() sets the next four fields: */
    hy_image image;   /* image of B or X on the device */
    int depth;        /* number of slots; 0: there is no such layout */
    int share;        /* slots take 1/share of the memory that B or X leaves */
    int64_t products; /* maximum scalar products of a chunk (grain.h) */

    /* Planning sets the remaining fields: */
    int64_t pinned_blocks;  /* maximum number of column blocks in which X comes in runs
                               whose X and Y are pinned (column_blocks.h); 0: such runs
                               use `image`, as all others do */
    size_t image_bytes;     /* bytes of B or X that a run sends to the device; undefined
                               if chunks gather them */
    size_t image_room;      /* bytes of device memory set aside for B or X; 0 if chunks
                               gather them or the caller has them in device memory */
    size_t converted_bytes; /* bytes of device memory for converted copies of a B or X
                               that the caller has on the device */
    hy_chunk *chunks;
    int64_t count;
    hy_ways_up ways_up; /* bytes up of this layout and of those compared with it */
    double seconds;     /* predicted seconds of the best layout on the device, even if the
                           host computes in place of it; 0: no estimate */
} hy_layout;

/* Predicted bytes that a run copies. */
typedef struct hy_traffic {
    int64_t up, down; /* approximate bytes that a run copies to and from the device,
                         without packs that are cached; 0 if the host computes in place */
    int64_t other_up; /* bytes up of the alternative; -1: no alternative, or unknown. A
                         plan with B or X on the device has gathering as its alternative.
                         A plan that gathers has B or X on the device, or a ring of rows
                         or column blocks if X does not fit. */
    int64_t b_up, b_least; /* SpGEMM with HYBRID_EXPLAIN: bytes of B that are sent, and the
                              least bytes for the same chunks and memory (least.h); else
                              -1 */
} hy_traffic;

typedef struct hy_portion {
    const hy_product *product;

    /* hy_portion_assign() sets the next five fields: */
    const hy_variant *variant;
    hy_backend *backend;
    hy_rates rates; /* rates of the backend; rates.memory is the budget without
                       narrow_room and two times transposed_room */
    size_t transposed_room; /* bytes of device memory in which parts of a column-major X
                               are transposed; Y has a second room of the same size */
    hy_profile profile; /* profile of the rows that the layout is cut from; shares the
                           arrays of the product's profile */

    hy_layout layout;
    hy_traffic traffic;
    hy_site *site;      /* the site that computes the portion; NULL until
                           hy_portion_open() */
    int64_t x_begin, x_end; /* several devices, A*X: rows of X that the portion's own rows
                               of A touch and that are sent; else x_end is 0, and all of B
                               or X is sent */
    int64_t begin, end; /* rows [begin, end), which the portion owns; a sparse result uses
                           them only in runs that know the positions of its rows */
    double weight;      /* share of the work of the rows that the portion owns, 0 to 1;
                           the shares add up to 1 */
    double rate;        /* predicted scalar products plus rows per second; set only if
                           there are several portions */
    hy_taking taking;   /* how the site takes rows of other portions; taking.variant is
                           NULL if it takes none */
} hy_portion;

/* Lets this variant compute all rows of the product on this backend, with its rates. Does
   not change the layout. */
void hy_portion_assign(hy_portion *portion, const hy_product *product,
                       const hy_variant *variant, hy_backend *backend);

/* Returns the image of all of B or X as the variant reads it on the device; if
   portion->x_end is not 0, only rows [x_begin, x_end) of X are sent. The image's form is
   HY_FORM_NONE if the product is computed in place or packs of A contain what they need
   of B. */
hy_image hy_portion_image(const hy_portion *portion);

/* Returns 1 if all of B or X is in device memory, or fits it and leaves some memory for
   slots. The function does not consider how small chunks become. */
int hy_portion_fits(const hy_portion *portion);

/* Returns 1 for a SpGEMM on a host with few threads. In a first run, fresh pages of chunk
   buffers, which the system provides during the product, then take a large part of the
   time. */
int hy_portion_by_few(const hy_portion *portion);

/* Returns 1 if the portion is computed on a device, to which operands are copied. */
static inline int hy_portion_on_device(const hy_portion *portion)
{
    return portion->backend->ops->copy != NULL;
}

#endif /* HY_PORTION_H */
