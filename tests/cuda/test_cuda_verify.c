/* tests/cuda/test_cuda_verify.c - verification accepts right products of the GPU. */
#include <stdio.h>

#include "support/engines/open_cuda.h"
#include "support/check/right_products.h"
#include "support/products/variants.h"

enum { ROOM = 64, COUNT = 20 * 1000, SKIP = 77 };

int main(void)
{
    hybrid_engine *engine;
    const char *names[ROOM];
    const hybrid_status status = open_cuda(0, &engine);

    if (status == HYBRID_NO_DEVICE)
        return SKIP;
    if (status != HYBRID_OK || variants_of("cuda", names, ROOM) == 0)
        return 1;
    int64_t verified  = 0;
    const int doubted = right_products(engine, names, COUNT, &verified) +
                        right_long_rows(engine, names, &verified);
    printf("%lld right products, %d doubted\n", (long long)verified, doubted);
    hybrid_engine_destroy(engine);
    return doubted > 0 || verified < COUNT / 3;
}
