/* io/hdf5/decode/h5_numbers.h - converts numbers of a file to numbers of a matrix. */
#ifndef HY_H5_NUMBERS_H
#define HY_H5_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

typedef enum hy_h5_kind { HY_H5_SIGNED, HY_H5_UNSIGNED, HY_H5_FLOAT } hy_h5_kind;

/* Type of a number: an integer of 1, 2, 4 or 8 bytes, or a floating-point number of 4 or
   8. */
typedef struct hy_h5_number {
    hy_h5_kind kind;
    size_t bytes;
    int big_endian;
} hy_h5_number;

/* Converts `count` numbers of the type *from, at `in`, to the type *to, at `out`. *to is
   little-endian: float or double of the same size if *from is a floating-point number;
   int32_t, int64_t or double otherwise. Integers beyond 2^53 are rounded if they become
   doubles.

   Returns `count`, or the index of the first number that does not fit. `in` and `out` do
   not overlap. */
int64_t hy_h5_convert(const hy_h5_number *from, const hy_h5_number *to, const void *in,
                      int64_t count, void *out);

#endif /* HY_H5_NUMBERS_H */
