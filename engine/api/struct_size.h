/* engine/api/struct_size.h - structs of the caller that begin with their size.

   The caller's header may be older or newer than the library. Structs grow only at their
   end, so both sides know the first bytes, up to the size of the smaller struct. */
#ifndef HY_STRUCT_SIZE_H
#define HY_STRUCT_SIZE_H

#include "base/contract/context.h"

typedef struct hy_struct {
    const char *name, *initializer;
    size_t first, size; /* bytes of the smallest valid struct, and of today's */
} hy_struct;

extern const hy_struct hy_engine_options_struct, hy_plan_options_struct,
    hy_calibration_struct, hy_report_struct, hy_machine_struct;

/* Returns 1 if a struct of that size can exist. */
int hy_struct_fits(const hy_struct *type, size_t struct_size);
/* Returns BAD_ARGUMENT with a sentence if a struct of that size cannot exist. */
hybrid_status hy_struct_check(hy_context *ctx, const hy_struct *type, size_t struct_size);

/* Copies the caller's struct `from` over the defaults in `to`. Returns BAD_ARGUMENT if
   the size does not fit (nothing is copied then), or if bytes beyond the known fields are
   not zero. */
hybrid_status hy_struct_read(hy_context *ctx, const hy_struct *type, const void *from,
                             void *to);

/* Copies `from` to the caller's struct `to`, whose size must fit. struct_size of `to`
   stays. Bytes beyond the known fields become zero. */
void hy_struct_write(const hy_struct *type, const void *from, void *to);

#endif /* HY_STRUCT_SIZE_H */
