/* gpu/backend/cuda_memory.cuh - blocks of device and pinned memory, pooled when freed.

   Pinning new pages takes long, so a freed block is pooled for a later allocation of
   similar size. It still counts against the budget (on its meter) until a trim, which
   gives pooled blocks back to CUDA, or until an allocation needs the room. Parameters are
   those of alloc, free and trim in hy_backend_ops. The caller makes the device of the
   blocks current in the calling thread first. */
#ifndef HY_CUDA_MEMORY_CUH
#define HY_CUDA_MEMORY_CUH

#include "gpu/backend/cuda_device.cuh"

void hy_blocks_open(hy_block_list *list);
void hy_blocks_close(hy_block_list *list, hy_backend *owner);
hybrid_status hy_blocks_alloc(hy_block_list *list, hy_backend *owner, hy_space space,
                              size_t bytes, const char *what, hy_buffer *out);
void hy_blocks_free(hy_block_list *list, hy_buffer *buffer);
void hy_blocks_trim(hy_block_list *list, hy_backend *owner, int64_t since);

#endif /* HY_CUDA_MEMORY_CUH */
