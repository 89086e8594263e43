/* host/spgemm/spgemm_host_few.c - makes a row of C with few products (scalar products),
   by counting.

   The place of a product is the number of products with a smaller column. Counting takes
   n^2 comparisons, 16 at a time and without a branch. Products of the same column get the
   same place and are summed there in the order of A's row; then the places left empty are
   closed. This is fastest for some tens of products at random columns, because there is
   no table to clear and no branch to mispredict. */
#include "host/spgemm/spgemm_host.h"

#include "host/backend/target.h"
#include "host/spgemm/spgemm_host_blocks.h"

enum { GROUP = 32 }; /* scalar products that are compared together, in registers */

/* Sets result[i] to the number of elements of col[0..padded) that are smaller than
   mine[i], for i < lanes. */
#define COUNT_LANES(lanes, mine, result)                                                 \
    {                                                                                    \
        int32_t smaller[lanes] = {0};                                                    \
        for (int j = 0; j < padded; j++)                                                 \
            for (int i = 0; i < (lanes); i++)                                            \
                smaller[i] += col[j] < (mine)[i];                                        \
        for (int i = 0; i < (lanes); i++)                                                \
            (result)[i] = smaller[i];                                                    \
    }

/* Defines a function that sets place[i] to the number of elements of col[0..n) that are
   smaller than col[i], for i < n. The caller pads the arrays to whole groups. */
#define COUNT_SMALLER(name, TARGET)                                                      \
    TARGET static void name(const int32_t *restrict col, int n, int32_t *restrict place) \
    {                                                                                    \
        const int padded = (n + EIGHT - 1) / EIGHT * EIGHT;                              \
        if (n <= EIGHT)                                                                  \
            COUNT_LANES(EIGHT, col, place)                                               \
        else if (n <= 2 * EIGHT)                                                         \
            COUNT_LANES(2 * EIGHT, col, place)                                           \
        else if (n <= 3 * EIGHT)                                                         \
            COUNT_LANES(3 * EIGHT, col, place)                                           \
        else                                                                             \
            for (int g = 0; g < n; g += GROUP)                                           \
                COUNT_LANES(GROUP, col + g, place + g)                                   \
    }

COUNT_SMALLER(count_smaller_portable, HY_PORTABLE)
#define T float
#define SET(x) x##_portable
#define NAME(x) x##_f32_portable
#define TARGET HY_PORTABLE
#include "host/spgemm/spgemm_host_few.inc"
#undef T
#undef SET
#undef NAME
#undef TARGET
#define T double
#define SET(x) x##_portable
#define NAME(x) x##_f64_portable
#define TARGET HY_PORTABLE
#include "host/spgemm/spgemm_host_few.inc"
#undef T
#undef SET
#undef NAME
#undef TARGET
#if HY_X86
COUNT_SMALLER(count_smaller_avx2, HY_AVX2)
#define T float
#define SET(x) x##_avx2
#define NAME(x) x##_f32_avx2
#define TARGET HY_AVX2
#include "host/spgemm/spgemm_host_few.inc"
#undef T
#undef SET
#undef NAME
#undef TARGET
#define T double
#define SET(x) x##_avx2
#define NAME(x) x##_f64_avx2
#define TARGET HY_AVX2
#include "host/spgemm/spgemm_host_few.inc"
#undef T
#undef SET
#undef NAME
#undef TARGET
COUNT_SMALLER(count_smaller_avx512, HY_AVX512)
#define T float
#define SET(x) x##_avx512
#define NAME(x) x##_f32_avx512
#define TARGET HY_AVX512
#include "host/spgemm/spgemm_host_few.inc"
#undef T
#undef SET
#undef NAME
#undef TARGET
#define T double
#define SET(x) x##_avx512
#define NAME(x) x##_f64_avx512
#define TARGET HY_AVX512
#include "host/spgemm/spgemm_host_few.inc"
#undef T
#undef SET
#undef NAME
#undef TARGET
#endif

/* functions that make a row: row_of[instruction set (hy_target)][0 for f32, 1 for f64] */
static int64_t (*const row_of[][2])(const hy_row *row) = {
    {row_f32_portable, row_f64_portable},
#if HY_X86
    {row_f32_avx2, row_f64_avx2},
    {row_f32_avx512, row_f64_avx512},
#endif
};

hybrid_status hy_row_few(const hy_seat *seat, const hy_row *row, int64_t *nnz)
{
    *nnz = row_of[hy_target_best()][seat->type == HYBRID_F64](row);
    return HYBRID_OK;
}
