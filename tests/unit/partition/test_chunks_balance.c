/* tests/unit/partition/test_chunks_balance.c - chunks of equal work; failed
   allocations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/data/csr.h"
#include "partition/pattern/chunks.h"
#include "partition/format/pack.h"
#include "tests/support/inputs/cases.h"
#include "tests/support/engines/group.h"
#include "tests/support/subjects/chunk_variants.h"

static const test_kind kind = {HYBRID_F64, HYBRID_I64, 1};

/* ---- properties ---- */

/* If memory does not limit chunks, each chunk but the last has so many scalar products
   that together with those of the costliest row they exceed the maximum. */
static void products_are_balanced(void **state)
{
    test_case c;
    hy_profile p;
    hy_chunk *chunks;
    int64_t count;

    (void)state;
    case_named("random", kind, &c);
    assert_int_equal(hy_inspect(ctx, &c.A, &c.B, 0, NULL, &p), HYBRID_OK);
    const hy_cut cut = {.A            = &c.A,
                        .B            = &c.B,
                        .profile      = &p,
                        .variant      = &chunk_spgemm,
                        .slot_bytes   = SIZE_MAX / 2,
                        .products_max = p.features.products / 8};
    assert_int_equal(hy_cut_chunks(ctx, &cut, &chunks, &count), HYBRID_OK);
    for (int64_t i = 0; i + 1 < count; i++)
        assert_true(chunks[i].features.products + p.features.products_max >
                    cut.products_max);
    assert_true(count >= 8 && count <= 10);
    hy_array_free(ctx, chunks);
    hy_profile_free(ctx, &p);
    case_free(&c);
}

static void failed_allocations_leave_nothing(void **state)
{
    const int64_t before = hy_meter_used(&ctx->memory.meter);
    hybrid_status status = HYBRID_NO_MEMORY;
    hy_chunk *chunks     = NULL;
    int64_t count, used;
    int failures = 0;
    test_case c;
    hy_profile p;

    (void)state;
    case_named("tall", kind, &c);
    assert_int_equal(hy_inspect(ctx, &c.A, NULL, 8, NULL, &p), HYBRID_OK);
    used       = hy_meter_used(&ctx->memory.meter);
    hy_cut cut = {.A            = &c.A,
                  .profile      = &p,
                  .variant      = &chunk_spmm,
                  .image        = {.axis = HY_AXIS_GATHERED},
                  .chunk_rows   = 20,
                  .products_max = INT64_MAX,
                  .slot_bytes   = 1 << 20};
    for (; status != HYBRID_OK; failures++) {
        ctx->memory.failures = failures + 1;
        status               = hy_cut_chunks(ctx, &cut, &chunks, &count);
        if (status != HYBRID_OK) {
            assert_int_equal(status, HYBRID_NO_MEMORY);
            assert_null(chunks);
            assert_int_equal(hy_meter_used(&ctx->memory.meter), used);
        }
    }
    ctx->memory.failures = 0;
    assert_true(failures > 3);
    hy_array_free(ctx, chunks);
    hy_profile_free(ctx, &p);
    assert_int_equal(hy_meter_used(&ctx->memory.meter), before);
    case_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_balanced),
        cmocka_unit_test(failed_allocations_leave_nothing),
    };
    return cmocka_run_group_tests_name("chunks_balance", tests, open_two_workers,
                                       close_context);
}
