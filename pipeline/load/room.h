/* pipeline/load/room.h - device memory in which column-major X and Y are transposed.

   X has one such room and Y another, each at most as large as a piece of the ring. If the
   budget leaves no memory for them, workers transpose. */
#ifndef HY_ROOM_H
#define HY_ROOM_H

#include "base/contract/variant.h"

/* Returns the bytes to reserve for each of the two rooms, for a product with these
   features, an X with x_rows rows, and a device budget of `memory` bytes. A plan reserves
   them because it does not know the order of X and Y. Returns 0 if the budget is too
   small, X has a single column, or the device cannot transpose. */
size_t hy_room_bytes(const hy_backend *backend, const hy_features *f, int64_t x_rows,
                     size_t memory);

#endif /* HY_ROOM_H */
