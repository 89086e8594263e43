/* base/memory/meter.h - meters: each counts bytes of one kind of memory against a limit,
   the budget. */
#ifndef HY_METER_H
#define HY_METER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes in use, and a limit that they cannot exceed. Any thread may use a meter. */
typedef struct hy_meter {
    int64_t used, peak;
    int64_t cap; /* limit in bytes; 0: no limit */
} hy_meter;

/* Counts `bytes` and returns 1. Returns 0 and counts nothing if the cap would be
   exceeded. */
int hy_meter_charge(hy_meter *meter, size_t bytes);
void hy_meter_release(hy_meter *meter, size_t bytes);
int64_t hy_meter_cap(const hy_meter *meter);
/* Returns the bytes that are left below the limit, 0 or more; INT64_MAX if there is no
   limit. */
int64_t hy_meter_left(const hy_meter *meter);
/* Raises the limit to `cap` bytes, if it is lower. */
void hy_meter_raise_cap(hy_meter *meter, int64_t cap);
/* The functions return the bytes in use now, and their maximum since
   hy_meter_reset_peak(). */
int64_t hy_meter_used(const hy_meter *meter);
int64_t hy_meter_peak(const hy_meter *meter);
void hy_meter_reset_peak(hy_meter *meter);

#ifdef __cplusplus
}
#endif
#endif /* HY_METER_H */
