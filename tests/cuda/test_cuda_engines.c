/* tests/cuda/test_cuda_engines.c - 2 and 6 engines at once on one GPU.

   They run alone, and while others are created and destroyed. The test is skipped without
   a GPU. It is plain C without a test framework, as test_cuda_variants.c.

     test_cuda_engines          HYBRID_ENGINES_SECONDS per test, or 30
     test_cuda_engines host     on the host, for the thread sanitizer */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/engines/engines.h"
#include "support/engines/open_cuda.h"
#include "support/products/variants.h"

enum { ROOM = 64, SKIP = 77 };

static hybrid_status open_host(size_t device_bytes, hybrid_engine **engine)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;

    options.backend      = HYBRID_HOST;
    options.threads      = 2;
    options.device_bytes = device_bytes;
    return hybrid_engine_create(&options, engine);
}

static double seconds(void)
{
    const char *told = getenv("HYBRID_ENGINES_SECONDS");
    return told ? atof(told) : 30;
}

static int check(engines_run run, int engines, int churn)
{
    int64_t checked = 0;

    run.engines      = engines;
    run.churn        = churn;
    const int failed = engines_check(&run, &checked);
    printf("%d engines%s, %s: %lld products checked, %d wrong\n", engines,
           churn ? " while others come and go" : "",
           run.names[1] ? "every variant" : run.names[0], (long long)checked, failed);
    fflush(stdout);
    return failed;
}

/* Six engines at once launch kernels that need more shared memory in a block than CUDA
   permits by default. The limit must be raised for each of their sizes. */
static int check_limits(engines_run run)
{
    const char *const names[] = {"spgemm.cuda.hash", NULL};

    run.names = names;
    return check(run, 6, 1);
}

int main(int argc, char **argv)
{
    const int on_host = argc > 1 && strcmp(argv[1], "host") == 0;
    const char *names[ROOM];
    hybrid_engine *engine;
    const engines_run run = {
        .open = on_host ? open_host : open_cuda, .names = names, .seconds = seconds()};
    int failed = 0;

    const hybrid_status status = run.open(0, &engine);
    if (status == HYBRID_NO_DEVICE)
        return SKIP;
    if (status != HYBRID_OK)
        return 1;
    hybrid_engine_destroy(engine);
    const int device = on_host ? 0 : variants_of("cuda", names, ROOM);
    variants_of("host", names + device, ROOM - device);
    for (int churn = 0; churn < 2; churn++)
        failed += check(run, 2, churn) + check(run, 6, churn);
    if (!on_host)
        failed += check_limits(run);
    return failed > 0;
}
