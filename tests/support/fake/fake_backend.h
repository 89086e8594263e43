/* tests/support/fake/fake_backend.h - a device made of host memory and threads.

   For testing all that surrounds a device where there is none. Each lane is a thread
   that does its work in order, after random delays; memory is poisoned when it is
   allocated; copies are refused unless one side is device memory and the other pinned,
   both within one block or pinned piece.
   Device memory is capped by options->device_bytes, or 64 MB, which those that are one
   divide. There are FAKE_DEVICES; memory that one of an engine's pins is pinned for all. */
#ifndef FAKE_BACKEND_H
#define FAKE_BACKEND_H

#include "base/contract/variant.h"

extern const hy_backend_ops hy_fake_backend_ops; /* "fake" */

enum { FAKE_DEVICES = 8 };

typedef hybrid_status (*hy_fake_fn)(hy_lane *lane, void *arg);

/* Run `fn` on the lane after everything enqueued before. `arg` is borrowed until then.
   When it fails, the lane skips the rest, and marks report it, until host_wait has
   reported it and the lane is idle. */
hybrid_status hy_fake_enqueue(hy_lane *lane, hy_fake_fn fn, void *arg);

/* The same with a copy of the 1 to FAKE_ARG_BYTES bytes at `arg`. */
enum { FAKE_ARG_BYTES = 128 };
hybrid_status hy_fake_enqueue_copy(hy_lane *lane, hy_fake_fn fn, const void *arg,
                                   size_t bytes);

/* Delays of lanes opened from now on: up to `most_us` before a fourth of their work. */
void fake_delays(unsigned seed, int most_us);

/* Backends, blocks, lanes and marks that were made and not released. */
int64_t fake_alive(void);

/* Pieces of memory that are pinned where they are. */
int64_t fake_pinned_now(void);

/* Pieces of memory pinned so far, and bytes copied from or to such memory. */
int64_t fake_pins(void);
int64_t fake_direct(void);

/* Bytes copied so far to the device, and from it to pinned memory. */
int64_t fake_copied(hy_space to);

/* Times that products of rows were counted by the device. */
int64_t fake_counts(void);

/* Operands that a device surveyed. */
int64_t fake_surveys(void);

/* Parts of X and Y that devices turned. */
int64_t fake_turns(void);

/* ---- fake_engine.c ---- */

/* hy_engine_open() for an engine whose device has every product that it can hold, however
   soon the host would be done: hy_settings.device_first is 1. Launches cost it next to nothing,
   so that schedules of small products are chosen as those of large ones are. */
hybrid_status fake_engine_open(const hybrid_engine_options *options,
                               const hy_backend_ops *const *backends,
                               const hy_variant *const *variants, hybrid_engine **engine);

/* ---- fake_faults.c: the same device, of which one call fails, or all from one on ---- */

extern const hy_backend_ops hy_fault_backend_ops; /* "fake" */

/* The call that brings `calls` from 1 to 0 fails with DEVICE_FAILED; 0: none does.
   Counted is every call that can fail, hy_fake_enqueue() included. */
void fault_arm(int64_t calls);

/* The same, and all calls that follow fail too, up to the next fault_arm(): a device that is
   lost. When the first one returns its lanes have stopped. */
void fault_arm_for_good(int64_t calls);

/* Counted, failed and lost are from now on only calls of the device of that number in its
   engine; -1: of all. Opening is always counted. */
void fault_arm_of(int device);

/* A lane begins something, unless the device is lost; it is not lost before the end of it. */
int fault_lets_begin(const hy_backend *backend);
void fault_lets_end(void);

/* 1 if that call is still to come. */
int fault_is_armed(void);

/* The same for calls that pin memory, which fault_arm() does not count. */
void fault_arm_pins(int64_t calls);
int fault_pins_are_armed(void);

/* 1 if this call is to fail; the sentence, with the number of the device, is left in the
   context. */
int fault_hits(const hy_backend *backend, const char *what);

/* ---- fake_variants.c ---- */

extern const hy_variant hy_spgemm_fake_esc; /* "spgemm.fake.esc" */
extern const hy_variant hy_spgemm_fake_dup; /* "spgemm.fake.dup" */
extern const hy_variant hy_spmm_fake_rows;  /* "spmm.fake.rows" */

/* ---- fake_tiled.c ---- */

extern const hy_variant hy_spmm_fake_tiled; /* "spmm.fake.tiled": in columns */

#endif /* FAKE_BACKEND_H */
