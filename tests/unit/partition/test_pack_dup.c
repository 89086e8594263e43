/* tests/unit/partition/test_pack_dup.c - duplicated rows of B are in the order of the
   scalar products. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/data/csr.h"
#include "partition/pattern/chunks.h"
#include "partition/format/pack.h"
#include "tests/support/inputs/builder.h"
#include "tests/support/inputs/cases.h"
#include "tests/support/engines/group.h"
#include "tests/support/check/poison.h"

static const test_kind kinds[] = {{HYBRID_F32, HYBRID_I32, 1},
                                  {HYBRID_F32, HYBRID_I64, 0},
                                  {HYBRID_F64, HYBRID_I32, 0},
                                  {HYBRID_F64, HYBRID_I64, 0}};

/* hy_variant.cost with the bytes of the pack, and the least scratch memory that the
   variant can work with. */
static hy_cost dup_cost(const hy_features *f, const hy_rates *rates)
{
    (void)rates;
    return (hy_cost){.pack_bytes = hy_pack_dup_bytes(f),
                     .work_bytes = hy_pack_dup_work(f),
                     .out_bytes  = hy_rows_bytes(HY_SPGEMM, f, 0)};
}

static const hy_variant dup = {.name = "test", .op = HY_SPGEMM, .cost = dup_cost};

/* ---- packs ---- */

/* Checks that the duplicated entries of B are, row by row, those that the scalar
   products of the chunk need, in order. */
static void check_view(const hy_dup_view *d, const hy_problem *p, const hy_chunk *chunk)
{
    const hybrid_csr *A = p->A, *B = p->B;
    const int64_t first = hy_offset(A, chunk->row_begin);
    int64_t t           = 0;

    assert_int_equal(d->rows, chunk->row_end - chunk->row_begin);
    assert_int_equal(d->nnz, hy_offset(A, chunk->row_end) - first);
    for (int64_t i = 0; i < d->rows; i++) {
        assert_int_equal(d->row_start[i], t);
        for (int64_t k = hy_offset(A, chunk->row_begin + i);
             k < hy_offset(A, chunk->row_begin + i + 1); k++) {
            assert_int_equal(d->start[k - first], t);
            assert_true(value_at(d->a_val, A->type, k - first) ==
                        value_at(A->val, A->type, k));
            for (int64_t l = hy_offset(B, hy_cols(A)[k]);
                 l < hy_offset(B, hy_cols(A)[k] + 1); l++, t++) {
                assert_int_equal(d->col[t], hy_cols(B)[l]);
                assert_true(value_at(d->val, B->type, t) == value_at(B->val, B->type, l));
            }
        }
    }
    assert_int_equal(d->row_start[d->rows], t);
    assert_int_equal(d->start[d->nnz], t);
    assert_int_equal(d->products, t);
}

static void check_pack(const hy_problem *problem, const hy_chunk *chunk)
{
    const size_t bytes = hy_pack_dup_bytes(&chunk->features);
    hy_job job         = {.problem = problem, .chunk = chunk, .variant = chunk->variant};

    job.pack.mem = (hy_buffer){poison_block(bytes), bytes, HY_PINNED};
    assert_int_equal(hy_pack_dup(&job), HYBRID_OK);
    assert_int_equal(job.pack.bytes, bytes);
    assert_true(poison_guard_intact(job.pack.mem.ptr, bytes));
    job.in              = job.pack.mem;
    const hy_dup_view d = hy_packed_dup(&job);
    check_view(&d, problem, chunk);
    free(job.pack.mem.ptr);
}

/* Checks the packs of all rows, and of chunks of 1, 7 and 1000 rows. */
static void check_packs(const hybrid_csr *A, const hybrid_csr *B)
{
    const hy_problem problem     = {.op = HY_SPGEMM, .ctx = ctx, .A = A, .B = B};
    static const int64_t sizes[] = {0, 1, 7, 1000};
    hy_profile profile;
    hy_chunk *chunks;
    int64_t count;

    assert_int_equal(hy_inspect(ctx, A, B, 0, NULL, &profile), HYBRID_OK);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const hy_cut cut = {.A            = A,
                            .B            = B,
                            .profile      = &profile,
                            .variant      = &dup,
                            .slot_bytes   = SIZE_MAX / 4,
                            .products_max = INT64_MAX,
                            .chunk_rows   = sizes[s]};
        assert_int_equal(hy_cut_chunks(ctx, &cut, &chunks, &count), HYBRID_OK);
        for (int64_t i = 0; i < count; i++)
            check_pack(&problem, &chunks[i]);
        hy_array_free(ctx, chunks);
    }
    hy_profile_free(ctx, &profile);
}

