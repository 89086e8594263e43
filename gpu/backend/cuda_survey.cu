/* gpu/backend/cuda_survey.cu - surveys operands in device memory for planning: checks
   them and counts entries and scalar products.

   Some thread blocks count rows of A, others rows of C that are drawn as a sample. Each
   block writes one record (hy_survey), and the block that ends last adds up the records
   in order. The drawn rows estimate nnz(C) / scalar products. They are the rows of evenly
   spaced entries of A: a row is drawn in proportion to its entries in A, so its scalar
   products and its entries of C are weighted by the inverse of that number. A block
   inserts the columns of a drawn row into a hash set in shared memory. For a long row, it
   inserts only columns with a hash that begins with a number of zero bits, and scales the
   count. */
#include "base/data/csr.h"
#include "gpu/backend/cuda_records.cuh"

namespace
{

using namespace records;

/* ROW_LANES threads share a row of A. A whole thread block takes a row of more than
   LONG_ROW entries */
constexpr int ROW_LANES = 8, LONG_ROW = 1024;
/* number of rows of A for which a thread block counts scalar products at a time */
constexpr int ROWS = THREADS / ROW_LANES;
/* places of a hash set; each holds one column */
constexpr int PLACES     = 4096;
constexpr int MAX_PLACED = PLACES / 2; /* target for the columns put into a hash set,
                                          at most */
constexpr int64_t MAX_WALKED  = 1 << 15,
                  MAX_ENTRIES = 2048; /* maximum scalar products, and maximum entries of
                                         A, of a drawn row that is counted; for others, an
                                         upper bound on their entries of C is used */

/* ---- rows of A ---- */

/* Calls f for the indices 0 to count - 1, shared among the threads of the grid. */
template <typename F> __device__ void grid_for(int64_t count, const F &f)
{
    const int64_t stride = int64_t(gridDim.x) * THREADS;
    for (int64_t i = int64_t(blockIdx.x) * THREADS + threadIdx.x; i < count; i += stride)
        f(i);
}

/* Sets s->wrong if a column is out of range, and adds to s->falls the number of columns
   that do not exceed the column before. The first column of a row may be smaller than the
   last column of the row before, so such pairs are subtracted again. */
__device__ void check_columns(indices row, indices col, int64_t rows, int64_t count,
                              int64_t cols, hy_survey *s)
{
    grid_for(count, [&](int64_t k) {
        const int64_t here = col[k];
        s->wrong |= here < 0 || here >= cols;
        s->falls += k > 0 && here <= col[k - 1];
    });
    grid_for(rows, [&](int64_t i) {
        const int64_t k = row[i];
        s->falls -= k > 0 && k < count && row[i + 1] > k && col[k] <= col[k - 1];
    });
}

/* Returns a record of this thread's share of the checks: columns of A; the first and the
   last offset of A; and, if B is another matrix, offsets and columns of B. The kernels
   check the other offsets of A. */
__device__ hy_survey begin_survey(const operands &o)
{
    hy_survey s = {};
    if (blockIdx.x == 0 && threadIdx.x == 0)
        s.wrong = o.a_row[0] != 0 || o.a_row[o.rows] != o.nnz;
    check_columns(o.a_row, o.a_col, o.rows, o.nnz, o.inner, &s);
    if (o.b_nnz < 0)
        return s;
    if (blockIdx.x == 0 && threadIdx.x == 0)
        s.wrong |= o.b_row[0] != 0 || o.b_row[o.inner] != o.b_nnz;
    grid_for(o.inner, [&](int64_t i) { s.wrong |= o.b_row[i + 1] < o.b_row[i]; });
    check_columns(o.b_row, o.b_col, o.inner, o.b_nnz, o.cols, &s);
    return s;
}

__device__ void note_length(int64_t length, hy_survey *s)
{
    s->longest = max_of(s->longest, length);
    s->squares += double(length) * double(length);
}

__global__ void __launch_bounds__(THREADS) survey_lengths(operands o)
{
    hy_survey s = begin_survey(o);
    grid_for(o.rows, [&](int64_t i) {
        const int64_t begin = o.a_row[i], end = o.a_row[i + 1];
        s.wrong |= begin < 0 || end < begin || end > o.nnz;
        note_length(end - begin, &s);
    });
    leave_record(o, s, blockIdx.x);
    finish(o);
}

/* Returns the number of scalar products of entries begin, begin + step, ... before `end`
   of A. Sets s->wrong if a column is out of range. */
__device__ int64_t products_of(const operands &o, int64_t begin, int64_t end, int step,
                               hy_survey *s)
{
    int64_t sum = 0;
    for (int64_t k = begin; k < end; k += step) {
        const int64_t row = o.a_col[k];
        if (row < 0 || row >= o.inner)
            s->wrong = 1;
        else
            sum += o.b_row[row + 1] - o.b_row[row];
    }
    return sum;
}

__device__ void note_products(const operands &o, int64_t products, hy_survey *s)
{
    s->wrong |= products < 0;
    s->products += products;
    s->products_max = max_of(s->products_max, products);
    s->bound += products < o.cols ? products : o.cols;
}

/* Returns the number of entries of a row of A, or 0, with s->wrong set, if its offsets
   are wrong. */
__device__ int64_t length_of(const operands &o, int64_t row, hy_survey *s)
{
    const int64_t begin = o.a_row[row], end = o.a_row[row + 1];
    if (begin < 0 || end < begin || end > o.nnz) {
        s->wrong = 1;
        return 0;
    }
    return end - begin;
}

/* Counts the scalar products of long rows with all threads of the block, one row after
   another. */
__device__ void block_long_rows(const operands &o, const int64_t *row, int count,
                                hy_survey *s)
{
    __shared__ int64_t part[WARPS];
    for (int r = 0; r < count; r++) {
        const int64_t begin = o.a_row[row[r]], end = o.a_row[row[r] + 1];
        int64_t sum = products_of(o, begin + threadIdx.x, end, THREADS, s);
        for (int d = 16; d > 0; d /= 2)
            sum += __shfl_xor_sync(HY_ALL, sum, d);
        __syncthreads(); /* until here, thread 0 may read the sums of the previous row in
                            `part` */
        if (threadIdx.x % 32 == 0)
            part[threadIdx.x / 32] = sum;
        __syncthreads();
        if (threadIdx.x > 0)
            continue;
        sum = 0;
        for (int w = 0; w < WARPS; w++)
            sum += part[w];
        note_products(o, sum, s);
    }
}

__global__ void __launch_bounds__(THREADS) survey_products(operands o)
{
    __shared__ int64_t long_row[ROWS];
    __shared__ int long_rows;
    const int lane       = int(threadIdx.x) % ROW_LANES;
    const int64_t stride = int64_t(gridDim.x) * ROWS;
    hy_survey s          = begin_survey(o);
    for (int64_t first = int64_t(blockIdx.x) * ROWS; first < o.rows; first += stride) {
        if (threadIdx.x == 0)
            long_rows = 0;
        __syncthreads();
        const int64_t row    = first + threadIdx.x / ROW_LANES;
        const int64_t length = row < o.rows ? length_of(o, row, &s) : 0;
        const bool here      = row < o.rows && length <= LONG_ROW;
        int64_t sum          = 0;
        if (here && length > 0)
            sum =
                products_of(o, o.a_row[row] + lane, o.a_row[row] + length, ROW_LANES, &s);
        for (int d = ROW_LANES / 2; d > 0; d /= 2)
            sum += __shfl_xor_sync(HY_ALL, sum, d);
        if (lane == 0 && row < o.rows) {
            note_length(length, &s);
            if (here)
                note_products(o, sum, &s);
            else
                long_row[atomicAdd(&long_rows, 1)] = row;
        }
        __syncthreads();
        block_long_rows(o, long_row, long_rows, &s);
        __syncthreads();
    }
    leave_record(o, s, blockIdx.x);
}

/* ---- rows of C ---- */

/* Returns the row of A that contains entry k. */
__device__ int64_t row_of(const operands &o, int64_t k)
{
    int64_t low = 0, high = o.rows - 1;
    while (low < high) {
        const int64_t middle = low + (high - low + 1) / 2;
        if (o.a_row[middle] <= k)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Returns true if this call put the column into the set; false if it was there already,
   or if the set is full. */
__device__ bool insert(int32_t *set, int32_t col)
{
    unsigned at = (unsigned(col) * 0x85ebca6bu >> 7) % PLACES;
    for (int seen = 0; seen < PLACES; seen++, at = (at + 1) % PLACES) {
        const int32_t found = atomicCAS(&set[at], -1, col);
        if (found == -1)
            return true;
        if (found == col)
            return false;
    }
    return false;
}

/* Inserts into `set` the columns of a row of C that have a hash of at most `most`. The
   row of A is entries [begin, end). Returns how many columns this thread was the first to
   insert. ROW_LANES threads share an entry of A and its row of B. */
__device__ int insert_row(const operands &o, int64_t begin, int64_t end, unsigned most,
                          int32_t *set)
{
    int count = 0;
    for (int64_t k = begin + threadIdx.x / ROW_LANES; k < end; k += ROWS) {
        const int64_t row = o.a_col[k];
        if (row < 0 || row >= o.inner)
            continue;
        const int64_t first = o.b_row[row], last = o.b_row[row + 1];
        if (first < 0 || last > o.inner_nnz)
            continue;
        for (int64_t l = first + threadIdx.x % ROW_LANES; l < last; l += ROW_LANES) {
            const int32_t col = int32_t(o.b_col[l]);
            if (col >= 0 && unsigned(col) * 2654435769u <= most)
                count += insert(set, col);
        }
    }
    return count;
}

__device__ int64_t block_products(const operands &o, int64_t begin, int64_t end)
{
    hy_survey s = {};
    s.products  = products_of(o, begin + threadIdx.x, end, THREADS, &s);
    __shared__ int64_t all;
    s = block_add(s);
    if (threadIdx.x == 0)
        all = s.products;
    __syncthreads();
    return all;
}

__global__ void __launch_bounds__(THREADS) survey_drawn(operands o)
{
    __shared__ int32_t set[PLACES];
    const int64_t entry = o.nnz * (2 * int64_t(blockIdx.x) + 1) / (2 * gridDim.x);
    const int64_t row   = row_of(o, entry);
    const int64_t begin = o.a_row[row], end = o.a_row[row + 1];
    const bool right       = begin >= 0 && end > begin && end <= o.nnz;
    const int64_t products = right ? block_products(o, begin, end) : 0;
    const int64_t bound    = products < o.cols ? products : o.cols;
    const bool walks =
        products > 0 && products <= MAX_WALKED && end - begin <= MAX_ENTRIES;
    hy_survey s = {};
    int thin    = 0;
    while (bound >> thin > MAX_PLACED)
        thin++;
    if (walks) {
        for (int i = int(threadIdx.x); i < PLACES; i += THREADS)
            set[i] = -1;
        __syncthreads();
        s.bound = insert_row(o, begin, end, 0xffffffffu >> thin, set);
    }
    s              = block_add(s);
    hy_survey mine = {};
    if (threadIdx.x == 0) {
        const double counted = double(s.bound << thin);
        const double entries = walks && counted < double(bound) ? counted : double(bound);
        const double weight  = right ? 1 / double(end - begin) : 0;
        mine.drawn_products  = weight * double(products);
        mine.drawn_entries   = weight * entries;
    }
    leave_record(o, mine, o.records - int(gridDim.x) + int(blockIdx.x));
    finish(o);
}

/* ---- launches ---- */

indices offsets_of(const hybrid_csr *A)
{
    return {A->row_ptr, A->offset_type == HYBRID_I64};
}

indices columns_of(const hybrid_csr *A)
{
    return {A->col, A->col_type == HYBRID_I64};
}

/* The records begin RECORDS_AT bytes after the counter of thread blocks that have
   ended. */
constexpr size_t RECORDS_AT = 256;

operands operands_of(const hy_surveying *s, int records)
{
    const hybrid_csr *A = s->A, *B = s->B ? s->B : s->A;
    const bool same = A->row_ptr == B->row_ptr && A->col == B->col;
    void *record    = static_cast<char *>(s->work) + RECORDS_AT;
    return {offsets_of(A),
            columns_of(A),
            offsets_of(B),
            columns_of(B),
            A->rows,
            A->cols,
            B->cols,
            A->nnz,
            same ? -1 : B->nnz,
            B->nnz,
            static_cast<unsigned *>(s->work),
            static_cast<hy_survey *>(record),
            s->out,
            records,
            s->expected ? *s->expected : hy_survey{},
            s->expected ? s->gate : nullptr};
}

} // namespace

static_assert(HY_CUDA_SURVEY_BYTES ==
              RECORDS_AT + sizeof(hy_survey) * (HY_CUDA_SURVEYORS + HY_CUDA_DRAWS));

hybrid_status hy_cuda_survey(hy_lane *self, const hy_surveying *s)
{
    const cudaStream_t stream = hy_stream(self);
    const int64_t per         = s->B ? ROWS : THREADS;
    const unsigned counters   = hy_blocks(s->A->rows, per, HY_CUDA_SURVEYORS);
    const int draws           = s->B ? HY_CUDA_DRAWS : 0;
    const operands o          = operands_of(s, int(counters) + draws);

    HY_TRY(hy_lane_enter(self));
    if (!s->B) {
        survey_lengths<<<counters, THREADS, 0, stream>>>(o);
        return hy_launched(self, "counting rows of A");
    }
    survey_products<<<counters, THREADS, 0, stream>>>(o);
    HY_TRY(hy_launched(self, "counting products"));
    survey_drawn<<<unsigned(draws), THREADS, 0, stream>>>(o);
    return hy_launched(self, "drawing rows of C");
}
