/* tests/support/cuda_arrays.h - arrays in the memory of the first GPU. A failure of CUDA
   ends the program. */
#ifndef CUDA_ARRAYS_H
#define CUDA_ARRAYS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A copy of so many bytes, `skew` bytes after where CUDA would have them; and it is freed. */
void *cuda_array(const void *from, size_t bytes, size_t skew);
void cuda_array_free(void *array, size_t skew);

/* So many bytes of such an array to host memory. */
void cuda_array_read(void *to, const void *from, size_t bytes);

/* Managed memory, freed as an array without skew. */
void *cuda_managed(size_t bytes);

/* A stream, and a copy of host memory to an array at its end, behind some 50 ms. */
void *cuda_stream(void);
void cuda_stream_free(void *stream);
void cuda_write_late(void *stream, void *to, const void *from, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif /* CUDA_ARRAYS_H */
