/* engine/rates/rates_keys.h - the numbers of a device in a file of measured speeds. */
#ifndef HY_RATES_KEYS_H
#define HY_RATES_KEYS_H

#include "engine/rates/rates.h"

typedef struct hy_rates_key {
    const char *name;
    size_t at; /* offset of the number in hy_rates_of_device, in bytes */
    double least, most;
    const char *meaning; /* comment beside the number in the file, or NULL */
    int predicts;        /* 1: predictions depend on the number; 0: it is information */
} hy_rates_key;

/* All keys of a device. The last element has no name. */
extern const hy_rates_key hy_rates_keys[];

static inline double *hy_rates_field(hy_rates_of_device *d, const hy_rates_key *key)
{
    return (double *)(void *)((char *)d + key->at);
}

#endif /* HY_RATES_KEYS_H */
