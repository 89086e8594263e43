/* tests/cuda/test_cuda_odd_bits.c - products with zeros of both signs, infinities and NaN
   on the GPU.

   They must have the bits of the host's products. The test is skipped without a GPU. It
   is plain C without a test framework, because GPU machines seldom have one. */
#include "support/products/odd_bits.h"
#include "support/engines/open_cuda.h"
#include "support/check/tell.h"

enum { SKIP = 77, LEAST = 100, LEAST_SPMM = 4000 };

int main(void)
{
    hybrid_engine *engine;
    int64_t checked = 0, plans = 0;
    odd_bits count;

    const hybrid_status status = open_cuda(0, &engine);
    if (status == HYBRID_NO_DEVICE)
        return SKIP;
    if (status != HYBRID_OK)
        return 1;
    int wrong = odd_bits_check(engine, &count);
    for (int k = 0; k < ODD_SCHEDULES; k++)
        plans += count.schedules[k];
    int failed = tell("plans of odd numbers", plans, LEAST, wrong);
    failed += tell("of their runs by the CPU alone", count.hosts, 1, 0);
    wrong = odd_bits_check_spmm(engine, &checked);
    failed += tell("runs of SpMM of odd numbers", checked, LEAST_SPMM, wrong);
    hybrid_engine_destroy(engine);
    return failed > 0;
}
