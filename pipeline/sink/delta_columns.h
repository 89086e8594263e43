/* pipeline/sink/delta_columns.h - delta-coded columns of C, decoded by workers.

   The bus bounds most sparse products, and half of its bytes are columns. Their
   differences take one or two bytes instead of four (partition/move/deltas.h). The device
   codes them in the scratch of the chunk, which is free once the chunk is computed. The
   columns arrive before the values, so workers decode them into C while the device copies
   the values there.

   This applies to pinned pages of C only. Other pages are filled by workers from the
   slot, which leaves them no time to decode. About eight workers keep up with PCIe 5;
   with fewer, or on processors without SSSE3, columns are not delta-coded.

   If workers are behind with earlier chunks when a chunk is copied, its columns are
   copied without delta coding. */
#ifndef HY_DELTA_COLUMNS_H
#define HY_DELTA_COLUMNS_H

#include "pipeline/site/slot.h"

/* Enqueues the coding of the chunk's columns behind its kernels, if it can be faster. */
hybrid_status hy_delta_columns_make(hy_slot *slot, hy_lane *lane);

/* Returns 1 if the columns are to arrive delta-coded; slot->packed then has room for
   them. The kernels of the chunk must have ended, and its place in C must be pinned. Only
   for the driver. */
int hy_delta_columns_pay(hy_slot *slot);

/* Enqueues the copy to slot->packed, and sets slot->columns behind it. */
hybrid_status hy_delta_columns_copy(const hy_slot *slot, hy_lane *lane);

/* Lets the sink decode the part's columns, and waits for the values. */
hybrid_status hy_delta_columns_store(const hy_slot *slot, const hy_part *part);

/* Returns the bytes that delta coding saved on the bus. */
int64_t hy_delta_columns_saved(const hy_slot *slot);

#endif /* HY_DELTA_COLUMNS_H */
