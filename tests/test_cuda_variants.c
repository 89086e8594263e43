/* tests/test_cuda_variants.c - every variant of the GPU times every case; skips without a
   GPU. Plain C without a test framework: GPU machines seldom have one. */
#include <stdio.h>

#include "support/bits.h"
#include "support/budgets.h"
#include "support/variants.h"

enum { ROOM = 64, SKIP = 77 };

static hybrid_status open_cuda(size_t device_bytes, hybrid_engine **engine)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    char why[256]                 = "";

    options.backend            = HYBRID_CUDA;
    options.device_bytes       = device_bytes;
    options.message            = why;
    options.message_size       = sizeof why;
    const hybrid_status status = hybrid_engine_create(&options, engine);
    if (status != HYBRID_OK)
        fprintf(stderr, "%s\n", why);
    return status;
}

int main(void)
{
    hybrid_engine *engine;
    const char *names[ROOM];
    int64_t checked = 0;

    const hybrid_status status = open_cuda(0, &engine);
    if (status == HYBRID_NO_DEVICE)
        return SKIP;
    if (status != HYBRID_OK || variants_of("cuda", names, ROOM) < 2)
        return 1;
    int failed = variants_check(engine, names, &checked);
    printf("%lld products checked, %d wrong\n", (long long)checked, failed);
    checked            = 0;
    const int together = variants_check_shared(engine, names, &checked);
    printf("%lld products shared with the host checked, %d wrong\n", (long long)checked,
           together);
    failed += together;
    checked         = 0;
    const int other = bits_check(engine, names, &checked);
    printf("%lld deterministic products checked, %d wrong\n", (long long)checked, other);
    failed += other;
    hybrid_engine_destroy(engine);
    failed += budgets_check(open_cuda);
    return failed > 0 || checked < 48;
}
