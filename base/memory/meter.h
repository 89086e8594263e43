/* base/memory/meter.h - counting bytes against a cap. */
#ifndef HY_METER_H
#define HY_METER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes in use against a hard cap. Safe from any thread. */
typedef struct hy_meter {
    int64_t used, peak;
    int64_t cap; /* 0 = none */
} hy_meter;

/* Counts `bytes`. Returns 0, with nothing counted, if that would exceed the cap. */
int hy_meter_take(hy_meter *meter, size_t bytes);
void hy_meter_give(hy_meter *meter, size_t bytes);
/* Return the bytes in use now, and the most since hy_meter_reset_peak(). */
int64_t hy_meter_used(const hy_meter *meter);
int64_t hy_meter_peak(const hy_meter *meter);
void hy_meter_reset_peak(hy_meter *meter);

#ifdef __cplusplus
}
#endif
#endif /* HY_METER_H */
