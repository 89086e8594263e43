/* tests/test_esc_dup.c - rows of B duplicated on the CPU, in blocks that satisfy the
   inequality of hySpMM. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/csr.h"
#include "engine/plan.h"
#include "partition/chunks.h"
#include "partition/pack.h"
#include "tests/support/builder.h"
#include "tests/support/cases.h"
#include "tests/support/context.h"
#include "tests/support/fake_backend.h"
#include "tests/support/poison.h"

static hy_context *ctx;

static const test_kind kinds[] = {{HYBRID_F32, HYBRID_I32, 1},
                                  {HYBRID_F32, HYBRID_I64, 0},
                                  {HYBRID_F64, HYBRID_I32, 0},
                                  {HYBRID_F64, HYBRID_I64, 0}};

/* What the packer needs of a variant, and the least scratch. */
static hy_cost dup_cost(const hy_features *f, const hy_rates *rates)
{
    (void)rates;
    return (hy_cost){.pack_bytes = hy_pack_dup_bytes(f),
                     .work_bytes = hy_pack_dup_work(f),
                     .out_bytes  = hy_rows_bytes(HY_SPGEMM, f, 0)};
}

static const hy_variant dup = {
    .name = "test", .op = HY_SPGEMM, .carries_b = 1, .cost = dup_cost};

/* ---- packs ------------------------------------------------------------------- */

