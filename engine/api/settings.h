/* engine/api/settings.h - sizes and choices of the planner that only tests change. */
#ifndef HY_SETTINGS_H
#define HY_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

/* Minimum sizes from which a plan does additional work that makes runs faster. */
enum {
    HY_PREFETCH_BYTES = 1 << 20,    /* minimum bytes of a B that is prefetched */
    HY_COUNTED_BYTES  = 32 << 20,   /* least bytes of B in A*A for which the device counts
                                       the scalar products of each row. Below this,
                                       workers finish sooner. For 2 M entries workers need
                                       0.2 ms. The device needs 0.7 ms, and waits for all
                                       of B first. */
    HY_HYPERSPARSE_BYTES = 16 << 20, /* minimum bytes of X and Y together for which a plan
                                       may use the reduced A */
    HY_STREAM_ENTRIES = 1 << 20,    /* minimum entries of A of a SpGEMM that is planned
                                       while it runs. Counting fewer takes less than
                                       0.1 ms. */
    HY_STREAM_CHUNKS = 50           /* minimum number of chunks of such an SpGEMM: with
                                       fewer, the first chunk is a large part of the
                                       run */
};

typedef struct hy_settings {
    const struct hy_schedule *schedule; /* schedule that every plan uses if it can; NULL:
                                           the planner chooses */
    int64_t column_blocks; /* number of column blocks of an X that fits the device, in the
                              schedule column_ring and with pinned X and Y; 0: the planner
                              chooses */
    size_t prefetch_bytes; /* minimum bytes of a B that is prefetched */
    size_t counted_bytes;  /* minimum bytes of B in A*A for which the device counts the
                              scalar products of each row */
    int64_t index_max; /* maximum entries of a C with 32-bit offsets; at most INT32_MAX */
    int all_devices;   /* 1: every device computes a part of each product; 0: the planner
                          chooses */
    int device_first;  /* 1: a device that X fits, or an SpGEMM, is not replaced by the
                          host, even if the host is predicted to be faster; 0: the
                          planner chooses */
    int64_t hypersparse_bytes; /* minimum bytes of X and Y together for which a plan may
                                  use the reduced A */
    int64_t stream_entries, stream_chunks; /* minimum entries of A, and chunks, of a SpGEMM
                                              that is planned while it runs
                                              (engine/plan/stream.h) */
    int64_t piece_bytes; /* maximum bytes of a part of A, and of rows of B, that are read
                            from a file, and of a panel (rows written together) of a file;
                            0: a share of free host memory */

    /* Formats of files that remain open as operands (io/formats/file_format.h), ended by
       NULL. */
    const struct hy_file_format *const *formats;
} hy_settings;

/* The settings of every engine outside tests. */
extern const hy_settings hy_usual_settings;

#endif /* HY_SETTINGS_H */
