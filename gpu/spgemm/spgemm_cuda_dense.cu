/* gpu/spgemm/spgemm_cuda_dense.cu - C = A*B on the GPU for a C with few columns: dense
   sums.

   multiply()  blocks take equal parts of A's entries and add up their products, one row
               of C after another; the sums of several parts for a row are added in order
   finish()    stores the existing sums of each row in CSR

   A product here is a scalar product, and a lane a GPU thread of a warp. A part may begin
   and end within a row, so that a row with half of all entries of A occupies half of the
   device. Each warp of a block has its own sums in shared memory, so no two warps add to
   the same place. In A times its transpose all products of a row meet on the diagonal,
   where atomic additions would be serialised. Groups of lanes of a warp that walk
   different rows of B add in turn.

   A sum of -0 means that no product was added. Adding to -0 changes no number, and sums
   of numbers other than -0 are never -0. A product may be -0, so +0 is added to each.

   Part p and row r share slot p + r of the scratch, which holds the dense sums of the
   part for the row. The slots of a row are consecutive. The scratch of a chunk has a
   value for each column of each slot. max_parts() limits the slots to about two for each
   row and one for every 2 * cols products, where cols is the number of columns of C. If
   the sums of a row do not fit the shared memory, they are computed in windows of
   columns, and A is read again for each window. */
#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "gpu/backend/cuda_search.cuh"
#include "gpu/backend/cuda_sort.cuh"
#include "gpu/backend/cuda_sum.cuh"
#include "gpu/spgemm/hash_walk.cuh"

/* MAX_COUNT: maximum rows, and entries of A, of a chunk, so that 32-bit numbers do not
   overflow at the end of the last block. MAX_COLS: maximum columns of C. */
constexpr int64_t MAX_COUNT = INT32_MAX - 65536, MAX_COLS = int64_t(1) << 30;

template <typename T> struct dense_work {
    hy_factors<T> f;
    int cols, width; /* cols: columns of C; width: columns of a window, the range of
                        columns that a block computes at once */
    int part;        /* number of entries of A that each block takes; the last block has
                        the rest */
    int shift;       /* log2 of the lanes that walk a row of B together */
    T *sum;     /* `cols` values for each slot: the sums of one part for one row of C */
    int *count; /* one for each row of the chunk: number of its entries of C */
};

/* ---- sums ---- */

static __device__ inline bool is_absent(float x)
{
    return __float_as_uint(x) == 1u << 31;
}

static __device__ inline bool is_absent(double x)
{
    return __double_as_longlong(x) == INT64_MIN;
}

/* Returns the row of A that contains entry k; `row` must be that row or an earlier
   one. */
template <typename T> static __device__ int row_of(const hy_factors<T> &f, int row, int k)
{
    if (k < f.a_row[row + 1])
        return row;
    return row + hy_lower_bound(f.a_row + row + 1, f.rows - row - 1, int64_t(k) + 1);
}

/* Computes columns [low, low + width) of the sum over entries [begin, end) of one row of
   A and stores them to `out`. */
template <typename T, int WARPS>
static __device__ void add_nonzeros(const dense_work<T> &d, int begin, int end, int low,
                                    int width, T *room, T *out)
{
    constexpr int THREADS = 32 * WARPS;
    const int groups      = 32 >> d.shift;
    const int warps       = min(WARPS, (end - begin + groups - 1) / groups);
    T *own                = room + int(threadIdx.x) / 32 * width;

    if (int(threadIdx.x) / 32 < warps)
        for (int i = int(threadIdx.x) % 32; i < width; i += 32)
            own[i] = T(-0.0);
    __syncwarp();
    walk_some<true, THREADS>(
        d.f, hash_walk{d.shift, 0}, begin, end - begin, 0, nullptr,
        [&](int i) {
            const int32_t j = d.f.a_col[begin + i];
            return hy_span{d.f.b_row[j], d.f.b_row[j + 1]};
        },
        [&](int32_t col, T product) {
            const int at = col - low;
            add_in_order(own, at, hy_sum_begun(product), at >= 0 && at < width, d.shift);
        });
    __syncthreads();
    for (int i = int(threadIdx.x); i < width; i += THREADS) {
        T sum = room[i];
        for (int w = 1; w < warps; w++)
            sum += room[w * width + i];
        out[i] = sum;
    }
    __syncthreads();
}

