/* tests/cuda/test_cuda_errors.c - products in spite of CUDA errors that other code of the
   process causes.

   The test is skipped without a GPU. It is plain C without a test framework, as
   test_cuda_variants.c. */
#include <string.h>

#include "engine/api/engine.h"
#include "support/inputs/cases.h"
#include "support/device/cuda_misuse.h"
#include "support/check/expect.h"
#include "support/engines/open_cuda.h"
#include "support/products/variants.h"

enum { ROOM = 64, SKIP = 77 };

/* A CUDA error of other code is pending in the thread. The library must not take it for
   the error of its own kernel launch. */
static void check_pending(hybrid_engine *engine)
{
    const test_kind kind = {HYBRID_F64, HYBRID_I64, 1};
    const char *names[ROOM];
    int64_t checked = 0;
    oracle product;
    test_case c;

    case_named("power_law", kind, &c);
    oracle_spgemm(&c.A, &c.B, &product);
    variants_of("cuda", names, ROOM);
    for (int v = 0; names[v]; v++)
        for (uint64_t dice = 1; dice < 12; dice += 5) {
            expect(cuda_leave_error(), "there is no error to be left");
            expect(variants_check_one(engine, names[v], &c, kind, &product, dice,
                                      &checked, NULL) == 0,
                   names[v]);
        }
    oracle_free(&product);
    case_free(&c);
}

static hybrid_status take(hybrid_engine *engine, size_t bytes, hy_buffer *out)
{
    hy_engine_begin(engine);
    return engine->device->ops->alloc(engine->device, HY_DEVICE, bytes, "a test", out);
}

/* Two engines that were created at the same time count on the same free GPU memory. The
   second engine that allocates fails with a message that says how much is free, and
   succeeds when the first has freed its memory. */
static void check_memory(hybrid_engine *first, hybrid_engine *second)
{
    const size_t bytes = (size_t)first->device->device.cap / 4 * 3;
    hy_buffer all, none;

    expect(take(first, bytes, &all) == HYBRID_OK, "three quarters of the memory");
    expect(take(second, bytes, &none) == HYBRID_NO_DEVICE_MEMORY, "they are there twice");
    expect(strstr(hybrid_engine_message(second), " [a test]") != NULL &&
               strstr(hybrid_engine_message(second), "of the device is free") != NULL &&
               strstr(hybrid_engine_message(second), second->device->name) != NULL,
           hybrid_engine_message(second));
    first->device->ops->free(first->device, &all);
    hybrid_engine_trim(first);
    expect(take(second, bytes, &all) == HYBRID_OK, "it was not given back");
    second->device->ops->free(second->device, &all);
    hybrid_engine_trim(second);
}

int main(void)
{
    hybrid_engine *first, *second;
    const hybrid_status status = open_cuda(0, &first);

    if (status == HYBRID_NO_DEVICE)
        return SKIP;
    if (status != HYBRID_OK || open_cuda(0, &second) != HYBRID_OK)
        return 1;
    check_pending(first);
    check_memory(first, second);
    hybrid_engine_destroy(first);
    hybrid_engine_destroy(second);
    return expect_failed() > 0;
}