/* Walk the product as it is defined, and compare entry after entry. */
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
            for (int64_t l = hy_offset(B, A->col[k]); l < hy_offset(B, A->col[k] + 1);
                 l++, t++) {
                assert_int_equal(d->col[t], B->col[l]);
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

/* In one chunk, and in chunks of so many rows. */
static void check_packs(const hybrid_csr *A, const hybrid_csr *B)
{
    const hy_problem problem     = {.op = HY_SPGEMM, .ctx = ctx, .A = A, .B = B};
    static const int64_t sizes[] = {0, 1, 7, 1000};
    hy_profile profile;
    hy_chunk *chunks;
    int64_t count;

    assert_int_equal(hy_inspect(ctx, A, B, 0, &profile), HYBRID_OK);
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

/* Many blocks of nonzeros; rows of B empty, short and long; offsets of both widths. */
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

/* A chunk that was cut for another pattern does not run over its block. */
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
    assert_int_equal(hy_inspect(ctx, &c.A, &c.B, 0, &profile), HYBRID_OK);
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
    assert_non_null(strstr(ctx->message.text, "products"));
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
    assert_int_equal(hy_inspect(ctx, &c.A, &c.B, 0, &profile), HYBRID_OK);
    chunk.features = hy_profile_range(&profile, 0, 3, c.B.cols);
    hy_profile_free(ctx, &profile);
    job.pack.mem         = (hy_buffer){block, sizeof block, HY_PINNED};
    ctx->memory.failures = 1;
    assert_int_equal(hy_pack_dup(&job), HYBRID_NO_MEMORY);
    ctx->memory.failures = 0;
    assert_int_equal(hy_meter_used(&ctx->memory.meter), before);
    case_free(&c);
}

/* ---- the paper's inequality -------------------------------------------------- */

/* Products of rows [begin, end) of A. */
static int64_t products_of(const hybrid_csr *A, const hybrid_csr *B, int64_t begin,
                           int64_t end)
{
    int64_t products = 0;

    for (int64_t k = hy_offset(A, begin); k < hy_offset(A, end); k++)
        products += hy_offset(B, A->col[k] + 1) - hy_offset(B, A->col[k]);
    return products;
}

/* Entries of B in rows that take part. */
static int64_t nnz_used(const hybrid_csr *A, const hybrid_csr *B)
{
    char *seen  = calloc((size_t)B->rows + 1, 1);
    int64_t nnz = 0;

    assert_non_null(seen);
    for (int64_t k = 0; k < A->nnz; k++)
        seen[A->col[k]] = 1;
    for (int64_t i = 0; i < B->rows; i++)
        nnz += seen[i] ? hy_offset(B, i + 1) - hy_offset(B, i) : 0;
    free(seen);
    return nnz;
}

/* (nnz_A + nnz_B) / nb + nnz(C'_block) <= 0.9 M / np for each block. Returns the largest
   share of the right side that a left side takes. */
static double check_inequality(const hybrid_csr *A, const hybrid_csr *B,
                               const hy_chunk *chunks, int64_t nb, size_t budget, int np)
{
    const double M     = (double)budget / (4 + (double)hy_value_size(A->type));
    const double right = 0.9 * M / np;
    const double share = (double)(A->nnz + nnz_used(A, B)) / (double)(nb > 0 ? nb : 1);
    double most        = 0;

    for (int64_t i = 0; i < nb; i++) {
        const int64_t block = products_of(A, B, chunks[i].row_begin, chunks[i].row_end);
        const double left   = share + (double)block;
        assert_true(left <= right);
        most = left / right > most ? left / right : most;
    }
    return most;
}

/* Budgets from twice what all rows need down to what no row fits in; returns the number
   of cuts that were checked. */
static int check_budgets(const hybrid_csr *A, const hybrid_csr *B, int np, double *most)
{
    hy_profile profile;
    hy_chunk *chunks;
    int64_t count;
    int checked = 0;

    assert_int_equal(hy_inspect(ctx, A, B, 0, &profile), HYBRID_OK);
    const hy_cost all = dup_cost(&profile.features, NULL);
    for (size_t budget = 2 * (size_t)np * hy_cost_bytes(&all);; budget -= budget / 16) {
        const hy_cut cut = {.A            = A,
                            .B            = B,
                            .profile      = &profile,
                            .variant      = &dup,
                            .slot_bytes   = budget / (size_t)np & ~(size_t)255,
                            .products_max = INT64_MAX};
        if (hy_cut_chunks(ctx, &cut, &chunks, &count) != HYBRID_OK)
            break;
        const double used = check_inequality(A, B, chunks, count, budget, np);
        *most             = used > *most ? used : *most;
        hy_array_free(ctx, chunks);
        checked++;
    }
    hy_message_clear(&ctx->message);
    hy_profile_free(ctx, &profile);
    return checked;
}

/* rows x cols; row i has as many entries as `length` says. */
static void shaped(int64_t rows, int64_t cols, int64_t (*length)(int64_t), test_kind kind,
                   hybrid_csr *out)
{
    builder b = build_start(rows, cols);

    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < length(i); j++)
            build_add(&b, (i * 7 + j * 11) % cols);
        build_end_row(&b);
    }
    *out = build_finish(&b, 2, kind);
}

static int64_t even(int64_t i)
{
    (void)i;
    return 8;
}

static int64_t skewed(int64_t i)
{
    return i < 700 ? 1 : i % 50 == 0 ? 90 : i % 5;
}

static int64_t falling(int64_t i)
{
    return 100 / (i + 1);
}

/* Rows of A that select nothing, and rows of B that nothing selects, are among them. */
static void every_block_satisfies_the_inequality(void **state)
{
    int64_t (*const lengths[])(int64_t) = {even, skewed, falling};
    const int64_t widths[]              = {1, 8, 900};
    double most                         = 0;
    int checked                         = 0;

    (void)state;
    for (size_t a = 0; a < 3; a++)
        for (size_t b = 0; b < 3; b++)
            for (size_t w = 0; w < 3; w++) {
                hybrid_csr A, B;
                shaped(1000, 600, lengths[a], kinds[w], &A);
                shaped(600, widths[w], lengths[b], kinds[w], &B);
                checked += check_budgets(&A, &B, 1, &most);
                checked += check_budgets(&A, &B, 4, &most);
                matrix_free(&A);
                matrix_free(&B);
            }
    assert_true(checked > 2000);
    assert_true(most > 0);
}

