/* engine/tables/refusals.h - which choices exclude each other.

   A product, its options, a variant, a backend and a schedule each have values on some
   axes. The table lists the pairs of values that cannot be combined. A new variant,
   option or schedule needs a value here only if it excludes another one.

   The table is not about numbers: refuse() of a variant says which features it can
   compute, and a layout says which rows fit. */
#ifndef HY_REFUSALS_H
#define HY_REFUSALS_H

#include "engine/plan/product.h"

/* The values. Each group is an axis. */
enum {
    HY_WITH_SPARSE_B = 1 << 0, /* kind of the product */
    HY_WITH_DENSE_X  = 1 << 1,

    HY_WITH_A_THERE = 1 << 2, /* memory of A: on the device */

    HY_WITH_SECOND_THERE = 1 << 3, /* memory of B or X: on the device */

    HY_WITH_REDUCED_A = 1 << 4, /* rows of A: without the empty ones */

    HY_WITH_SAME_BITS = 1 << 5, /* bits of the result: HYBRID_DETERMINISTIC */

    HY_WITHOUT_NAME = 1 << 6, /* name of the variant in the options: none */

    HY_WITH_HOST_SHARE = 1 << 7, /* split: the host takes rows of devices */

    HY_WITH_ROW_NUMBERS = 1 << 8, /* packs: contain row numbers of X, or rows of B */
    HY_WITH_REORDERED_A = 1 << 9, /* packs: contain values of A in another order */
    HY_WITH_PACKED_B    = 1 << 10, /* packs: contain values of B */

    HY_WITH_UNORDERED_SUMS = 1 << 11, /* sums of the variant: in any order */

    HY_WITH_NAME_NEEDED = 1 << 12, /* use of the variant: only by name */

    HY_WITH_HOST   = 1 << 13, /* backend */
    HY_WITH_DEVICE = 1 << 14,

    HY_WITH_COPIES      = 1 << 15, /* schedule: any that copies operands to a device, */
    HY_WITH_RING        = 1 << 16, /* a ring of rows or of columns of X, */
    HY_WITH_ROW_RING    = 1 << 17, /* a ring of rows of X, */
    HY_WITH_COLUMN_RING = 1 << 18, /* a ring of columns of X, */
    HY_WITH_ENTRY_RING  = 1 << 19, /* a ring of entries of B, */
    HY_WITH_GATHER      = 1 << 20, /* chunks gather, */
    HY_WITH_IN_PLACE    = 1 << 21  /* the host reads operands in place */
};

/* A product with both values is refused. `why` is a static string. */
typedef struct hy_refusal {
    unsigned one, other;
    const char *why;
} hy_refusal;

extern const hy_refusal hy_refusals[]; /* ends with a `why` that is NULL */

/* Returns the first reason in the table why one of the values `chosen` excludes another
   one of them, or one of the values `given`; NULL if there is none. */
const char *hy_refused(unsigned chosen, unsigned given);

/* Return the values of a product with its options, and of a variant. */
unsigned hy_product_values(const hy_product *product);
unsigned hy_variant_values(const hy_variant *variant);

#endif /* HY_REFUSALS_H */
