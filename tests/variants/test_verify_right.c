/* tests/variants/test_verify_right.c - verification accepts right products of the host.

   The test makes some thousands of them, with the argument "slow" 10^5. */
#include <stdio.h>
#include <string.h>

#include "support/check/right_products.h"
#include "support/products/variants.h"

enum { ROOM = 64, SOME = 4000, MANY = 100 * 1000 };

int main(int argc, char **argv)
{
    const int64_t count = argc > 1 && strcmp(argv[1], "slow") == 0 ? MANY : SOME;
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_engine *engine;
    const char *names[ROOM];

    options.backend = HYBRID_HOST;
    options.threads = 2;
    if (hybrid_engine_create(&options, &engine) != HYBRID_OK ||
        variants_of("host", names, ROOM) == 0)
        return 1;
    int64_t verified  = 0;
    const int doubted = right_products(engine, names, count, &verified) +
                        right_long_rows(engine, names, &verified);
    printf("%lld right products, %d doubted\n", (long long)verified, doubted);
    hybrid_engine_destroy(engine);
    return doubted > 0 || verified <= count; /* every product must have been verified,
                                                because host variants refuse none */
}
