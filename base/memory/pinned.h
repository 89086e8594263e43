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

/* Memory of the caller that an engine has pinned for one run. */
typedef struct hy_run_pin {
    hy_context *ctx;
    hy_pin range;            /* its `bytes` is 0 if nothing is pinned */
    struct hy_run_pin *next; /* next struct in the list of all engines */
} hy_run_pin;

/* Pins `bytes` > 0 bytes at ptr until hy_run_pin_remove(). Pins nothing, and returns OK,
   if the system refuses or a run has pinned a part of these bytes. CUDA pins memory for
   the whole process: other engines find the bytes pinned, but hy_pinned() keeps them from
   relying on it. May be called while threads of the engine call hy_pinned(). The caller
   keeps *out where it is. */
hybrid_status hy_run_pin_add(hy_context *ctx, const void *ptr, size_t bytes,
                             hy_run_pin *out);
/* Unpins the range. Does nothing if nothing is pinned. */
void hy_run_pin_remove(hy_run_pin *pin);

/* Returns 1 if the device can copy all of these bytes directly, because they lie in one
   pinned range, the engine has pinned them for the run, or the caller pinned them by
   other means. */
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
