/* base/data/value_type.h - the table of value types.

   Code that treats all types alike takes what it needs from the table: sizes, names,
   limits, and instances of loops. Loops in vectors of one type, and limits of the GPU's
   tensor cores, are in the files that need them. */
#ifndef HY_VALUE_TYPE_H
#define HY_VALUE_TYPE_H

#include <float.h>
#include <string.h>

#include "base/contract/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A row for each value type: ROW(enumerator, C type, suffix of its instances, prefix of
   its macros in float.h, smallest positive value, 1 if devices may round values to TF32,
   name in Python and in files, name in .npy files). ROW is a macro of the caller. */
#define HY_VALUE_TYPES(ROW)                                                              \
    ROW(HYBRID_F32, float, f32, FLT, 0x1p-149, 1, "float32", "<f4")                      \
    ROW(HYBRID_F64, double, f64, DBL, 0x1p-1074, 0, "float64", "<f8")

/* HY_BY_TYPE() is the constant of the type: name_f32 or name_f64. HY_CALL_BY_TYPE() calls
   the instance of a function for the type: name_f32() or name_f64(), or in C++ name<T>()
   of a template. */
#define HY_BY_TYPE(type, name) ((type) == HYBRID_F64 ? name##_f64 : name##_f32)
#ifdef __cplusplus
#define HY_CALL_BY_TYPE(type, name, ...)                                                 \
    ((type) == HYBRID_F64 ? name<double>(__VA_ARGS__) : name<float>(__VA_ARGS__))
#else
#define HY_CALL_BY_TYPE(type, name, ...)                                                 \
    ((type) == HYBRID_F64 ? name##_f64(__VA_ARGS__) : name##_f32(__VA_ARGS__))
#endif

#define HY_TYPE_ONE(...) +1
enum { HY_TYPE_COUNT = 0 HY_VALUE_TYPES(HY_TYPE_ONE) };
#undef HY_TYPE_ONE

#define HY_TYPE_MEMBER(is, T, suffix, ...) T suffix;
/* A value of any type. */
typedef union hy_value {
    HY_VALUE_TYPES(HY_TYPE_MEMBER)
} hy_value;
#undef HY_TYPE_MEMBER

typedef struct hy_value_type {
    const char *name;         /* "f32" */
    const char *long_name;    /* "float32" */
    const char *npy_name;     /* "<f4" */
    int rounds_to_tf32;       /* 1: HYBRID_ALLOW_TF32 lets devices round values to TF32 */
    double epsilon, min, max; /* distance from 1 to the next number, smallest positive
                                 number, largest finite number */
} hy_value_type;

/* Returns the row of the table for a valid type. */
const hy_value_type *hy_value_type_of(hybrid_type type);

/* Checks an enumerator that a caller has passed. Fails with `status` if it names no value
   type; `name` names the argument. */
hybrid_status hy_check_type(hy_context *ctx, hybrid_status status, const char *name,
                            hybrid_type type);

/* Returns the number of the type, from 0 on, for arrays with an element for each type. */
static inline int hy_type_index(hybrid_type type)
{
    return (int)type - 1;
}

/* Returns the type with this number. */
static inline hybrid_type hy_type_at(int index)
{
    return (hybrid_type)(index + 1);
}

#define HY_TYPE_SIZE(is, T, ...) type == is ? sizeof(T):
static inline size_t hy_value_size(hybrid_type type)
{
    return HY_VALUE_TYPES(HY_TYPE_SIZE) sizeof(float);
}
#undef HY_TYPE_SIZE

static inline int hy_value_bits(hybrid_type type)
{
    return 8 * (int)hy_value_size(type);
}

/* Returns value k of an array, which needs no alignment. */
static inline double hy_value_at(hybrid_type type, const void *values, int64_t k)
{
#define HY_TYPE_READ(is, T, ...)                                                         \
    case is: {                                                                           \
        T value;                                                                         \
        memcpy(&value, (const T *)values + k, sizeof value);                             \
        return (double)value;                                                            \
    }
    switch (type) {
        HY_VALUE_TYPES(HY_TYPE_READ)
    }
#undef HY_TYPE_READ
    return 0;
}

/* Sets value k of an array to `value`, rounded to the type. */
static inline void hy_value_put(hybrid_type type, void *values, int64_t k, double value)
{
#define HY_TYPE_WRITE(is, T, ...)                                                        \
    case is:                                                                             \
        ((T *)values)[k] = (T)value;                                                     \
        break;
    switch (type) {
        HY_VALUE_TYPES(HY_TYPE_WRITE)
    }
#undef HY_TYPE_WRITE
}

/* Returns the value, rounded to the type: infinity if the value is too large. */
static inline double hy_value_rounded(hybrid_type type, double value)
{
#define HY_TYPE_ROUND(is, T, ...)                                                        \
    case is:                                                                             \
        return (double)(T)value;
    switch (type) {
        HY_VALUE_TYPES(HY_TYPE_ROUND)
    }
#undef HY_TYPE_ROUND
    return value;
}

/* Copies value `from_k` of `from` to value `to_k` of `to`; both have the same type. */
static inline void hy_value_copy(hybrid_type type, void *to, int64_t to_k,
                                 const void *from, int64_t from_k)
{
#define HY_TYPE_COPY(is, T, ...)                                                         \
    case is:                                                                             \
        ((T *)to)[to_k] = ((const T *)from)[from_k];                                     \
        break;
    switch (type) {
        HY_VALUE_TYPES(HY_TYPE_COPY)
    }
#undef HY_TYPE_COPY
}

#ifdef __cplusplus
}
#endif
#endif /* HY_VALUE_TYPE_H */
