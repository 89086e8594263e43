/* engine/plan/stream.h - which products are planned while they run.

   The plan of such a product has estimates: a sampled profile, and chunks that are cut
   with it. The run counts the rows of each chunk shortly before the chunk begins, and
   cuts the chunk anew if it does not fit its slot (pipeline/run/refine.h). */
#ifndef HY_STREAM_H
#define HY_STREAM_H

#include "engine/plan/portion.h"

/* Returns 1 if the product may be planned by a sample: a one-shot SpGEMM with operands
   and result in host memory, whose B leaves the only device too little memory, with at
   least hy_settings.stream_entries entries of A, and without HYBRID_EXPLAIN, chunk_rows
   or a split that gives the host all work. */
int hy_stream_may(const hy_product *product, const hybrid_csr *A);

/* Returns the bytes of a slot that a chunk may take by estimate, so that its exact size
   fits the slot; all of slot_bytes unless the profile is sampled. */
size_t hy_stream_slot(const hy_profile *profile, size_t slot_bytes);

/* Settles a layout that was cut with a sampled profile: gives its chunks room for more
   scalar products than estimated, and returns 1. Returns 0, and changes nothing, if the
   run could not keep to the layout, because it has few chunks, a row might not fit a
   slot, the variant does not read CSR, or chunks bring B in passes: then the product must
   be inspected completely. */
int hy_stream_adopt(hy_portion *portion);

#endif /* HY_STREAM_H */
