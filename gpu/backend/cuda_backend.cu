/* gpu/backend/cuda_backend.cu - a CUDA device as a backend. */
#include <ctype.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCudaRt.h>

#include "gpu/backend/cuda_backend.cuh"
#include "gpu/backend/cuda_tuning.h"

static void range_begin(const char *name)
{
    nvtxRangePushA(name);
}

static void range_end(void)
{
    nvtxRangePop();
}

/* ---- memory ---- */

static hybrid_status alloc(hy_backend *self, hy_space space, size_t bytes,
                           const char *what, hy_buffer *out)
{
    cuda_backend *b = hy_cuda_mine(self);
    HY_TRY(hy_cuda_enter(b));
    /* checks first that the device works, because handing out a pooled block calls no
       function of CUDA that would report a failure */
    HY_TRY(hy_cuda_works(b, "work on the device"));
    return hy_blocks_alloc(&b->blocks, self, space, bytes, what, out);
}

static void release(hy_backend *self, hy_buffer *buffer)
{
    hy_blocks_free(&hy_cuda_mine(self)->blocks, buffer);
}

/* Devices that backends of this process have opened: bit n stands for device n. */
static std::atomic<uint64_t> opened{0};

static uint64_t bit_of(int device)
{
    return device >= 0 && device < 64 ? uint64_t{1} << device : 0;
}

/* Any thread that is short of host memory may call this. Its current device stays, unless
   no backend has opened that device: making it current again would start it. */
static void trim(hy_backend *self, int64_t since)
{
    int before = -1;
    (void)cudaGetDevice(&before);
    (void)cudaSetDevice(hy_cuda_mine(self)->device);
    hy_blocks_trim(&hy_cuda_mine(self)->blocks, self, since);
    if (since == 0)
        hy_cuda_pool_trim(hy_cuda_mine(self));
    if (opened & bit_of(before))
        (void)cudaSetDevice(before);
    (void)cudaGetLastError();
}

/* ---- the device ---- */

static __global__ void nothing()
{
}

/* Process that started CUDA; 0 if none has. CUDA does not survive fork(): in a child
   process its calls fail, or wait for threads that do not exist. */
static std::atomic<pid_t> starter;

static hybrid_status check_process(hy_context *ctx)
{
    const pid_t self = getpid();
    pid_t first      = 0;
    if (starter.compare_exchange_strong(first, self) || first == self)
        return HYBRID_OK;
    return hy_fail(ctx, HYBRID_NO_DEVICE,
                   "process %ld started CUDA; this process, %ld, is a fork of it, where "
                   "CUDA cannot be used",
                   long(first), long(self));
}

/* Makes the device's context, which takes some tenths of a second. A process in which
   CUDA cannot be used leaves CUDA alone: open() says so. */
static void wake(int device)
{
    const pid_t self = getpid();
    pid_t first      = 0;
    if (!starter.compare_exchange_strong(first, self) && first != self)
        return;
    if (cudaSetDevice(device) == cudaSuccess)
        (void)cudaFree(nullptr);
    (void)cudaGetLastError();
}

static hybrid_status find_device(hy_context *ctx, int device)
{
    int count = 0;
    HY_TRY(check_process(ctx));
    const cudaError_t error = cudaGetDeviceCount(&count);
    (void)cudaGetLastError();
    if (error != cudaSuccess)
        return hy_fail(ctx, HYBRID_NO_DEVICE, "CUDA finds no device: %s",
                       cudaGetErrorString(error));
    if (device < 0 || device >= count)
        return hy_fail(ctx, HYBRID_NO_DEVICE,
                       "there is no CUDA device %d: this machine has %d, numbered from 0",
                       device, count);
    return HYBRID_OK;
}

/* Stores the PCI address in lower case, as the system writes it, or "" if CUDA
   does not tell it. */
static void find_bus(cuda_backend *b)
{
    char *bus = b->base.bus;
    if (cudaDeviceGetPCIBusId(bus, sizeof b->base.bus, b->device) != cudaSuccess) {
        (void)cudaGetLastError();
        bus[0] = '\0';
    }
    for (; *bus; bus++)
        *bus = char(tolower(*bus));
}

/* Stores the device's properties in *p, and gives the device the name that errors call it
   by. */
static hybrid_status name_device(cuda_backend *b, cudaDeviceProp *p)
{
    snprintf(b->base.name, sizeof b->base.name, "GPU %d", b->device);
    HY_CUDA(&b->base, cudaGetDeviceProperties(p, b->device));
    snprintf(b->base.name, sizeof b->base.name, "GPU %d (%.80s)", b->device, p->name);
    return HYBRID_OK;
}

