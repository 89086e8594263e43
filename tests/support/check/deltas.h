/* tests/support/check/deltas.h - sequential delta coding (partition/move/deltas.h). */
#ifndef DELTAS_H
#define DELTAS_H

#include "base/contract/backend.h"

/* Fills `numbers` with column indices of rows of C that have `rows` entries each; 0: one
   row. Their differences have up to `bits` bits. */
void deltas_fill(uint64_t seed, int bits, int rows, int32_t *numbers, int64_t count);

/* Delta-codes `count` numbers into hy_deltas_bound(count) bytes at `packed`. The last
   frame (1024 numbers) comes first. Returns how many units of 16 bytes the frames
   take. */
int64_t deltas_pack(const int32_t *numbers, int64_t count, void *packed);

/* The function code_deltas of the fake device's hy_backend_ops. */
hybrid_status fake_pack_deltas(hy_lane *lane, const int32_t *numbers,
                               const int64_t *count, int64_t most, void *packed,
                               int64_t *units);

/* Returns the number of non-empty chunks that fake_pack_deltas() has coded. */
int64_t fake_packed(void);

#endif /* DELTAS_H */
