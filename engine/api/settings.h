/* engine/api/settings.h - sizes and choices of the planner that only tests change. */
#ifndef HY_SETTINGS_H
#define HY_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

/* Sizes from which a plan does additional work to be faster. */
enum {
    HY_PREFETCH_BYTES = 1 << 20,    /* least bytes of a B that is prefetched */
    HY_COUNTED_BYTES  = 32 << 20,   /* least bytes of B in A*A for which the device counts
                                       the scalar products of each row. For less, workers
                                       count sooner: for 2 M entries they take 0.2 ms; the
                                       device takes 0.7 ms and begins only after all of B
                                       has arrived. */
    HY_HYPERSPARSE_BYTES = 16 << 20 /* least bytes of X and Y together for which rows that
                                       A leaves empty are left out */
};

typedef struct hy_settings {
    const struct hy_schedule *schedule; /* taken by every plan that can; NULL: the planner
                                           chooses */
    int64_t column_blocks; /* number of column blocks of an X that fits the device, with
                              the schedule column_ring or pinned X and Y; 0: the planner
                              chooses */
    size_t prefetch_bytes; /* least bytes of a B that is sent while a one-shot plan is
                              made */
    size_t counted_bytes;  /* least bytes of a B = A for which the device counts scalar
                              products */
    int64_t index_max; /* maximum entries of a C with 32-bit offsets: INT32_MAX or less */
    int all_devices;   /* 1: all devices compute a part of each product */
    int device_first;  /* 1: the host gets no product that fits the device */
    int64_t hypersparse_bytes; /* least bytes of X and Y together for which rows that A
                                  leaves empty are left out */
    int64_t piece_bytes; /* bytes of a part of A and of rows of B that are read from a
                            file; 0: as the budget of the host allows */

    /* Formats of files that stay open (io/formats/file_format.h). */
    const struct hy_file_format *const *formats;
} hy_settings;

/* The settings of every engine outside tests. */
extern const hy_settings hy_usual_settings;

#endif /* HY_SETTINGS_H */
