/* base/memory/pinned.h - memory of the caller that a device copies from and to directly.

   Workers make the pages that are not there yet, all at once; then ranges are pinned in
   large pieces, since copies must not cross from one to the next, and as the driver pins one
   piece after the other whoever asks. Pieces end where addresses are multiples of the
   device's range_bytes, so that nobody needs to remember them. */
#ifndef HY_PINNED_H
#define HY_PINNED_H

#include "base/contract/state.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hy_backend;
struct hy_lane;
struct hy_row_copy;

/* Pin `bytes` > 0 at ptr. BAD_ARGUMENT if some of them are in a range that is there,
   NO_MEMORY if the system refuses; then nothing is pinned. */
hybrid_status hy_pins_add(hy_context *ctx, void *ptr, size_t bytes);
/* Unpin the range that begins at ptr; BAD_ARGUMENT if none does. */
hybrid_status hy_pins_remove(hy_context *ctx, const void *ptr);
/* Unpin all. */
void hy_pins_close(hy_context *ctx);

/* Whether the device copies from and to all of these bytes directly: they are in one range,
   or the caller pinned them by other means. */
int hy_pinned(const hy_context *ctx, const void *ptr, size_t bytes);

/* Enqueue copies between the device and such bytes, which are at dst or src: `pinned` is
   the one of the two. */
hybrid_status hy_pinned_copy(struct hy_lane *lane, void *dst, const void *src,
                             size_t bytes, const void *pinned);

/* The same of rows: `pinned` is their dst or src. */
hybrid_status hy_pinned_copy_rows(struct hy_lane *lane, const struct hy_row_copy *rows,
                                  const void *pinned);

/* Whether the device may do that copy of rows directly, from the caller's memory or, if
   `down`, to it. */
int hy_pinned_rows(const hy_context *ctx, const struct hy_row_copy *rows, int down);

#ifdef __cplusplus
}
#endif
#endif /* HY_PINNED_H */
