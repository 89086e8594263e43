/* base/memory/pinned.h - memory of the caller that is pinned, for direct copies.

   Workers first make all pages present, in parallel. Then ranges are pinned in large
   pieces: the driver pins one piece after the other in any case, and a copy must not
   cross from one piece to the next. Pieces end at multiples of the device's range_bytes,
   so that their bounds need not be stored. */
#ifndef HY_PINNED_H
#define HY_PINNED_H

#include "base/contract/state.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hy_backend;
struct hy_lane;
struct hy_row_copy;

/* Pins `bytes` > 0 bytes at ptr. BAD_ARGUMENT if they overlap a pinned range, NO_MEMORY
   if the system refuses; then nothing is pinned. */
hybrid_status hy_pins_add(hy_context *ctx, void *ptr, size_t bytes);
/* Unpins the range that begins at ptr; BAD_ARGUMENT if there is none. */
hybrid_status hy_pins_remove(hy_context *ctx, const void *ptr);
/* Unpins all ranges of the engine. */
void hy_pins_close(hy_context *ctx);

/* Returns 1 if the device can copy all of these bytes directly, because they lie in one
   pinned range or the caller pinned them by other means. */
int hy_pinned(const hy_context *ctx, const void *ptr, size_t bytes);

/* Enqueues copies of rows between the device and pinned memory. `pinned` is rows->dst or
   rows->src, whichever is in the caller's memory. */
hybrid_status hy_pinned_copy_rows(struct hy_lane *lane, const struct hy_row_copy *rows,
                                  const void *pinned);

/* Returns 1 if the device can do this copy of rows directly. `down` is 1 for a copy from
   the device to the caller's memory, 0 for one from the caller's memory to the device. */
int hy_pinned_rows(const hy_context *ctx, const struct hy_row_copy *rows, int down);

#ifdef __cplusplus
}
#endif
#endif /* HY_PINNED_H */
