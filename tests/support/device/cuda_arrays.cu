/* tests/support/device/cuda_arrays.cu - arrays in the memory of the first GPU. */
#include "tests/support/device/cuda_arrays.h"

#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

constexpr long long LATE_NS = 50000000;

static void check(cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(error));
    abort();
}

void *cuda_array(const void *from, size_t bytes, size_t skew)
{
    char *array = nullptr;
    check(cudaSetDevice(0));
    check(cudaMalloc(reinterpret_cast<void **>(&array), bytes + skew + 1));
    check(cudaMemcpy(array + skew, from, bytes, cudaMemcpyHostToDevice));
    return array + skew;
}

void cuda_array_free(void *array, size_t skew)
{
    check(cudaFree(static_cast<char *>(array) - skew));
}

void cuda_array_read(void *to, const void *from, size_t bytes)
{
    check(cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
}

void *cuda_managed(size_t bytes)
{
    void *array = nullptr;
    check(cudaMallocManaged(&array, bytes + 1));
    return array;
}

void *cuda_stream(void)
{
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

void cuda_stream_free(void *stream)
{
    check(cudaStreamDestroy(static_cast<cudaStream_t>(stream)));
}

static __device__ long long now_ns()
{
    long long ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

static __global__ void wait_a_while()
{
    const long long begin = now_ns();
    while (now_ns() - begin < LATE_NS)
        continue;
}

void cuda_write_late(void *stream, void *to, const void *from, size_t bytes)
{
    const cudaStream_t s = static_cast<cudaStream_t>(stream);
    void *staged         = nullptr;
    check(cudaMallocAsync(&staged, bytes, s));
    check(cudaStreamSynchronize(s));
    check(cudaMemcpy(staged, from, bytes, cudaMemcpyHostToDevice));
    wait_a_while<<<1, 1, 0, s>>>();
    check(cudaGetLastError());
    check(cudaMemcpyAsync(to, staged, bytes, cudaMemcpyDeviceToDevice, s));
    check(cudaFreeAsync(staged, s));
}

static __global__ void wait_for(volatile int *flag)
{
    while (*flag == 0)
        continue;
}

void *cuda_hold(void *stream)
{
    int *flag = nullptr;
    check(cudaMallocHost(reinterpret_cast<void **>(&flag), sizeof *flag));
    *flag = 0;
    wait_for<<<1, 1, 0, static_cast<cudaStream_t>(stream)>>>(flag);
    check(cudaGetLastError());
    return flag;
}

void cuda_release(void *hold)
{
    *static_cast<volatile int *>(hold) = 1;
    check(cudaDeviceSynchronize());
    check(cudaFreeHost(hold));
}

int cuda_stream_busy(void *stream)
{
    const cudaError_t error = cudaStreamQuery(static_cast<cudaStream_t>(stream));
    if (error != cudaErrorNotReady)
        check(error);
    return error == cudaErrorNotReady;
}

void cuda_stream_wait(void *stream)
{
    check(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)));
}

void *cuda_array_in(void *stream, const void *from, size_t bytes)
{
    const cudaStream_t s = static_cast<cudaStream_t>(stream);
    void *array          = nullptr;
    check(cudaMallocAsync(&array, bytes + 1, s));
    check(cudaMemcpyAsync(array, from, bytes, cudaMemcpyHostToDevice, s));
    return array;
}

void cuda_array_free_in(void *stream, void *array)
{
    check(cudaFreeAsync(array, static_cast<cudaStream_t>(stream)));
}
