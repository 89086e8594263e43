/* tests/support/products/blocked_errors.c - bounds of packs of blocks, and packs that
   fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "partition/pattern/inspect.h"
#include "tests/support/check/poison.h"
#include "tests/support/inputs/blocked.h"
#include "tests/support/inputs/builder.h"

static const test_kind kind = {HYBRID_F32, HYBRID_I32, 1};

static const hy_variant variant = {.name = "test", .op = HY_SPMM};

/* Packs A in blocks of 8 x 7. Its profile says, wrongly, that the blocks have no zeros,
   so that the room for the pack is small. `forced`: the shape is demanded by a
   parameter. Returns the status of the packing. */
static hybrid_status pack_full(hy_context *ctx, const blocked_format *format,
                               const hybrid_csr *A, int forced)
{
    const hy_problem p = {.op = HY_SPMM, .ctx = ctx, .A = A};
    hy_profile profile;

    assert_int_equal(hy_inspect(ctx, A, NULL, 1, NULL, &profile), HYBRID_OK);
    hy_chunk chunk           = {.row_end = A->rows, .features = profile.features};
    hy_features *f           = &chunk.features;
    f->block_rows            = 8;
    f->block_cols            = 7;
    f->block_fill            = 1;
    f->parameter[HY_BLOCK_R] = forced ? 8 : 0;
    const size_t bytes       = format->bytes(f);
    hy_job job               = {.problem = &p, .chunk = &chunk, .variant = &variant};
    job.pack.mem             = (hy_buffer){poison_block(bytes), bytes, HY_PINNED};
    hy_message_clear(&ctx->message);
    const hybrid_status status = format->pack(&job);
    free(job.pack.mem.ptr);
    hy_profile_free(ctx, &profile);
    return status;
}

void blocked_check_too_large(hy_context *ctx, const blocked_format *format)
{
    hybrid_csr A;

    matrix_random(20000, 20000, 8, 3, kind, &A); /* its entries are too scattered: blocks
                                                    take more room than the profile
                                                    says */
    assert_int_equal(pack_full(ctx, format, &A, 0), HYBRID_OK);
    assert_int_equal(pack_full(ctx, format, &A, 1), HYBRID_UNSUPPORTED);
    assert_non_null(strstr(ctx->message.text, "bytes in blocks of 8 x 7, and"));
    matrix_free(&A);
    matrix_random(30, 5, 3, 3, kind, &A); /* X has 5 rows, fewer than the 7 columns of a
                                             block */
    assert_int_equal(pack_full(ctx, format, &A, 0), HYBRID_OK);
    assert_int_equal(pack_full(ctx, format, &A, 1), HYBRID_UNSUPPORTED);
    assert_non_null(strstr(ctx->message.text, "fewer than the columns of a block"));
    hy_message_clear(&ctx->message);
    matrix_free(&A);
}

void blocked_check_bounds(hy_context *ctx, const blocked_format *format)
{
    hybrid_csr A;
    hy_profile profile;

    blocked_matrix(900, 500, 3, 2, 9, 1, 5, kind, &A);
    assert_int_equal(hy_inspect(ctx, &A, NULL, 1, NULL, &profile), HYBRID_OK);
    profile.features.block_rows = 3;
    profile.features.block_cols = 2;
    profile.features.block_fill = 0.8;
    memcpy(profile.features.parameter, blocked_parameters, sizeof blocked_parameters);
    for (int64_t begin = 0; begin < 60; begin += 29)
        for (int64_t end = begin + 1; end < A.rows; end++) {
            const hy_features f    = hy_profile_range(&profile, begin, end, 1);
            const hy_features next = hy_profile_range(&profile, begin, end + 1, 1);
            assert_true(format->bytes(&f) <= format->bytes(&next));
        }
    hy_profile_free(ctx, &profile);
    matrix_free(&A);
}

void blocked_check_failures(hy_context *ctx, const blocked_format *format, int least)
{
    const int64_t before = hy_meter_used(&ctx->memory.meter);
    hybrid_status status = HYBRID_NO_MEMORY;
    hy_profile profile;
    hybrid_csr A;
    int failing = 1;

    matrix_random(200, 100, 4, 3, kind, &A); /* its entries are too scattered for blocks
                                                of 4 x 4 */
    assert_int_equal(hy_inspect(ctx, &A, NULL, 1, NULL, &profile), HYBRID_OK);
    profile.features.block_rows = profile.features.block_cols = 4;
    const hy_problem p = {.op = HY_SPMM, .ctx = ctx, .A = &A};
    hy_chunk chunk     = {.row_end = A.rows, .features = profile.features};
    const size_t bytes = format->bytes(&chunk.features);
    hy_job job         = {.problem = &p, .chunk = &chunk};
    job.pack.mem       = (hy_buffer){poison_block(bytes), bytes, HY_PINNED};
    hy_profile_free(ctx, &profile);
    for (; status == HYBRID_NO_MEMORY; failing++) {
        ctx->memory.failures = failing;
        status               = format->pack(&job);
        assert_int_equal(hy_meter_used(&ctx->memory.meter), before);
    }
    ctx->memory.failures = 0;
    assert_int_equal(status, HYBRID_OK);
    assert_true(failing > least);
    hy_message_clear(&ctx->message);
    job.pack.mem.bytes = 1000;
    assert_int_equal(format->pack(&job), HYBRID_BAD_STATE);
    assert_non_null(strstr(ctx->message.text, " were reserved"));
    chunk.features.nnz--;
    assert_int_equal(format->pack(&job), HYBRID_BAD_STATE);
    assert_int_equal(hy_meter_used(&ctx->memory.meter), before);
    free(job.pack.mem.ptr);
    matrix_free(&A);
}
