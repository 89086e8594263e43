/* base/memory/device_full.h - the error sentence for a device with too little memory. */
#ifndef HY_DEVICE_FULL_H
#define HY_DEVICE_FULL_H

#include "base/contract/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fails with NO_DEVICE_MEMORY because the budget of a device is used up, with the
   sentence of hy_short() (shortage.h), which names the device. `meter` has the budget;
   `facts` and `also` may be NULL. */
hybrid_status hy_device_full(const hy_backend *device, const hy_meter *meter,
                             const char *what, int64_t bytes, const char *facts,
                             const char *also);

/* Works as hy_device_full(), for memory that no meter counts and with another remedy than
   a larger budget. */
hybrid_status hy_device_short(const hy_backend *device, const char *what, int64_t bytes,
                              const char *facts, const char *remedy);

#ifdef __cplusplus
}
#endif
#endif /* HY_DEVICE_FULL_H */