/* Block (x, y) computes part x of A's entries in windows y, y + gridDim.y, ... of the
   columns. */
template <typename T, int WARPS>
static __global__ void __launch_bounds__(32 * WARPS) dense_parts(dense_work<T> d)
{
    extern __shared__ double dense_shared[];
    T *const room   = reinterpret_cast<T *>(dense_shared);
    const int begin = int(blockIdx.x) * d.part, end = min(begin + d.part, d.f.nnz);
    for (int low = int(blockIdx.y) * d.width; low < d.cols;
         low += int(gridDim.y) * d.width) {
        const int width = min(d.width, d.cols - low);
        for (int k = begin, row = 0; k < end;) {
            row            = row_of(d.f, row, k);
            const int next = int(min(int64_t(end), d.f.a_row[row + 1]));
            T *out         = d.sum + (int64_t(blockIdx.x) + row) * d.cols + low;
            add_nonzeros<T, WARPS>(d, k, next, low, width, room, out);
            k = next;
        }
    }
}

/* ---- rows ---- */

/* The slots of a row, [first, last], each with the sums of one part of A's entries for
   this row. A row of A without entries has none. */
struct dense_slots {
    int64_t first, last;
};

template <typename T>
static __device__ dense_slots slots_of(const dense_work<T> &d, int row)
{
    const int begin = int(d.f.a_row[row]), end = int(d.f.a_row[row + 1]);
    if (begin == end)
        return {0, -1};
    return {int64_t(row) + begin / d.part, int64_t(row) + (end - 1) / d.part};
}

/* A warp adds up 32 columns of a row of C over the slots of the row, one for each part of
   A's entries that has some of the row. It writes the sums to the first slot, and adds
   the number of the 32 columns that have an entry to the row's count. */
template <typename T>
static __global__ void __launch_bounds__(HY_CUDA_THREADS)
    dense_join(dense_work<T> d, int tiles)
{
    const int lane     = int(threadIdx.x) % 32;
    const int64_t warp = (int64_t(blockIdx.x) * HY_CUDA_THREADS + threadIdx.x) / 32;
    const int row = int(warp / tiles), col = int(warp % tiles) * 32 + lane;
    if (row >= d.f.rows)
        return;
    const dense_slots s = slots_of(d, row);
    T sum               = T(-0.0);
    if (col < d.cols)
#pragma unroll 8
        for (int64_t slot = s.first; slot <= s.last; slot++)
            sum += d.sum[slot * d.cols + col];
    if (s.last > s.first && col < d.cols)
        d.sum[s.first * d.cols + col] = sum;
    const unsigned exist = __ballot_sync(HY_ALL, !is_absent(sum));
    if (lane == 0 && exist)
        atomicAdd(&d.count[row], __popc(exist));
}

/* A warp stores a row of C in CSR. */
template <typename T>
static __global__ void __launch_bounds__(HY_CUDA_THREADS)
    dense_store(dense_work<T> d, const int64_t *row_ptr, int32_t *col, T *val)
{
    const int lane = int(threadIdx.x) % 32;
    const int row  = int((int64_t(blockIdx.x) * HY_CUDA_THREADS + threadIdx.x) / 32);
    if (row >= d.f.rows || d.count[row] == 0)
        return;
    const T *sum = d.sum + slots_of(d, row).first * d.cols;
    int64_t to   = row_ptr[row];
#pragma unroll 4
    for (int first = 0; first < d.cols; first += 32) {
        const int i          = first + lane;
        const T own          = i < d.cols ? sum[i] : T(-0.0);
        const unsigned exist = __ballot_sync(HY_ALL, !is_absent(own));
        if (!is_absent(own)) {
            const int64_t e = to + __popc(exist & hy_below(lane));
            col[e]          = i;
            val[e]          = own;
        }
        to += __popc(exist);
    }
}

/* ---- layout of the scratch ---- */

/* Returns the number of warps of a block: at most HY_DENSE_WARPS, and at most as many as
   have room for a row of sums of C each in the block's shared memory. */
static int warps_of(const hy_features *f)
{
    int warps = HY_DENSE_WARPS;
    while (warps > 1 &&
           warps * f->out_cols * int64_t(hy_value_size(f->type)) > HY_DENSE_BYTES)
        warps /= 2;
    return warps;
}

