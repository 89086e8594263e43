/* base/data/value_type.c - the table of value types. */
#include "base/data/value_type.h"

#define ROW(is, T, suffix, limits, least, tf32, long_name, npy_name)                     \
    {#suffix, long_name,           npy_name, tf32, (double)limits##_EPSILON,             \
     least,   (double)limits##_MAX},

static const hy_value_type table[] = {HY_VALUE_TYPES(ROW)};

const hy_value_type *hy_value_type_of(hybrid_type type)
{
    return &table[hy_type_index(type)];
}

hybrid_status hy_check_type(hy_context *ctx, hybrid_status status, const char *name,
                            hybrid_type type)
{
    return hy_type_index(type) >= 0 && hy_type_index(type) < HY_TYPE_COUNT
               ? HYBRID_OK
               : hy_fail(ctx, status, "%s: type %d is neither HYBRID_F32 nor HYBRID_F64",
                         name, (int)type);
}
