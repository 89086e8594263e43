/* tests/support/device/cuda_arrays.h - arrays in the memory of the first GPU.

   A CUDA error ends the program. */
#ifndef CUDA_ARRAYS_H
#define CUDA_ARRAYS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Copies `bytes` bytes to the device. The array begins `skew` bytes after an address that
   CUDA aligned; cuda_array_free() needs the same skew. */
void *cuda_array(const void *from, size_t bytes, size_t skew);
void cuda_array_free(void *array, size_t skew);

/* Copies the first `bytes` bytes of a device array to host memory. */
void cuda_array_read(void *to, const void *from, size_t bytes);

/* Returns managed memory, which cuda_array_free() frees with skew 0. */
void *cuda_managed(size_t bytes);

/* cuda_stream() returns a stream. cuda_write_late() enqueues a wait of 50 ms and then a
   copy from host memory to a device array. */
void *cuda_stream(void);
void cuda_stream_free(void *stream);
void cuda_write_late(void *stream, void *to, const void *from, size_t bytes);

/* cuda_hold() makes later work of the stream wait until cuda_release(). A kernel launched
   in between must have been launched before, because loading a kernel may wait for the
   device. */
void *cuda_hold(void *stream);
void cuda_release(void *hold);

/* cuda_stream_busy() returns 1 while the stream has unfinished work. cuda_stream_wait()
   waits for its end. */
int cuda_stream_busy(void *stream);
void cuda_stream_wait(void *stream);

/* Allocates an array, copies `bytes` bytes to it, and frees it, all in stream order. */
void *cuda_array_in(void *stream, const void *from, size_t bytes);
void cuda_array_free_in(void *stream, void *array);

#ifdef __cplusplus
}
#endif
#endif /* CUDA_ARRAYS_H */
