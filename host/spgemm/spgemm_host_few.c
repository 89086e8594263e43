/* host/spgemm/spgemm_host_few.c - makes a row of C with few products (scalar products),
   by counting.

   The place of a product is the number of products with a smaller column. Counting takes
   n^2 comparisons, 16 at a time and without a branch. Products of the same column get the
   same place and are summed there in the order of A's row; then the places left empty are
   closed. This is fastest for some tens of products at random columns, because there is
   no table to clear and no branch to mispredict. */
#include "host/spgemm/spgemm_host.h"

#include "base/data/value_type.h"
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
#if HY_X86
COUNT_SMALLER(count_smaller_avx2, HY_AVX2)
COUNT_SMALLER(count_smaller_avx512, HY_AVX512)
#endif

#define HY_LOOPS "host/spgemm/spgemm_host_few.inc"
#include "host/backend/each_type.inc"

#define SELF(x) x
#define INSTANCES(is, T, suffix, ...) {HY_EACH_TARGET(SELF, row_##suffix)},

/* [type (hy_type_index())][instruction set (hy_target)] */
static int64_t (*const row_of[][HY_TARGETS])(const hy_row *row) = {
    HY_VALUE_TYPES(INSTANCES)};

hybrid_status hy_row_few(const hy_seat *seat, const hy_row *row, int64_t *nnz)
{
    *nnz = row_of[hy_type_index(seat->type)][hy_target_best()](row);
    return HYBRID_OK;
}