static int width_of(const hy_features *f)
{
    return int(hy_min(f->out_cols, HY_DENSE_BYTES / int64_t(hy_value_size(f->type))));
}

/* Returns the maximum number of equal parts into which A's entries are cut. Each part has
   at least HY_DENSE_PART entries. More parts than rows are made only if there are at
   least two scalar products for each column of each further part. */
static int64_t max_parts(const hy_features *f)
{
    const int64_t cols = hy_max(f->out_cols, 1);
    return hy_min(f->nnz / HY_DENSE_PART, f->products / (2 * cols) + f->rows) + 1;
}

static int part_of(const hy_features *f, int width)
{
    const int64_t wanted = int64_t(width) * HY_DENSE_SM_WARPS / warps_of(f);
    const int64_t parts  = hy_min(max_parts(f), wanted);
    return int((f->nnz + parts - 1) / parts);
}

struct dense_scratch {
    size_t count, temp, sum, bytes; /* start of each array in bytes; bytes: size of the
                                       scratch */
};

static dense_scratch scratch_of(const hy_features *f)
{
    const size_t slots = size_t(f->rows + max_parts(f));
    dense_scratch s    = {};
    s.temp             = hy_align(size_t(f->rows) * sizeof(int));
    s.sum              = s.temp + hy_scan_scratch(f->rows);
    s.bytes            = s.sum + slots * size_t(f->out_cols) * hy_value_size(f->type);
    return s;
}

template <typename T>
static dense_work<T> work_of(const hy_lane *lane, const hy_job *job, hy_scratch *temp)
{
    const hy_features *f  = &job->chunk->features;
    const dense_scratch s = scratch_of(f);
    char *work            = static_cast<char *>(job->work.ptr);

    *temp           = {work + s.temp, s.sum - s.temp};
    dense_work<T> d = {};
    d.f             = hy_factors_of<T>(job);
    d.cols          = int(f->out_cols);
    d.width         = width_of(f);
    d.part          = part_of(f, hy_width(lane));
    d.shift         = 2;
    while (d.shift < 5 && f->nnz << d.shift < f->products)
        d.shift++;
    d.sum   = reinterpret_cast<T *>(work + s.sum);
    d.count = reinterpret_cast<int *>(work + s.count);
    return d;
}

/* ---- multiply and finish ---- */

template <typename T, int WARPS>
static void launch_parts(hy_lane *lane, const dense_work<T> &d)
{
    const dim3 grid(hy_blocks(d.f.nnz, d.part), hy_blocks(d.cols, d.width, UINT16_MAX));
    const size_t room = size_t(WARPS) * size_t(d.width) * sizeof(T);
    dense_parts<T, WARPS><<<grid, 32 * WARPS, room, hy_stream(lane)>>>(d);
}

template <typename T>
static void launch_parts_by(hy_lane *lane, const dense_work<T> &d, int warps)
{
    if (warps == 8)
        launch_parts<T, 8>(lane, d);
    else if (warps == 4)
        launch_parts<T, 4>(lane, d);
    else if (warps == 2)
        launch_parts<T, 2>(lane, d);
    else
        launch_parts<T, 1>(lane, d);
}

template <typename T> static hybrid_status multiply_as(hy_lane *lane, const hy_job *job)
{
    const hy_features *f = &job->chunk->features;
    hy_scratch temp;
    const dense_work<T> d = work_of<T>(lane, job, &temp);

    HY_CUDA(lane->backend,
            cudaMemsetAsync(d.count, 0, size_t(d.f.rows) * sizeof(int), hy_stream(lane)));
    if (f->products == 0)
        return HYBRID_OK;
    launch_parts_by(lane, d, warps_of(f));
    HY_TRY(hy_launched(lane, "dense_parts"));
    const int tiles = (d.cols + 31) / 32;
    dense_join<<<hy_blocks(int64_t(d.f.rows) * tiles, HY_CUDA_THREADS / 32),
                 HY_CUDA_THREADS, 0, hy_stream(lane)>>>(d, tiles);
    return hy_launched(lane, "dense_join");
}

static hybrid_status multiply(hy_lane *lane, hy_job *job)
{
    const hy_features *f = &job->chunk->features;
    if (f->nnz > MAX_COUNT || f->rows > MAX_COUNT)
        return hy_pack_too_many(job, MAX_COUNT);
    HY_TRY(hy_lane_enter(lane));
    return HY_CALL_BY_TYPE(f->type, multiply_as, lane, job);
}

