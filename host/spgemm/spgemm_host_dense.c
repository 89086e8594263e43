/* host/spgemm/spgemm_host_dense.c - makes a row of C in a dense window of columns.

   The window spans [col_min, col_max] of the row's products. It is cut into blocks of a
   cache line (16 floats, 8 doubles), and a byte per block marks touched blocks. Touched
   elements need no mark: an untouched element holds -0, and a sum that starts with +0 is
   never -0. (Products are added to +0 before they reach the window, which changes -0 and
   nothing else.) Accumulating is thus one addition and one store per product. Reading
   back visits touched blocks only, in order, so the row comes out sorted.

   Up to 4 rows of A with entries in the same columns are made together: an element of the
   window is then a vector with a lane for each row.

   Between rows the window is all -0 and the marks are all 0. */
#include "host/spgemm/spgemm_host.h"

#include <string.h>

#include "base/data/csr.h"
#include "host/backend/target.h"
#include "partition/format/pack.h"

/* The window of one row. `mark` has a multiple of 64 bytes. */
typedef struct window {
    void *acc;
    uint8_t *mark;
    int32_t base; /* column of acc[0], a multiple of the columns of a block */
    int64_t blocks;
} window;

/* Packs 64 bytes that are 0 or 1 into 64 bits. */
static inline uint64_t marks_portable(const uint8_t *mark)
{
    uint64_t bits = 0;

    for (int i = 0; i < 8; i++) {
        uint64_t eight;
        memcpy(&eight, mark + 8 * i, 8);
        bits |= ((eight * 0x0102040810204080u) >> 56) << (8 * i);
    }
    return bits;
}

/* Address that column 0 would have in an array that begins at a later column. The address
   is used only with the index of a column inside the array. */
static inline void *before(void *array, size_t bytes)
{
    return (void *)((uintptr_t)array - bytes);
}

#define T float
#define BITS uint32_t
#define EMPTY 0x80000000u
#define BLOCK 16

#define NAME(x) x##_f32
#define TARGET HY_PORTABLE
#define WIDE 0
#include "host/spgemm/spgemm_host_dense.inc"
#undef NAME
#undef TARGET
#undef WIDE

#if HY_X86
/* Writes the touched columns of a block and clears the block; returns their number. */
HY_AVX512 static inline int64_t emit_block_f32_avx512(float *acc, int32_t col0,
                                                      int32_t *col, float *val)
{
    const __m512i empty = _mm512_set1_epi32((int)EMPTY);
    const __m512i iota =
        _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i v      = _mm512_load_si512(acc);
    const __mmask16 full = _mm512_cmpneq_epi32_mask(v, empty);
    const int n          = _mm_popcnt_u32(full);
    const __mmask16 head = (__mmask16)((1u << n) - 1);
    const __m512i c      = _mm512_add_epi32(iota, _mm512_set1_epi32(col0));

    _mm512_store_si512(acc, empty);
    _mm512_mask_storeu_epi32(val, head, _mm512_maskz_compress_epi32(full, v));
    _mm512_mask_storeu_epi32(col, head, _mm512_maskz_compress_epi32(full, c));
    return n;
}

HY_AVX512 static inline uint64_t marks_avx512(const uint8_t *mark)
{
    const __m512i m = _mm512_load_si512(mark);
    return _mm512_test_epi8_mask(m, m);
}

#define NAME(x) x##_f32_avx512
#define TARGET HY_AVX512
#define WIDE 1
#include "host/spgemm/spgemm_host_dense.inc"
#undef NAME
#undef TARGET
#undef WIDE
#endif

#undef T
#undef BITS
#undef EMPTY
#undef BLOCK

#define T double
#define BITS uint64_t
#define EMPTY 0x8000000000000000u
#define BLOCK 8

#define NAME(x) x##_f64
#define TARGET HY_PORTABLE
#define WIDE 0
#include "host/spgemm/spgemm_host_dense.inc"
#undef NAME
#undef TARGET
#undef WIDE

#if HY_X86
HY_AVX512 static inline int64_t emit_block_f64_avx512(double *acc, int32_t col0,
                                                      int32_t *col, double *val)
{
    const __m512i empty = _mm512_set1_epi64((long long)EMPTY);
    const __m256i iota  = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i v     = _mm512_load_si512(acc);
    const __mmask8 full = _mm512_cmpneq_epi64_mask(v, empty);
    const int n         = _mm_popcnt_u32(full);
    const __mmask8 head = (__mmask8)((1u << n) - 1);
    const __m256i c     = _mm256_add_epi32(iota, _mm256_set1_epi32(col0));

    _mm512_store_si512(acc, empty);
    _mm512_mask_storeu_epi64(val, head, _mm512_maskz_compress_epi64(full, v));
    _mm256_mask_storeu_epi32(col, head, _mm256_maskz_compress_epi32(full, c));
    return n;
}

#define NAME(x) x##_f64_avx512
#define TARGET HY_AVX512
#define WIDE 1
#include "host/spgemm/spgemm_host_dense.inc"
#undef NAME
#undef TARGET
#undef WIDE
#endif

#undef T
#undef BITS
#undef EMPTY
#undef BLOCK