/* Stores the device's number of multiprocessors, limits and speeds in *b. `p` has the
   properties of the device. Fails with NO_DEVICE if this build has no code for it. */
static hybrid_status learn_device(cuda_backend *b, const cudaDeviceProp &p)
{
    hy_backend *self = &b->base;
    int core_kHz = 0, mem_kHz = 0;
    HY_CUDA(self, cudaDeviceGetAttribute(&self->reads_host,
                                         cudaDevAttrCanUseHostPointerForRegisteredMem,
                                         b->device));
    HY_CUDA(self, cudaDeviceGetAttribute(&core_kHz, cudaDevAttrClockRate, b->device));
    HY_CUDA(self,
            cudaDeviceGetAttribute(&mem_kHz, cudaDevAttrMemoryClockRate, b->device));

    cudaFuncAttributes code;
    const cudaError_t error = cudaFuncGetAttributes(&code, nothing);
    if (error != cudaSuccess) {
        (void)cudaGetLastError();
        return hy_fail(self->ctx, HYBRID_NO_DEVICE,
                       "this build has no code for %s (%s); build it with "
                       "-DCMAKE_CUDA_ARCHITECTURES=%d",
                       self->name, cudaGetErrorString(error), 10 * p.major + p.minor);
    }

    b->width        = p.multiProcessorCount;
    b->sm_warps     = p.maxThreadsPerMultiProcessor / p.warpSize;
    b->sm_blocks    = p.maxBlocksPerMultiProcessor;
    b->sm_registers = p.regsPerMultiprocessor;
    b->sm_shared    = int(p.sharedMemPerMultiprocessor);
    b->l2_bytes     = size_t(p.l2CacheSize);
    b->block_memory = p.sharedMemPerBlockOptin;
    /* code that the driver compiled from PTX has only the features of its PTX version, so
       `sm` is not above that version */
    b->sm = std::min(10 * p.major + p.minor, code.ptxVersion);
    /* memory moves two bits for each clock cycle and wire; copies reach 86 % of that on
       Hopper */
    b->mem_Bps = 0.86 * 2e3 * mem_kHz * (p.memoryBusWidth / 8.0);
    b->flops   = 2e3 * core_kHz * 128.0 * b->width;
    snprintf(b->words, sizeof b->words, "%.80s, %d SMs, %.1f GiB", p.name, b->width,
             double(p.totalGlobalMem) / (1 << 30));
    return HYBRID_OK;
}

/* Sets up the device and its budget: `device_bytes`, or, if that is 0, nine tenths of the
   free device memory divided by `parts`, the number of backends that share the device. */
static hybrid_status set_up(cuda_backend *b, size_t device_bytes, int parts)
{
    cudaDeviceProp p = {};
    size_t bytes = 0, all = 0;
    HY_TRY(name_device(b, &p));
    find_bus(b);
    HY_TRY(hy_cuda_enter(b));
    /* is made first, because CUDA then reports a device that does not work */
    HY_CUDA(&b->base, cudaStreamCreateWithFlags(&b->clock, cudaStreamNonBlocking));
    HY_CUDA(&b->base, cudaEventCreateWithFlags(&b->followed, cudaEventDisableTiming));
    nvtxNameCudaStreamA(b->clock, "clock");
    HY_TRY(learn_device(b, p));
    b->attributes = hy_cuda_find_attributes();
    HY_TRY(hy_cuda_pool_open(b));
    opened |= bit_of(b->device);
    HY_CUDA(&b->base, cudaMemGetInfo(&bytes, &all));
    b->base.occupied = int64_t(all - bytes);
    b->base.device.cap =
        int64_t(device_bytes ? device_bytes : bytes / 10 * 9 / size_t(parts));
    return hy_cuda_set_epoch(b);
}

static void close(hy_backend *self)
{
    if (!self)
        return;
    cuda_backend *b = hy_cuda_mine(self);
    (void)hy_cuda_await_loads(b);
    (void)cudaSetDevice(b->device);
    hy_blocks_close(&b->blocks, self);
    if (b->epoch)
        (void)cudaEventDestroy(b->epoch);
    if (b->followed)
        (void)cudaEventDestroy(b->followed);
    if (b->pool)
        (void)cudaMemPoolDestroy(b->pool);
    if (b->clock)
        (void)cudaStreamDestroy(b->clock);
    (void)cudaGetLastError();
    pthread_mutex_destroy(&b->lock);
    hy_array_free(self->ctx, b);
}

extern "C" const hy_backend_ops hy_cuda_backend_ops;

/* Loads kernels in advance, normally in a thread of its own while the caller reads input.
   Otherwise a first product would take 5 ms longer. */