template <typename T> static hybrid_status finish_as(hy_lane *lane, const hy_job *job)
{
    const hy_rows *out = &job->out;
    hy_scratch temp;
    const dense_work<T> d = work_of<T>(lane, job, &temp);

    HY_TRY(hy_scan_counts(lane, temp, d.count, d.f.rows, out->row_ptr));
    if (job->chunk->features.products > 0) {
        dense_store<<<hy_blocks(d.f.rows, HY_CUDA_THREADS / 32), HY_CUDA_THREADS, 0,
                      hy_stream(lane)>>>(d, out->row_ptr, out->col,
                                         static_cast<T *>(out->val));
        HY_TRY(hy_launched(lane, "dense_store"));
    }
    return hy_publish(lane, job->out_nnz, out->row_ptr + d.f.rows);
}

static hybrid_status finish(hy_lane *lane, hy_job *job)
{
    HY_TRY(hy_lane_enter(lane));
    return HY_CALL_BY_TYPE(job->chunk->features.type, finish_as, lane, job);
}

/* ---- the variant ---- */

static const char *refuse(const hy_features *f, const hy_rates *r)
{
    (void)r;
    if (f->out_cols > MAX_COLS)
        return "the result has more than 2^30 columns";
    return f->row_max > MAX_COUNT ? "a row of A has 2^31 - 2^16 entries or more"
                                  : nullptr;
}

/* Returns the predicted seconds of the kernel that computes the slots: the time of all
   scalar products plus that of all slots, which grows with the columns of a slot. The
   time of all slots is at least that of one block for a part with as many short rows as a
   part may have. */
static double parts_s(const hy_features *f, int width, int part)
{
    const double blocks  = double(width) * double(HY_DENSE_SM_BLOCKS);
    const double windows = double((f->out_cols + width_of(f) - 1) / width_of(f));
    const double slot_s  = HY_DENSE_SLOT_S + HY_DENSE_COLUMN_S * double(f->out_cols);
    const double slots   = double(f->rows) + double(f->nnz) / part;
    const double rows  = 1 + part / (f->row_mean > 1 ? f->row_mean : 1) * (1 + f->row_cv);
    const double all_s = slots * slot_s / blocks;
    const double chain_s = (rows < part ? rows : part) * slot_s;
    return (all_s > chain_s ? all_s : chain_s) +
           windows * double(f->products) /
               (HY_DENSE_WARP_PRODUCTS * warps_of(f) * blocks);
}

static hy_cost cost(const hy_features *f, const hy_rates *r)
{
    const double size    = double(hy_value_size(f->type));
    const double entries = double(f->products) / (f->out_ratio >= 1 ? f->out_ratio : 1);
    const int part       = part_of(f, r->width);

    hy_cost c    = {};
    c.pack_bytes = hy_pack_csr_bytes(HY_SPGEMM, f);
    c.work_bytes = scratch_of(f).bytes;
    c.out_bytes  = hy_rows_bytes(HY_SPGEMM, f, 0);
    c.prepare_s  = double(c.pack_bytes) / HY_PACK_BPS;
    c.multiply_s = 3 * r->launch_s;
    c.finish_s   = 5 * r->launch_s + entries * (4 + size) / r->mem_Bps;
    if (f->products == 0)
        return c;
    const double slots = double(f->rows) + double(f->nnz) / part;
    c.multiply_s +=
        parts_s(f, r->width, part) + 2 * slots * double(f->out_cols) * size / r->mem_Bps;
    c.finish_s += double(f->rows) * double(f->out_cols) * size / r->mem_Bps;
    return c;
}

extern "C" const hy_variant hy_spgemm_cuda_dense = {
    .name      = "spgemm.cuda.dense",
    .summary   = "rows of C dense in shared memory, long rows of A by many blocks",
    .source    = "Gustavson's dense accumulator, A cut into equal parts",
    .op        = HY_SPGEMM,
    .form      = HY_FORM_CSR,
    .csr       = 1,
    .in_place  = 0,
    .unordered = 1,
    .rings     = 1,
    .refuse    = refuse,
    .cost      = cost,
    .prepare   = hy_pack_csr,
    .arrange   = hy_arrange_csr,
    .multiply  = multiply,
    .finish    = finish,
};