static void packs_are_rows_of_b_in_the_order_of_products(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int i = 0; i < case_count(); i++) {
            test_case c;
            case_make(i, kinds[k], &c);
            check_packs(&c.A, &c.B);
            case_free(&c);
        }
}

/* The operands are so large that they are packed in several pieces, and have different
   offset types. Rows of B are empty, short or long. */
static void large_packs_too(void **state)
{
    enum { ROWS = 9000, COLS = 4000 };

    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const test_kind other = {kinds[k].type, kinds[3 - k].offsets, 0};
        builder b             = build_start(COLS, 70000);
        hybrid_csr A, B;
        for (int64_t i = 0; i < COLS; i++) {
            const int64_t n = i % 3 == 0 ? 0 : i % 500 == 1 ? 3000 : i % 17;
            for (int64_t j = 0; j < n; j++)
                build_add(&b, (i * 31 + j * 23) % 70000);
            build_end_row(&b);
        }
        B = build_finish(&b, 5, kinds[k]);
        matrix_random(ROWS, COLS, 4, 3, other, &A);
        check_packs(&A, &B);
        matrix_free(&A);
        matrix_free(&B);
    }
}

/* Packing a chunk that was cut for a matrix with another pattern must fail, and not
   write beyond its memory. */
static void other_patterns_are_refused(void **state)
{
    test_case c;
    char block[8192];

    (void)state;
    case_named("banded", kinds[0], &c);
    hy_chunk chunk = {.row_end = 3, .col_end = c.B.cols};
    hy_problem p   = {.op = HY_SPGEMM, .ctx = ctx, .A = &c.A, .B = &c.B};
    hy_job job     = {.problem = &p, .chunk = &chunk};
    hy_profile profile;
    assert_int_equal(hy_inspect(ctx, &c.A, &c.B, 0, NULL, &profile), HYBRID_OK);
    chunk.features = hy_profile_range(&profile, 0, 3, c.B.cols);
    job.pack.mem   = (hy_buffer){block, sizeof block, HY_PINNED};
    assert_true(hy_pack_dup_bytes(&chunk.features) <= sizeof block);
    assert_int_equal(hy_pack_dup(&job), HYBRID_OK);

    job.pack.mem.bytes = hy_pack_dup_bytes(&chunk.features) - 1;
    assert_int_equal(hy_pack_dup(&job), HYBRID_BAD_STATE);
    job.pack.mem.bytes = sizeof block;
    hy_message_clear(&ctx->message);
    chunk.features.products--;
    assert_int_equal(hy_pack_dup(&job), HYBRID_BAD_STATE);
    assert_non_null(strstr(ctx->message.text, "multiplications"));
    chunk.features.products++;
    chunk.features.nnz--;
    assert_int_equal(hy_pack_dup(&job), HYBRID_BAD_STATE);
    chunk.features.nnz++;
    chunk.features.products = (int64_t)INT32_MAX + 1;
    assert_int_equal(hy_pack_dup(&job), HYBRID_UNSUPPORTED);
    hy_profile_free(ctx, &profile);
    case_free(&c);
}

static void failed_allocations_leave_nothing(void **state)
{
    const int64_t before = hy_meter_used(&ctx->memory.meter);
    test_case c;
    char block[8192];
    hy_profile profile;

    (void)state;
    case_named("banded", kinds[0], &c);
    const hy_problem p = {.op = HY_SPGEMM, .ctx = ctx, .A = &c.A, .B = &c.B};
    hy_chunk chunk     = {.row_end = 3, .col_end = c.B.cols};
    hy_job job         = {.problem = &p, .chunk = &chunk};
    assert_int_equal(hy_inspect(ctx, &c.A, &c.B, 0, NULL, &profile), HYBRID_OK);
    chunk.features = hy_profile_range(&profile, 0, 3, c.B.cols);
    hy_profile_free(ctx, &profile);
    job.pack.mem         = (hy_buffer){block, sizeof block, HY_PINNED};
    ctx->memory.failures = 1;
    assert_int_equal(hy_pack_dup(&job), HYBRID_NO_MEMORY);
    ctx->memory.failures = 0;
    assert_int_equal(hy_meter_used(&ctx->memory.meter), before);
    case_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packs_are_rows_of_b_in_the_order_of_products),
        cmocka_unit_test(large_packs_too),
        cmocka_unit_test(other_patterns_are_refused),
        cmocka_unit_test(failed_allocations_leave_nothing),
    };
    return cmocka_run_group_tests_name("pack_dup", tests, open_context, close_context);
}
