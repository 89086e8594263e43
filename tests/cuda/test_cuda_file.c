/* tests/cuda/test_cuda_file.c - X in a file, on the GPU: whole, and with a budget that
   does not hold it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/engines/io_fixture.h"
#include "support/engines/open_cuda.h"
#include "support/inputs/stored.h"

enum { SKIP = 77, WIDTH = 160, SMALL = 8 << 20 };

/* Computes products with X in a file and `budget` bytes of GPU memory. Returns the
   number of products; 0 also if no plan fits the budget. */
static int64_t run(size_t budget, const char *variant, int banded)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    int64_t made                = 0;

    options.variant = variant;
    for (int orders = 0; orders < 4; orders++)
        for (int k = 0; k < 2; k++) {
            stored_trial t = {.options = &options};
            hybrid_csr A;
            assert_int_equal(open_cuda(budget, &t.engine), HYBRID_OK);
            if (banded)
                A = stored_matrix(1, stored_kinds[k]);
            else
                matrix_random(5000, 20000, 6, 7, stored_kinds[k], &A);
            stored_make(&t, A, WIDTH, orders, 3 * (orders & 1), stored_kinds[k]);
            made += stored_run(&t, 1, 0);
            stored_free(&t);
            hybrid_engine_destroy(t.engine);
        }
    return made;
}

static void every_variant_is_right(void **state)
{
    static const char *const variants[] = {"spmm.cuda.rows", "spmm.cuda.merge",
                                           "spmm.cuda.hrpb", "spmm.cuda.tiled"};

    (void)state;
    for (int i = 0; i < 4; i++) {
        assert_true(run(0, variants[i], 0) > 0);
        assert_true(run(0, variants[i], 1) > 0);
        assert_true(run(SMALL, variants[i], 0) > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_variant_is_right),
    };
    hybrid_engine *engine;

    if (open_cuda(0, &engine) == HYBRID_NO_DEVICE)
        return SKIP;
    hybrid_engine_destroy(engine);
    return cmocka_run_group_tests(tests, NULL, io_group_remove);
}
