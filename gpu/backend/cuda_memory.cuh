/* gpu/backend/cuda_memory.cuh - blocks of device and pinned memory, kept when freed.

   Pinning pages runs at 2 GB/s, so a freed block waits for the next alloc of about its
   size. It stays counted on its meter until trim, or until somebody needs the room.
   The device of the list is current in the calling thread. */
#ifndef HY_CUDA_MEMORY_CUH
#define HY_CUDA_MEMORY_CUH

#include "gpu/backend/cuda_device.cuh"

void hy_blocks_open(hy_block_list *list);
void hy_blocks_close(hy_block_list *list, hy_backend *owner); /* frees them all */
hybrid_status hy_blocks_alloc(hy_block_list *list, hy_backend *owner, hy_space space,
                              size_t bytes, const char *what, hy_buffer *out);
void hy_blocks_free(hy_block_list *list, hy_buffer *buffer);
void hy_blocks_trim(hy_block_list *list, hy_backend *owner, int64_t since);

#endif /* HY_CUDA_MEMORY_CUH */
