/* pipeline/load.h - B or X to the device, once for all chunks. */
#ifndef HY_LOAD_H
#define HY_LOAD_H

#include "pipeline/run.h"

/* Pageable memory is copied by all workers into a ring of pinned pieces that stays in
   the last-level cache, and from there by DMA; the slots' pinned blocks, still unused,
   are that ring. Returns when the operand is there. */
hybrid_status hy_load_shared(hy_pipeline *pipeline);

#endif /* HY_LOAD_H */
