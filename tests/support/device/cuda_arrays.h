/* tests/support/device/cuda_arrays.h - arrays in the memory of the first GPU. A failure
   of CUDA ends the program. */
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

/* Work of the stream waits from here on until it is released. Kernels that are launched
   meanwhile were launched before, since to load one may wait for the device. */
void *cuda_hold(void *stream);
void cuda_release(void *hold);

/* Whether the stream has work to do; and waits until it has none. */
int cuda_stream_busy(void *stream);
void cuda_stream_wait(void *stream);

/* An array as it is at this point of the stream, and freed there. */
void *cuda_array_in(void *stream, const void *from, size_t bytes);
void cuda_array_free_in(void *stream, void *array);

#ifdef __cplusplus
}
#endif
#endif /* CUDA_ARRAYS_H */