/* ---- the window -------------------------------------------------------------------- */

static void clear_window(hybrid_type type, void *acc, size_t bytes)
{
    const size_t size = hy_value_size(type);

    for (size_t i = 0; i < bytes / size; i++) {
        if (type == HYBRID_F64)
            ((double *)acc)[i] = -0.0;
        else
            ((float *)acc)[i] = -0.0f;
    }
}

static hybrid_status open_window(const hy_seat *seat, const hy_row *row, window *w)
{
    const int f64       = seat->type == HYBRID_F64;
    const int32_t block = f64 ? 8 : 16;
    const int64_t width = row->lanes > 1 ? 4 : 1;
    void *made          = NULL;
    size_t fresh;

    w->base                 = row->col_min & ~(block - 1);
    w->blocks               = (row->col_max - w->base) / block + 1;
    const size_t acc_bytes  = (size_t)(w->blocks * width) * 64;
    const size_t mark_bytes = (size_t)(w->blocks + 63) & ~(size_t)63;
    HY_TRY(hy_host_workspace(seat->lane,
                             f64 ? HY_SCRATCH_DENSE_F64 : HY_SCRATCH_DENSE_F32, acc_bytes,
                             &w->acc, &fresh));
    if (fresh)
        clear_window(seat->type, w->acc, fresh);
    HY_TRY(hy_host_workspace(seat->lane, HY_SCRATCH_MARKS, mark_bytes, &made, &fresh));
    w->mark = made;
    if (fresh)
        memset(w->mark, 0, fresh);
    return HYBRID_OK;
}

static int64_t make_row(const hy_seat *seat, const hy_row *row, const window *w)
{
    const int f64 = seat->type == HYBRID_F64, one = row->lanes == 1;

#if HY_X86
    if (hy_target_best() >= HY_TARGET_AVX512) {
        if (f64)
            return one ? row_f64_avx512(row, w) : rows_f64_avx512(row, w);
        return one ? row_f32_avx512(row, w) : rows_f32_avx512(row, w);
    }
#endif
    if (f64)
        return one ? row_f64(row, w) : rows_f64(row, w);
    return one ? row_f32(row, w) : rows_f32(row, w);
}

static void add_products(const hy_seat *seat, const hy_row *row, const window *w)
{
    const int f64 = seat->type == HYBRID_F64, one = row->lanes == 1;

#if HY_X86
    if (hy_target_best() >= HY_TARGET_AVX512) {
        if (f64)
            (one ? add_row_f64_avx512 : add_rows_f64_avx512)(row, w);
        else
            (one ? add_row_f32_avx512 : add_rows_f32_avx512)(row, w);
        return;
    }
#endif
    if (f64)
        (one ? add_row_f64 : add_rows_f64)(row, w);
    else
        (one ? add_row_f32 : add_rows_f32)(row, w);
}

/* Makes a long row in stretches. If the call is cancelled, the row is still written,
   which clears the window. */
static hybrid_status make_long_row(const hy_seat *seat, const hy_row *row,
                                   const window *w, int64_t *nnz)
{
    hy_stretch stretch   = {.whole = row};
    hy_row added         = *row;
    hybrid_status status = HYBRID_OK;

    while (status == HYBRID_OK && hy_stretch_next(&stretch, seat->type)) {
        add_products(seat, &stretch.row, w);
        status = hy_seat_check(seat, 0);
    }
    added.count = 0;
    *nnz        = make_row(seat, &added, w);
    return status;
}

hybrid_status hy_row_dense(const hy_seat *seat, const hy_row *row, int64_t *nnz)
{
    window w;

    HY_TRY(open_window(seat, row, &w));
    if (row->products > HY_UNCHECKED)
        return make_long_row(seat, row, &w, nnz);
    *nnz = make_row(seat, row, &w);
    return HYBRID_OK;
}

/* ---- spgemm.host.dense ------------------------------------------------------------- */

enum { WINDOW_BYTES = 64 << 20 };

/* The window of one row spans at most the columns of B, and four times that with lanes. A
   larger window would fill memory, not cache, on every core. */
static const char *refuse(const hy_features *f, const hy_rates *r)
{
    (void)r;
    return f->out_cols * (int64_t)hy_value_size(f->type) > WINDOW_BYTES
               ? "a window over all columns exceeds 64 MB a core"
               : NULL;
}

static hy_cost cost(const hy_features *f, const hy_rates *r)
{
    return hy_spgemm_host_cost(f, r, 4);
}

static hybrid_status run(hy_lane *lane, void *job)
{
    return hy_spgemm_host_run(lane, job, hy_row_dense, 1);
}

static hybrid_status multiply(hy_lane *lane, hy_job *job)
{
    return hy_host_enqueue(lane, run, job);
}

const hy_variant hy_spgemm_host_dense = {
    .name     = "spgemm.host.dense",
    .summary  = "a dense window of columns for each row",
    .source   = "Gilbert, Moler, Schreiber 1992 (SPA); windows and marks of blocks",
    .op       = HY_SPGEMM,
    .refuse   = refuse,
    .cost     = cost,
    .multiply = multiply,
};
