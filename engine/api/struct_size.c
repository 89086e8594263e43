/* engine/api/struct_size.c - structs of the caller that begin with their size. */
#include "engine/api/struct_size.h"

#include <string.h>

enum { MOST = 4096 }; /* maximum bytes of a struct that a caller may have */

/* Defines the description of a struct. `first` is the last field of the smallest struct
   that is accepted, `last` the last field of today's struct, which must not end in
   padding: a new field in the padding would not change the size, and an older program
   would not initialise it. */
#define DEFINE(type, text, init, first, last)                                            \
    _Static_assert(sizeof(hybrid_##type) == offsetof(hybrid_##type, last) +              \
                                                sizeof(((hybrid_##type *)0)->last),      \
                   "hybrid_" #type " ends in padding");                                  \
    const hy_struct hy_##type##_struct = {text, init,                                    \
                                          offsetof(hybrid_##type, first) +               \
                                              sizeof(((hybrid_##type *)0)->first),       \
                                          sizeof(hybrid_##type)};

DEFINE(engine_options, "engine options", "HYBRID_ENGINE_OPTIONS_INIT", rates_path,
       devices_optional)
DEFINE(plan_options, "plan options", "HYBRID_PLAN_OPTIONS_INIT", host_share, result_space)
DEFINE(calibration, "calibration", "HYBRID_CALIBRATION_INIT", scaled, scaled)
DEFINE(report, "report", "HYBRID_REPORT_INIT", rates_measured, resumed_rows)
DEFINE(file_options, "file options", "HYBRID_FILE_OPTIONS_INIT", row_end, part_rows)
DEFINE(machine, "machine", "HYBRID_MACHINE_INIT", device_count, with_zstd)

int hy_struct_fits(const hy_struct *type, size_t struct_size)
{
    return struct_size >= type->first && struct_size <= MOST;
}

hybrid_status hy_struct_check(hy_context *ctx, const hy_struct *type, size_t struct_size)
{
    if (hy_struct_fits(type, struct_size))
        return HYBRID_OK;
    return hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                   "%s: struct_size %zu is not in %zu..%d: start from %s", type->name,
                   struct_size, type->first, MOST, type->initializer);
}

hybrid_status hy_struct_read(hy_context *ctx, const hy_struct *type, const void *from,
                             void *to)
{
    const size_t given = *(const size_t *)from;
    const char *bytes  = from;

    HY_TRY(hy_struct_check(ctx, type, given));
    memcpy(to, from, given < type->size ? given : type->size);
    *(size_t *)to = type->size;
    for (size_t k = type->size; k < given; k++)
        if (bytes[k])
            return hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                           "%s: byte %zu is not 0: it belongs to a field that this "
                           "version of the library does not know",
                           type->name, k);
    return HYBRID_OK;
}

void hy_struct_write(const hy_struct *type, const void *from, void *to)
{
    const size_t room  = *(const size_t *)to;
    const size_t known = room < type->size ? room : type->size;

    memcpy(to, from, known);
    memset((char *)to + known, 0, room - known);
    *(size_t *)to = room;
}
