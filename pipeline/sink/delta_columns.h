/* pipeline/sink/delta_columns.h - delta-coded columns of C, decoded by workers.

   Most sparse products take as long as their copies over the bus, and half of the bytes
   copied to the host are columns. The differences between columns take one or two bytes
   instead of four (partition/move/deltas.h). The device codes them in the scratch memory
   of the chunk, which is free once the chunk is computed. The columns arrive before the
   values, so workers decode them into C while the device copies the values there.

   Columns are delta-coded only if the chunk's place in C is pinned. Workers must copy a
   result to other pages from the slot, which leaves them no time to decode. The workers
   must also decode as fast as the bus copies: about eight do for PCIe 5. With fewer, or
   on processors without SSSE3, columns are not delta-coded.

   If several chunks with delta-coded columns still wait to be stored when a chunk is
   copied, its columns are copied without delta coding. */
#ifndef HY_DELTA_COLUMNS_H
#define HY_DELTA_COLUMNS_H

#include "pipeline/site/slot.h"

/* Enqueues the coding of the chunk's columns behind its kernels and sets job.deltas, if
   delta coding can be faster; else job.deltas stays NULL. */
hybrid_status hy_delta_columns_make(hy_slot *slot, hy_lane *lane);

/* Returns 1 if the columns will arrive delta-coded; slot->coded then has room for them.
   The kernels of the chunk must have ended, and its place in C must be pinned. Only the
   driver calls this. */
int hy_delta_columns_pay(hy_slot *slot);

/* Enqueues the copy of the coded columns to slot->coded, and sets the mark slot->columns
   behind it. */
hybrid_status hy_delta_columns_copy(const hy_slot *slot, hy_lane *lane);

/* Lets the sink decode the part's columns, and waits until the values have arrived. */
hybrid_status hy_delta_columns_store(const hy_slot *slot, const hy_part *part);

/* Returns the bytes that delta coding saved on the bus; 0 if the chunk's columns were not
   coded. */
int64_t hy_delta_columns_saved(const hy_slot *slot);

#endif /* HY_DELTA_COLUMNS_H */
