/* gpu/papers/spmv_measure.cu - measures the constants of the execution model for SpMV in
   blocks (Choi, Singh and Vuduc 2010, section 6.3) on dense matrices.

   For a kernel with R threads in a thread block, M multiprocessors, and T thread blocks
   that one multiprocessor holds, six matrices are timed: M, T M and (T + 1) M thread
   blocks, with one step and with beta steps (partition/blocks/choi_model.h). The matrices
   are written in the format on the device: nothing is packed or copied. */
#include <algorithm>
#include <cmath>

#include "base/data/csr.h"
#include "gpu/backend/cuda_backend.cuh"
#include "gpu/papers/spmv_dense.cuh"

namespace
{

constexpr size_t VAL_BYTES = size_t(768) << 20; /* maximum bytes of the values of a timed
                                                   matrix */
/* maximum and minimum of beta, the number of blocks of r x c that each thread of a timed
   matrix computes */
constexpr int64_t STEPS_MOST = 16, STEPS_LEAST = 2;
constexpr double LEAST_S = 1e-12; /* minimum of a measured constant, in seconds, for a
                                     difference of times that is lost in noise */
constexpr int LAUNCHES = 4, TRIES = 2;
/* number of passes over all six matrices: each matrix is timed again after all others,
   because a disturbance of one try often affects the next try, too. Up to PASSES_MOST
   passes are made if one step seems to take as long as many. */
constexpr int PASSES = 3, PASSES_MOST = 12;

struct measuring {
    hy_backend *backend;
    const hy_rates *rates;
    hy_lane *lane;
    cudaEvent_t begin, end;
    hy_buffer val, index, col, x, y;
    size_t val_bytes;
    const hy_dense_kernel *kernel;
    hy_dense_blocks d;
};

/* Returns the bytes of the values of a dense matrix with `thread_blocks` thread blocks
   and `steps` blocks of r x c for each thread. */
double val_bytes(const hy_dense_blocks *d, int64_t thread_blocks, int64_t steps)
{
    return double(thread_blocks) * d->threads * double(steps) *
           double(hy_block_elements(d->shape) * hy_value_size(d->type));
}

/* Times launches of the kernel on a matrix, and lowers *seconds to the time of one launch
   if that is less: the minimum of some tries of LAUNCHES launches, after a try that is
   not counted. Noise only adds to a time, and the differences of these times are
   small. */
hybrid_status time_matrix(measuring *m, int64_t thread_blocks, int64_t steps,
                          double *seconds)
{
    m->d.thread_blocks = thread_blocks;
    m->d.steps         = steps;
    HY_TRY(m->kernel->fill(m->lane, &m->d));
    for (int i = -1; i < TRIES; i++) {
        float ms = 0;
        HY_CUDA(m->backend, cudaEventRecord(m->begin, hy_stream(m->lane)));
        for (int k = 0; k < LAUNCHES; k++)
            HY_TRY(m->kernel->launch(m->lane, &m->d));
        HY_CUDA(m->backend, cudaEventRecord(m->end, hy_stream(m->lane)));
        HY_CUDA(m->backend, cudaEventSynchronize(m->end));
        HY_CUDA(m->backend, cudaEventElapsedTime(&ms, m->begin, m->end));
        if (i >= 0)
            *seconds = std::min(*seconds, double(ms) * 1e-3 / LAUNCHES);
    }
    return HYBRID_OK;
}

/* Times the six matrices of the head comment, and sets all seconds of *phi
   (hy_choi_phi). */
hybrid_status time_matrices(measuring *m, hy_choi_phi *phi)
{
    const int64_t sms = m->rates->width, full = phi->resident * sms, most = full + sms;
    const struct {
        int64_t thread_blocks, steps;
        double *seconds;
    } timed[] = {{sms, 1, &phi->one_step},       {sms, phi->steps, &phi->one},
                 {full, phi->steps, &phi->full}, {most, phi->steps, &phi->beyond},
                 {full, 1, &phi->full_one_step}, {most, 1, &phi->beyond_one_step}};

    for (const auto &t : timed)
        *t.seconds = INFINITY;
    for (int pass = 0; pass < PASSES || (phi->one <= phi->one_step && pass < PASSES_MOST);
         pass++)
        for (const auto &t : timed)
            HY_TRY(time_matrix(m, t.thread_blocks, t.steps, t.seconds));
    return HYBRID_OK;
}

/* Measures the kernel of m->d with its type, shape and threads. */
hybrid_status measure_kernel(measuring *m, hy_block_speed *out)
{
    hy_choi_phi phi = {};
    int registers   = 0;
    HY_TRY(m->kernel->registers(m->backend, &m->d, &registers));
    out->registers = float(registers);
    phi.resident =
        std::max<int64_t>(hy_choi_resident_of(m->rates, registers, m->d.threads), 1);
    const int64_t most = (phi.resident + 1) * m->rates->width;
    phi.steps =
        std::min(STEPS_MOST, int64_t(double(m->val_bytes) / val_bytes(&m->d, most, 1)));
    if (phi.steps < STEPS_LEAST)
        return hy_fail(m->backend->ctx, HYBRID_NO_MEMORY,
                       "calibrate needs more device memory for SpMV in blocks of %d x %d",
                       m->d.shape.rows, m->d.shape.cols);
    HY_TRY(time_matrices(m, &phi));
    const hy_choi_times times = hy_choi_fit(&phi);
    out->start                = float(std::max(times.start, LEAST_S));
    out->first                = float(std::max(times.first, LEAST_S));
    out->next                 = float(std::max(times.next, LEAST_S));
    out->more                 = float(std::max(times.more, LEAST_S));
    out->next_start           = float(std::max(times.next_start, LEAST_S));
    out->more_start           = float(std::max(times.more_start, LEAST_S));
    return HYBRID_OK;
}

hybrid_status measure_format(measuring *m, hy_block_speeds *out)
{
    for (int type = 0; type < HY_TYPE_COUNT; type++)
        for (int shape = 0; shape < HY_BLOCK_SHAPES; shape++)
            for (int i = 0; i < HY_BLOCK_SIZES; i++) {
                m->d.type    = hy_type_at(type);
                m->d.shape   = {shape / HY_BLOCK_MOST + 1, shape % HY_BLOCK_MOST + 1};
                m->d.threads = HY_CHOI_LANES_LEAST << i;
                HY_TRY(measure_kernel(m, &out->of[m->kernel->format][type][shape][i]));
            }
    return HYBRID_OK;
}

hybrid_status alloc(hy_backend *self, size_t bytes, hy_buffer *out)
{
    return self->ops->alloc(self, HY_DEVICE, bytes, "a dense matrix", out);
}

/* Allocates the arrays for the largest matrix. A multiprocessor holds at most sm_warps *
   32 threads, so the largest matrix, (T + 1) M thread blocks, has at most twice as many
   threads for each multiprocessor. Thread blocks have at least 32 threads. */
hybrid_status open_measuring(hy_backend *self, measuring *m)
{
    const size_t threads = size_t(m->rates->width) * size_t(m->rates->sm_warps) * 32 * 2;
    const size_t free    = size_t(self->device.cap - hy_meter_used(&self->device));
    m->val_bytes         = std::min(VAL_BYTES, free / 2);
    HY_TRY(hy_cuda_lane_open(self, "measure blocks", 0, &m->lane));
    HY_CUDA(m->backend, cudaEventCreate(&m->begin));
    HY_CUDA(m->backend, cudaEventCreate(&m->end));
    HY_TRY(alloc(self, m->val_bytes, &m->val));
    HY_TRY(alloc(self, threads * (sizeof(hy_bellpack_slice) / 32 + 4) + 256, &m->index));
    HY_TRY(alloc(self, threads * STEPS_MOST * 4, &m->col));
    HY_TRY(alloc(self, STEPS_MOST * 32 * HY_BLOCK_MOST * 8, &m->x));
    HY_TRY(alloc(self, threads * HY_BLOCK_MOST * 8, &m->y));
    /* every byte is 1, which makes small floating-point numbers that are not denormal */
    HY_CUDA(m->backend, cudaMemsetAsync(m->val.ptr, 1, m->val_bytes, hy_stream(m->lane)));
    HY_CUDA(m->backend, cudaMemsetAsync(m->x.ptr, 1, m->x.bytes, hy_stream(m->lane)));
    m->d.val   = m->val.ptr;
    m->d.index = m->index.ptr;
    m->d.col   = static_cast<int32_t *>(m->col.ptr);
    m->d.x     = m->x.ptr;
    m->d.y     = m->y.ptr;
    return HYBRID_OK;
}

void close_measuring(hy_backend *self, measuring *m)
{
    (void)cudaSetDevice(hy_cuda_mine(self)->device);
    if (m->lane)
        (void)cudaStreamSynchronize(hy_stream(m->lane));
    for (hy_buffer *buffer : {&m->val, &m->index, &m->col, &m->x, &m->y})
        self->ops->free(self, buffer);
    for (cudaEvent_t event : {m->begin, m->end})
        if (event)
            (void)cudaEventDestroy(event);
    hy_cuda_lane_close(m->lane);
    (void)cudaGetLastError();
    self->ops->trim(self, 0);
}

} // namespace

hybrid_status hy_cuda_measure_blocks(hy_backend *self, hy_block_speeds *out)
{
    hy_rates rates = {};
    measuring m    = {};
    self->ops->rates(self, &rates);
    m.backend = self;
    m.rates   = &rates;
    (void)hy_cuda_await_loads(hy_cuda_mine(self));
    hybrid_status status = hy_cuda_enter(hy_cuda_mine(self));
    if (status == HYBRID_OK)
        status = open_measuring(self, &m);
    for (const hy_dense_kernel *kernel : {&hy_bellpack_dense, &hy_bcsr_dense}) {
        m.kernel = kernel;
        if (status == HYBRID_OK)
            status = measure_format(&m, out);
    }
    close_measuring(self, &m);
    return status;
}
