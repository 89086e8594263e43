/* host/spgemm/spgemm_host_few.c - makes a row of C with few products, by counting.

   The place of a product is the number of products with a smaller column. Counting takes
   n^2 comparisons, 16 at a time and without a branch. Products of the same column get the
   same place and are summed there in the order of A's row; then the places left empty are
   closed. This is fastest for some tens of products at random columns, because there is
   no table to clear and no branch to mispredict. */
#include "host/spgemm/spgemm_host.h"

#include "host/backend/target.h"

enum { GROUP = 32 }; /* keys that are counted at once, in registers */

/* place[i] = number of col[0..n) that are smaller than col[i]. Arrays are padded by
   GROUP. */
#define HY_COUNT_SMALLER(name, TARGET)                                                   \
    TARGET static void name(const int32_t *restrict col, int n, int32_t *restrict place) \
    {                                                                                    \
        for (int g = 0; g < n; g += GROUP) {                                             \
            int32_t smaller[GROUP] = {0};                                                \
            for (int j = 0; j < n; j++)                                                  \
                for (int i = 0; i < GROUP; i++)                                          \
                    smaller[i] += col[j] < col[g + i];                                   \
            for (int i = 0; i < GROUP; i++)                                              \
                place[g + i] = smaller[i];                                               \
        }                                                                                \
    }

HY_COUNT_SMALLER(count_portable, HY_PORTABLE)
#if HY_X86
HY_COUNT_SMALLER(count_avx2, HY_AVX2)
HY_COUNT_SMALLER(count_avx512, HY_AVX512)
#endif

static void count_smaller(const int32_t *col, int n, int32_t *place)
{
#if HY_X86
    if (hy_target_best() >= HY_TARGET_AVX512) {
        count_avx512(col, n, place);
        return;
    }
    if (hy_target_best() >= HY_TARGET_AVX2) {
        count_avx2(col, n, place);
        return;
    }
#endif
    count_portable(col, n, place);
}

#define T float
#define NAME(x) x##_f32
#include "host/spgemm/spgemm_host_few.inc"
#undef T
#undef NAME
#define T double
#define NAME(x) x##_f64
#include "host/spgemm/spgemm_host_few.inc"
#undef T
#undef NAME

hybrid_status hy_row_few(const hy_seat *seat, const hy_row *row, int64_t *nnz)
{
    *nnz = seat->type == HYBRID_F64 ? row_f64(row) : row_f32(row);
    return HYBRID_OK;
}
