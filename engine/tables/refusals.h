/* engine/tables/refusals.h - which choices exclude each other.

   A product, its options, a variant, a backend and a schedule each have values on some
   axes. The table lists the pairs of values that cannot be combined. A new variant,
   option or schedule needs a value here only if it excludes another one.

   The table is not about numbers: refuse() of a variant says which features it can
   compute, and a layout says which rows fit. */
#ifndef HY_REFUSALS_H
#define HY_REFUSALS_H

#include "engine/plan/product.h"

/* Values of choices, as bits that are combined with |. Values without an empty line
   between them are of one axis, a kind of choice. */
enum {
    HY_WITH_SPARSE_B = 1 << 0, /* axis "kind of the product": SpGEMM, or SpMM */
    HY_WITH_DENSE_X  = 1 << 1,

    HY_WITH_A_ON_DEVICE = 1 << 2, /* axis "memory of A": on the device */

    HY_WITH_SECOND_ON_DEVICE = 1 << 3, /* axis "memory of B or X": on the device */

    HY_WITH_REDUCED_A = 1 << 4, /* axis "rows of A": without the empty ones */

    HY_WITH_SAME_BITS = 1 << 5, /* axis "bits of the result": the same in each run
                                   (HYBRID_DETERMINISTIC) */

    HY_WITHOUT_NAME = 1 << 6, /* axis "name of the variant": the options name none */

    HY_WITH_HOST_SHARE = 1 << 7, /* axis "split": the host takes rows of devices */

    HY_WITH_ROW_NUMBERS = 1 << 8, /* axis "packs": contain row numbers of X, or rows of
                                     B */
    HY_WITH_REORDERED_A = 1 << 9, /* axis "packs": contain values of A in another
                                     order */
    HY_WITH_PACKED_B    = 1 << 10, /* axis "packs": contain values of B */

    HY_WITH_UNORDERED_SUMS = 1 << 11, /* axis "sums of the variant": in any order */

    HY_WITH_NAME_NEEDED = 1 << 12, /* axis "use of the variant": only if the options name
                                      it */

    HY_WITH_HOST   = 1 << 13, /* axis "backend": the host, or a device */
    HY_WITH_DEVICE = 1 << 14,

    HY_WITH_COPIES      = 1 << 15, /* axis "schedule": any that copies operands to a
                                      device */
    HY_WITH_RING        = 1 << 16, /* axis "schedule": a ring of rows or of columns of
                                      X */
    HY_WITH_ROW_RING    = 1 << 17, /* axis "schedule": a ring of rows of X */
    HY_WITH_COLUMN_RING = 1 << 18, /* axis "schedule": a ring of column blocks of X */
    HY_WITH_ENTRY_RING  = 1 << 19, /* axis "schedule": a ring of entries of B */
    HY_WITH_GATHER      = 1 << 20, /* axis "schedule": chunks gather rows of B or X */
    HY_WITH_COLLECT     = 1 << 21, /* axis "schedule": the device reads rows of B from
                                      host memory */
    HY_WITH_PASSES      = 1 << 22, /* axis "schedule": chunks bring all of B in passes */
    HY_WITH_IN_PLACE    = 1 << 23  /* axis "schedule": the host reads operands in
                                      place */
};

/* Two values that exclude each other: a product with both is refused, for the reason
   `why`, a static string. */
typedef struct hy_refusal {
    unsigned one, other;
    const char *why;
} hy_refusal;

extern const hy_refusal hy_refusals[]; /* ends with an element whose `why` is NULL */

/* Returns why one of the values `chosen` excludes another one of them, or one of the
   values `given`: the first such reason in the table; NULL if there is none. Two values
   of `given` do not count. */
const char *hy_refused(unsigned chosen, unsigned given);

/* Return the values, combined with |, of a product with its options, and of a
   variant. */
unsigned hy_product_values(const hy_product *product);
unsigned hy_variant_values(const hy_variant *variant);

#endif /* HY_REFUSALS_H */
