/* pipeline/sink/delta_columns.h - columns of C that come packed, and that workers unpack.

   The bus bounds most sparse products, and half of what it brings are columns, whose
   differences take one or two bytes instead of four (partition/move/deltas.h). The device packs
   them in a chunk's scratch, which has no use any more when the chunk is computed. They
   come before the values: workers unpack them to their place in C while the values come to
   theirs. That is for pages of C that are pinned; those that are not, workers fill from
   what came to the slot, and have enough to do with it. It takes eight workers to keep up
   with PCIe 5; fewer do not begin, nor do processors without SSSE3.

   When a chunk's turn on the bus has come and workers are behind with those before it, its
   columns come as they are, with nothing for workers to do. */
#ifndef HY_DELTA_COLUMNS_H
#define HY_DELTA_COLUMNS_H

#include "pipeline/site/slot.h"

/* Enqueue, behind what computes the chunk: its columns packed, if that can be of use. */
hybrid_status hy_delta_columns_make(hy_slot *slot, hy_lane *lane);

/* Whether they are to come packed; slot->packed has room for them then. The chunk has been
   computed, and its place in C is pinned. Called by the driver. */
int hy_delta_columns_pay(hy_slot *slot);

/* Enqueue the copy to slot->packed, and slot->columns behind it. */
hybrid_status hy_delta_columns_copy(const hy_slot *slot, hy_lane *lane);

/* Have the sink decode the part's to where they belong; the values are there, too, when it
   returns. */
hybrid_status hy_delta_columns_store(const hy_slot *slot, const hy_part *part);

/* Bytes that the bus was spared by it. */
int64_t hy_delta_columns_saved(const hy_slot *slot);

#endif /* HY_DELTA_COLUMNS_H */
