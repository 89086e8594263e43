/* pipeline/load/room.h - room on the device in which X and Y in columns are transposed.

   A room holds a piece of the ring or less; there is one for X and one for Y. Where the
   budget leaves none, workers transpose. */
#ifndef HY_ROOM_H
#define HY_ROOM_H

#include "base/contract/variant.h"

/* Bytes of the budget to be left for each of the two rooms, for a product with these
   features and an X of so many rows, as a plan does not know in which order X and Y will
   be. 0: the budget is too small, or the device does not transpose. */
size_t hy_room_bytes(const hy_backend *backend, const hy_features *f, int64_t x_rows,
                     size_t memory);

#endif /* HY_ROOM_H */
