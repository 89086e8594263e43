/* tests/support/fake/fake_backend.h - a device made of host memory and threads.

   The device tests the code around a device on machines without a GPU:

   - Each lane is a thread that does its work in order, after random delays.
   - Memory is poisoned when it is allocated.
   - A copy is refused unless one side is memory of the device, the other is pinned
     memory or other memory of the device, and each side lies within one block or
     pinned range.
   - Device memory is capped to options->device_bytes. The default is 64 MiB, divided
     by the number of times that the engine's list of devices names the device.
   - Memory that a caller pins is pinned for all devices of the process. */
#ifndef FAKE_BACKEND_H
#define FAKE_BACKEND_H

#include "base/contract/variant.h"

extern const hy_backend_ops hy_fake_backend_ops; /* backend with the name "fake"; its
                                                    calls do not fail on demand */

enum { FAKE_DEVICES = 8 };

/* Bytes of host memory that the first fake device of a process takes for itself, and of
   device memory that each is said to have lost when it opened. */
enum { FAKE_HOST_BYTES = 4 << 20, FAKE_OCCUPIED = 3 << 20 };

typedef hybrid_status (*hy_fake_fn)(hy_lane *lane, void *arg);

/* Runs `fn` on the lane after all work enqueued before. `arg` must stay valid until
   then. If `fn` fails, the lane skips its later work and its marks report the failure,
   until host_wait has reported it and the lane is idle. */
hybrid_status hy_fake_enqueue(hy_lane *lane, hy_fake_fn fn, void *arg);

/* Works as hy_fake_enqueue(), but copies the bytes at `arg`, so that the caller may
   change them at once. Their number must be 1 to FAKE_ARG_BYTES. */
enum { FAKE_ARG_BYTES = 128 };
hybrid_status hy_fake_enqueue_copy(hy_lane *lane, hy_fake_fn fn, const void *arg,
                                   size_t bytes);

/* Sets the delays of lanes that are opened after this call: one in four pieces of work
   waits a random time of at most `most_us` microseconds before it begins. */
void fake_delays(unsigned seed, int most_us);

/* Sets the clock that gives marks their times, in nanoseconds; NULL: the host's
   clock. */
void fake_clock(int64_t (*now_ns)(void));

/* Returns the number of fake backends, memory blocks, lanes and marks that exist now,
   including pinned ranges of callers' memory. */
int64_t fake_alive(void);

/* Returns the number of ranges of callers' memory that are pinned now. */
int64_t fake_pinned_now(void);

/* Counters since the program began: fake_pins() returns how many ranges of callers'
   memory were pinned, fake_direct() the bytes copied from or to such ranges. */
int64_t fake_pins(void);
int64_t fake_direct(void);

/* Returns the bytes copied since the program began: with HY_DEVICE to devices, with
   HY_PINNED to pinned memory. */
int64_t fake_copied(hy_space to);

/* Returns the bytes that devices copied from other devices since the program began. */
int64_t fake_relayed(void);

/* 1: from now on no device can read the memory of another; 0: each can. */
void fake_peerless(int on);

/* Returns how often, since the program began, a fake device counted the scalar products
   of rows of A. */
int64_t fake_counts(void);

/* Returns the number of operands that fake devices surveyed (counted for planning) since
   the program began. */
int64_t fake_surveys(void);

/* Returns the number of parts of X and Y that fake devices transposed since the program
   began. */
int64_t fake_transposes(void);

/* Returns the number of entries of B that fake devices were told to read from host memory
   since the program began. */
int64_t fake_collected(void);

/* ---- fake_engine.c ---- */

/* Works as hy_engine_open(), but the engine prefers the device wherever the product fits,
   even if the host is predicted to be faster (hy_settings.device_first). Launches cost it
   next to nothing, so that small products get the schedules of large ones. If the options
   name no devices, those of HYBRID_DEVICES (listed.h) are used: all compute, with
   different speeds and memory. */
hybrid_status fake_engine_open(const hybrid_engine_options *options,
                               const hy_backend_ops *const *backends,
                               const hy_variant *const *variants, hybrid_engine **engine);

/* ---- fake_faults.c: a fake device with calls that fail on demand ---- */

extern const hy_backend_ops hy_fault_backend_ops; /* backend with the name "fake" and
                                                     with calls that fault_arm() makes
                                                     fail */

/* Makes call number `calls` from now on, counted from 1, fail with DEVICE_FAILED; 0: no
   call fails. Calls of hy_fault_backend_ops that can fail are counted, and those of
   hy_fake_enqueue(). */
void fault_arm(int64_t calls);

/* Works as fault_arm(), but all later calls fail too, until the next fault_arm(): the
   device is lost. From the first failing call on, the device's lanes begin no more
   work. */
void fault_arm_for_good(int64_t calls);

/* From now on only calls of device number `device` of an engine are counted and fail;
   -1: calls of all devices. Calls that open a device are always counted. */
void fault_arm_of(int device);

/* A lane calls fault_lets_begin() before each piece of work. The function returns 0 if
   the device is lost; the lane then skips the work. Otherwise it returns 1, and the lane
   must call fault_lets_end() after the work: until then the device cannot become
   lost. */
int fault_lets_begin(const hy_backend *backend);
void fault_lets_end(void);

/* Returns 1 after fault_arm() until the call that is to fail has been made; 0 also if no
   call is to fail. */
int fault_is_armed(void);

/* Work as fault_arm() and fault_is_armed() for the calls that pin memory, which have a
   count of their own and fail with NO_MEMORY. */
void fault_arm_pins(int64_t calls);
int fault_pins_are_armed(void);

/* Counts a call of the device. Returns 1 if this call must fail, after setting the
   context's message "fake device N: `what` failed", else 0. */
int fault_hits(const hy_backend *backend, const char *what);

/* ---- fake_variants.c ---- */

extern const hy_variant hy_spgemm_fake_esc; /* variant "spgemm.fake.esc": B lies on the
                                               device */
extern const hy_variant hy_spgemm_fake_dup; /* variant "spgemm.fake.dup": packs contain
                                               the rows of B */
extern const hy_variant hy_spmm_fake_rows;  /* variant "spmm.fake.rows": reads X by
                                               rows */

/* ---- fake_tiled.c ---- */

extern const hy_variant hy_spmm_fake_tiled; /* variant "spmm.fake.tiled": reads X by
                                               columns */

#endif /* FAKE_BACKEND_H */
