/* tests/support/device/cuda_arrays.h - arrays in the memory of the first GPU.

   A CUDA error ends the program. */
#ifndef CUDA_ARRAYS_H
#define CUDA_ARRAYS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Copies `bytes` bytes to a new array in GPU memory. The array begins `skew` bytes behind
   an aligned address, to test unaligned operands; cuda_array_free() needs the same
   skew. */
void *cuda_array(const void *from, size_t bytes, size_t skew);
void cuda_array_free(void *array, size_t skew);

/* Copies the first `bytes` bytes of a device array to host memory. */
void cuda_array_read(void *to, const void *from, size_t bytes);

/* Returns managed memory, which cuda_array_free() frees with skew 0. */
void *cuda_managed(size_t bytes);

/* cuda_stream() returns a CUDA stream of its own. cuda_write_late() reads `from`, in host
   memory, at once, and enqueues a wait of 50 ms on the stream and then the copy to a
   device array. */
void *cuda_stream(void);
void cuda_stream_free(void *stream);
void cuda_write_late(void *stream, void *to, const void *from, size_t bytes);

/* cuda_hold() makes work that is enqueued later on the stream wait until cuda_release().
   A test must launch its kernels once before, because the first launch loads a kernel,
   which may wait for the device. */
void *cuda_hold(void *stream);
void cuda_release(void *hold);

/* cuda_stream_busy() returns 1 while the stream has unfinished work. cuda_stream_wait()
   returns when all work of the stream has ended. */
int cuda_stream_busy(void *stream);
void cuda_stream_wait(void *stream);

/* cuda_array_in() allocates an array, copies `bytes` bytes to it and returns its address;
   cuda_array_free_in() frees it. All is work of the stream. */
void *cuda_array_in(void *stream, const void *from, size_t bytes);
void cuda_array_free_in(void *stream, void *array);

#ifdef __cplusplus
}
#endif
#endif /* CUDA_ARRAYS_H */
