/* engine/api/struct_size.h - structs of the caller that begin with their size.

   The caller's header may be older or newer than the library. Structs grow only at their
   end, so both sides know the first bytes, up to the size of the smaller struct. */
#ifndef HY_STRUCT_SIZE_H
#define HY_STRUCT_SIZE_H

#include "base/contract/context.h"

typedef struct hy_struct {
    const char *name, *initializer;
    size_t first, size; /* bytes of the smallest struct that is accepted, and of the
                           struct in the library */
} hy_struct;

extern const hy_struct hy_engine_options_struct, hy_plan_options_struct,
    hy_calibration_struct, hy_report_struct, hy_machine_struct,
    hy_file_options_struct;

/* Returns 1 if a program's struct may have this size: at least type->first bytes, at
   most 4096. It may exceed type->size, because the program's header may be newer. */
int hy_struct_fits(const hy_struct *type, size_t struct_size);
/* Returns BAD_ARGUMENT with a sentence unless hy_struct_fits() accepts the size. */
hybrid_status hy_struct_check(hy_context *ctx, const hy_struct *type, size_t struct_size);

/* Copies the caller's struct `from` over the defaults in `to`. Returns BAD_ARGUMENT if
   the size does not fit; then copies nothing. Returns it too if bytes beyond the fields
   of the library are not zero. */
hybrid_status hy_struct_read(hy_context *ctx, const hy_struct *type, const void *from,
                             void *to);

/* Copies `from` to the program's struct `to`, as far as `to` has room by its
   struct_size, which must be accepted by hy_struct_fits() and stays unchanged. Bytes of
   `to` beyond the fields of the library become zero. */
void hy_struct_write(const hy_struct *type, const void *from, void *to);

#endif /* HY_STRUCT_SIZE_H */
