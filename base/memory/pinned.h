/* base/memory/pinned.h - memory of the caller that is pinned, for direct copies.

   Workers first make all pages present, in parallel. Then ranges are pinned in large
   pieces: the driver pins one piece after the other in any case, and a copy must not
   cross from one piece to the next. Pieces end at multiples of the device's range_bytes,
   so that their bounds need not be stored. */
#ifndef HY_PINNED_H
#define HY_PINNED_H

#include "hybrid_spmm.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hy_backend;
struct hy_context;
struct hy_lane;
struct hy_row_copy;

typedef struct hy_pin {
    char *ptr;
    size_t bytes;
} hy_pin;

/* Pinned ranges of one engine; all zero at first. They change only between calls and
   therefore need no lock. */
typedef struct hy_pins {
    struct hy_backend *device; /* NULL: no device can use pinned memory, and ranges are
                                  only recorded */
    hy_pin *pins;              /* sorted by address, without overlaps */
    size_t count, room;
} hy_pins;

/* Pins `bytes` > 0 bytes at ptr. BAD_ARGUMENT if they overlap a pinned range, NO_MEMORY
   if the system refuses; then nothing is pinned. */
hybrid_status hy_pins_add(struct hy_context *ctx, void *ptr, size_t bytes);
/* Unpins the range that begins at ptr; BAD_ARGUMENT if there is none. */
hybrid_status hy_pins_remove(struct hy_context *ctx, const void *ptr);
/* Unpins all ranges. */
void hy_pins_close(struct hy_context *ctx);

/* Returns 1 if the device can copy all of these bytes directly, because they lie in one
   pinned range or the caller pinned them by other means. */
int hy_pinned(const struct hy_context *ctx, const void *ptr, size_t bytes);

/* Enqueues copies between the device and pinned bytes. `pinned` is dst or src, whichever
   is in the caller's memory. */
hybrid_status hy_pinned_copy(struct hy_lane *lane, void *dst, const void *src,
                             size_t bytes, const void *pinned);

/* Enqueues copies of rows between the device and pinned memory. `pinned` is rows->dst or
   rows->src, whichever is in the caller's memory. */
hybrid_status hy_pinned_copy_rows(struct hy_lane *lane, const struct hy_row_copy *rows,
                                  const void *pinned);

/* Returns 1 if the device can do these copies directly. They are in the order of their
   places in the caller's memory. down: 1 for copies from the device. */
int hy_pinned_rows(const struct hy_context *ctx, const struct hy_row_copy *copies,
                   int count, int down);

#ifdef __cplusplus
}
#endif
#endif /* HY_PINNED_H */
