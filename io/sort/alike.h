/* io/sort/alike.h - an array in which all numbers are the same, such as the values of a
   list without weights. */
#ifndef HY_ALIKE_H
#define HY_ALIKE_H

#include "base/contract/stored.h"

/* Sets *out to `count` times the value. */
hybrid_status hy_alike_numbers(hy_context *ctx, hybrid_type type, double value,
                               int64_t count, hy_stored *out);

#endif /* HY_ALIKE_H */