static void *load_kernels(void *arg)
{
    cuda_backend *b = static_cast<cuda_backend *>(arg);
    b->loaded       = cudaSetDevice(b->device);
    if (b->loaded == cudaSuccess) {
        hy_words_load();
        b->loaded = hy_hash_load(b->device);
    }
    (void)cudaGetLastError();
    return nullptr;
}

static hybrid_status open(hy_context *ctx, const hybrid_engine_options *options,
                          hy_backend **out)
{
    void *room = nullptr;
    HY_TRY(find_device(ctx, options->device));
    HY_TRY(hy_array(ctx, 1, sizeof(cuda_backend), "the CUDA backend", &room));
    cuda_backend *b = static_cast<cuda_backend *>(room);
    *b              = cuda_backend{};
    b->base.ops     = &hy_cuda_backend_ops;
    b->base.ctx     = ctx;
    b->base.blocks  = &b->block_speeds;
    b->base.node    = -1;
    b->device       = options->device;
    pthread_mutex_init(&b->lock, nullptr);
    hy_blocks_open(&b->blocks);
    const hybrid_status status =
        set_up(b, options->device_bytes, hy_times_listed(options));
    if (status != HYBRID_OK) {
        close(&b->base);
        return status;
    }
    b->loads = pthread_create(&b->loader, nullptr, load_kernels, b) == 0;
    if (!b->loads)
        load_kernels(b);
    *out = &b->base;
    return HYBRID_OK;
}

static const char *describe(const hy_backend *self)
{
    return hy_cuda_mine(self)->words;
}

static void rates(const hy_backend *self, hy_rates *out)
{
    const cuda_backend *b = hy_cuda_mine(self);
    *out                  = hy_rates{};
    out->h2d_Bps          = 55.4e9; /* bytes per second of PCIe 5 with 16 lanes */
    out->d2h_Bps          = 55.3e9;
    out->both_Bps         = 98e9;
    out->mem_Bps          = b->mem_Bps;
    out->flops            = b->flops;
    out->launch_s         = 5e-6;
    out->width            = b->width;
    out->sm               = b->sm;
    out->sm_warps         = b->sm_warps;
    out->sm_blocks        = b->sm_blocks;
    out->sm_registers     = b->sm_registers;
    out->sm_shared        = b->sm_shared;
    out->block_memory     = b->block_memory;
    out->memory           = size_t(self->device.cap);
    out->cache            = b->l2_bytes;
}

extern "C" const hy_backend_ops hy_cuda_backend_ops = {
    .name         = "cuda",
    .wake         = wake,
    .open         = open,
    .close        = close,
    .describe     = describe,
    .rates        = rates,
    .measure      = hy_cuda_measure,
    .alloc        = alloc,
    .free         = release,
    .trim         = trim,
    .trim_scratch = nullptr,
    .lane_open    = hy_cuda_lane_open,
    .lane_close   = hy_cuda_lane_close,
    .lane_drain   = hy_cuda_lane_drain,
    .copy         = hy_cuda_lane_copy,
    .reads        = hy_cuda_reads,
    .copy_peer    = hy_cuda_lane_copy_peer,
    .copy_rows    = hy_cuda_lane_copy_rows,
    .transpose    = hy_cuda_transpose,
    .mark_new     = hy_cuda_mark_new,
    .mark_free    = hy_cuda_mark_free,
    .mark_set     = hy_cuda_mark_set,
    .lane_wait    = hy_cuda_lane_wait,
    .host_wait    = hy_cuda_host_wait,
    .mark_reached = hy_cuda_mark_reached,
    .mark_ns      = hy_cuda_mark_ns,
    .mark_untimed = hy_cuda_mark_untimed,
    .rebase       = hy_rebase,
    .holds        = hy_cuda_holds,
    .fetch        = hy_cuda_fetch,
    .follow       = hy_cuda_follow,
    .reached      = hy_cuda_reached,
    .borrow       = hy_cuda_borrow,
    .combine      = hy_cuda_combine,
    .hash         = hy_cuda_hash,
    .survey       = hy_cuda_survey,
    .survey_bytes = HY_CUDA_SURVEY_BYTES,
    .alloc_result = hy_cuda_alloc_result,
    .free_result  = hy_cuda_free_result,
    .collect      = hy_cuda_collect,
    .products     = hy_count_products,
    .code_deltas  = hy_code_deltas,
    .pin_bytes    = HY_PIN_BYTES,
    .range_bytes  = HY_RANGE_BYTES,
    .pin          = hy_cuda_pin,
    .unpin        = hy_cuda_unpin,
    .pinned       = hy_cuda_pinned,
    .range_begin  = range_begin,
    .range_end    = range_end,
};
