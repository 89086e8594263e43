/* engine/api/settings.h - sizes and choices of the planner that only tests change. */
#ifndef HY_SETTINGS_H
#define HY_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

/* Sizes from which on a plan does more to be faster. */
enum {
    HY_PREFETCH_BYTES       = 1 << 20, /* less of B is there before planning misses it */
    HY_COUNTED_BYTES     = 32 << 20, /* workers have counted less of it sooner: of 2 M entries
                                        in 0.2 ms, the device in 0.7 when all had come */
    HY_HYPERSPARSE_BYTES = 16 << 20 /* X and Y: without rows that A leaves empty */
};

typedef struct hy_settings {
    const struct hy_schedule *schedule; /* of every plan that can have it; NULL: the planner
                                           chooses */
    int64_t panels; /* number of panels of an X that fits, if the schedule is the column ring
                       or X and Y are pinned; 0: the planner chooses */
    size_t prefetch_bytes;   /* a B of this size is sent before a one-shot plan is made */
    size_t counted_bytes; /* a B of this size that is also A is counted on the device */
    int64_t index_max;    /* entries of a C whose offsets fit 32 bits: INT32_MAX or less */
    int all_devices;      /* 1: each device that can computes a part of every product */
    int device_first;     /* 1: a product that fits the device is not the host's */
    int64_t hypersparse_bytes; /* X and Y of this size are sent without rows that A leaves
                                  empty */
    int64_t piece_bytes; /* size of a panel of A, or of rows of B, that is read from a file;
                            0: by the budget of the host */
} hy_settings;

/* The settings of every engine outside tests. */
extern const hy_settings hy_usual_settings;

#endif /* HY_SETTINGS_H */
