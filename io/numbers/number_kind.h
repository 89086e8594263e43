/* io/numbers/number_kind.h - kinds of numbers that files hold, and their conversion. */
#ifndef HY_NUMBER_KIND_H
#define HY_NUMBER_KIND_H

#include <stdint.h>

#include "base/contract/context.h"

typedef enum hy_number_class { HY_FLOAT, HY_SIGNED, HY_UNSIGNED } hy_number_class;

typedef struct hy_number_kind {
    hy_number_class is; /* signed, unsigned or float; truth values are unsigned */
    int size;           /* bytes: 1, 2, 4 or 8; of a float 2, 4 or 8 */
    int big_endian;
} hy_number_kind;

/* Return the kind that numbers of the library's own type have in a little-endian file. */
hy_number_kind hy_kind_of_type(hybrid_type type);
hy_number_kind hy_kind_of_index(hybrid_index type);

/* Sets *out to the kind that NumPy names like this: byte order, letter and size, as in
   "<f8", ">i4" or "|b1". Returns 0 if the numbers are of no such kind, else 1. */
int hy_kind_of_descr(const char *descr, hy_number_kind *out);

/* Returns 1 if numbers of both kinds have the same bytes. */
int hy_same_kind(hy_number_kind a, hy_number_kind b);

/* Returns the type of values that holds numbers of this kind: for a float the first type
   of the table that has as many bytes, so f32 for 2 and 4 bytes; else the last type of the
   table, f64. Integers beyond 2^53 are rounded. */
hybrid_type hy_type_of_kind(hy_number_kind kind);

/* The functions below convert `count` numbers, which need not be aligned, to `to`. They
   return `count` or, if a number does not fit, the index of the first such number. */

/* A finite number does not fit f32 if it becomes infinite. */
int64_t hy_convert_values(hy_number_kind kind, const void *from, int64_t count,
                          hybrid_type type, void *to);
/* An integer does not fit if it is outside the range of the type. A float never fits. */
int64_t hy_convert_indices(hy_number_kind kind, const void *from, int64_t count,
                           hybrid_index type, void *to);

/* Reverses the bytes of each of `count` numbers of `size` bytes in place. */
void hy_swap_bytes(void *numbers, int64_t count, int size);

#endif /* HY_NUMBER_KIND_H */
