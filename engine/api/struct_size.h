/* engine/api/struct_size.h - structs of the caller that begin with struct_size, and which
   he may have from an older or a newer header than the library's. They grow at their end:
   both know the first bytes, as many as the shorter one has. */
#ifndef HY_STRUCT_SIZE_H
#define HY_STRUCT_SIZE_H

#include "base/contract/context.h"

typedef struct hy_struct {
    const char *name, *initializer;
    size_t first, size; /* bytes: of the smallest that is taken, and here */
} hy_struct;

extern const hy_struct hy_engine_options_struct, hy_plan_options_struct,
    hy_calibration_struct, hy_report_struct, hy_machine_struct;

/* No caller has less than the smallest, nor more than a struct will ever have. */
int hy_struct_fits(const hy_struct *type, size_t struct_size);
/* The same, with a sentence: BAD_ARGUMENT. */
hybrid_status hy_struct_check(hy_context *ctx, const hy_struct *type, size_t struct_size);

/* What the caller gives: `from` over the defaults in `to`. BAD_ARGUMENT if it does not fit,
   and then nothing is read; or if bytes that are not known here are not zero. */
hybrid_status hy_struct_read(hy_context *ctx, const hy_struct *type, const void *from,
                             void *to);

/* What the caller gets: `from` into a `to` that fits. Its struct_size stays; bytes that are
   not known here become zero. */
void hy_struct_write(const hy_struct *type, const void *from, void *to);

#endif /* HY_STRUCT_SIZE_H */
