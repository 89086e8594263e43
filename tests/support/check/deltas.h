/* tests/support/check/deltas.h - delta coding (partition/move/deltas.h) by plain
   sequential code. */
#ifndef DELTAS_H
#define DELTAS_H

#include "base/contract/backend.h"

/* Fills `numbers` with `count` pseudorandom column indices of rows of C. Each row has
   `rows` entries; with rows = 0 there is a single row. Within a row an index exceeds the
   one before by 0 to 2^bits - 1, modulo 2^31. */
void deltas_fill(uint64_t seed, int bits, int rows, int32_t *numbers, int64_t count);

/* Delta-codes `count` numbers. `packed` has room for hy_deltas_bound(count) bytes. The
   last frame (1024 numbers, or what remains) is stored first. Returns the room of all
   frames, in units of 16 bytes. */
int64_t deltas_pack(const int32_t *numbers, int64_t count, void *packed);

/* Enqueues deltas_pack() on a lane of the fake device: its hy_backend_ops.code_deltas.
   The lane reports an error if *count, read when the work begins, exceeds `most`. */
hybrid_status fake_pack_deltas(hy_lane *lane, const int32_t *numbers,
                               const int64_t *count, int64_t most, void *packed,
                               int64_t *units);

/* Returns how many chunks with entries fake_pack_deltas() has coded since the program
   began. */
int64_t fake_packed(void);

#endif /* DELTAS_H */