/* Each row of B is used once, so that B's share is as large as the products; and it has
   few columns, so that hardly more than the scratch keeps blocks from being larger. */
static void the_inequality_is_tight(void **state)
{
    enum { ROWS = 500, LENGTH = 8, WIDTH = 32 };

    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        builder a   = build_start(ROWS, ROWS * LENGTH);
        builder b   = build_start(ROWS * LENGTH, WIDTH);
        double most = 0;
        for (int64_t i = 0; i < ROWS; i++) {
            for (int64_t j = 0; j < LENGTH; j++)
                build_add(&a, i * LENGTH + j);
            build_end_row(&a);
        }
        for (int64_t i = 0; i < ROWS * LENGTH; i++) {
            for (int64_t j = 0; j < WIDTH; j++)
                build_add(&b, j);
            build_end_row(&b);
        }
        hybrid_csr A = build_finish(&a, 2, kinds[k]);
        hybrid_csr B = build_finish(&b, 3, kinds[k]);
        assert_true(check_budgets(&A, &B, 4, &most) > 50);
        assert_true(most > 0.85);
        matrix_free(&A);
        matrix_free(&B);
    }
}

/* ---- the same of plans ------------------------------------------------------- */

static void check_plan(hybrid_engine *engine, const hybrid_csr *A, size_t budget,
                       int depth, int *passed)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan;

    options.variant            = "spgemm.fake.dup";
    options.depth              = depth;
    const hybrid_status status = hybrid_spgemm_plan(engine, A, A, &options, &plan);
    if (status != HYBRID_OK) {
        assert_int_equal(status, HYBRID_NO_DEVICE_MEMORY);
        return;
    }
    assert_int_equal(plan->shared_bytes, 0);
    assert_int_equal(plan->gathered, 0);
    for (int64_t i = 0; i < plan->chunk_count; i++)
        assert_int_equal(plan->chunks[i].features.gather_nnz, 0);
    check_inequality(A, A, plan->chunks, plan->chunk_count, budget,
                     plan->pipeline->depth);
    *passed += plan->chunk_count > depth && plan->pipeline->depth == depth;
    hybrid_plan_destroy(plan);
}

static void blocks_of_plans_do(void **state)
{
    static const hy_backend_ops *const fakes[] = {&hy_fake_backend_ops, NULL};
    static const hy_variant *const variants[]  = {&hy_spgemm_fake_dup, NULL};
    int passed                                 = 0;
    hybrid_csr A;

    (void)state;
    matrix_random(3000, 3000, 8, 4, kinds[3], &A);
    for (size_t budget = (size_t)8 << 20; budget > 1024; budget /= 3) {
        hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
        hybrid_engine *engine;
        options.device_bytes = budget;
        options.threads      = 2;
        assert_int_equal(hy_engine_open(&options, fakes, variants, &engine), HYBRID_OK);
        check_plan(engine, &A, budget, 1, &passed);
        check_plan(engine, &A, budget, 3, &passed);
        check_plan(engine, &A, budget, 8, &passed);
        hybrid_engine_destroy(engine);
    }
    assert_true(passed > 10);
    matrix_free(&A);
}

static int open_context(void **state)
{
    (void)state;
    ctx = test_context(3);
    return 0;
}

static int close_context(void **state)
{
    (void)state;
    test_context_free(ctx);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packs_are_rows_of_b_in_the_order_of_products),
        cmocka_unit_test(large_packs_too),
        cmocka_unit_test(other_patterns_are_refused),
        cmocka_unit_test(failed_allocations_leave_nothing),
        cmocka_unit_test(every_block_satisfies_the_inequality),
        cmocka_unit_test(the_inequality_is_tight),
        cmocka_unit_test(blocks_of_plans_do),
    };
    return cmocka_run_group_tests_name("esc_dup", tests, open_context, close_context);
}
