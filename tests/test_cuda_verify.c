/* tests/test_cuda_verify.c - right products of the GPU raise no alarm. */
#include <stdio.h>

#include "support/open_cuda.h"
#include "support/right_products.h"
#include "support/variants.h"

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
    const int small = right_products(engine, names, COUNT);
    const int large = right_long_rows(engine, names);
    printf("%d small products, %d doubted; long rows, %d doubted\n", COUNT, small, large);
    hybrid_engine_destroy(engine);
    return small + large > 0;
}
