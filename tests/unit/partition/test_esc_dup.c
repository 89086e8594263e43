/* tests/unit/partition/test_esc_dup.c - chunks of spgemm.cuda.esc_dup satisfy the
   inequality of hySpMM. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/data/csr.h"
#include "engine/plan/plan.h"
#include "partition/pattern/chunks.h"
#include "partition/format/pack.h"
#include "tests/support/inputs/builder.h"
#include "tests/support/inputs/cases.h"
#include "tests/support/fake/fake_backend.h"
#include "tests/support/engines/group.h"

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

/* ---- the inequality of the paper ---- */

/* Returns the number of scalar products of rows [begin, end) of A. */
static int64_t products_of(const hybrid_csr *A, const hybrid_csr *B, int64_t begin,
                           int64_t end)
{
    int64_t products = 0;

    for (int64_t k = hy_offset(A, begin); k < hy_offset(A, end); k++)
        products += hy_offset(B, hy_cols(A)[k] + 1) - hy_offset(B, hy_cols(A)[k]);
    return products;
}

/* Returns the number of entries in those rows of B that A touches. */
static int64_t nnz_used(const hybrid_csr *A, const hybrid_csr *B)
{
    char *seen  = calloc((size_t)B->rows + 1, 1);
    int64_t nnz = 0;

    assert_non_null(seen);
    for (int64_t k = 0; k < A->nnz; k++)
        seen[hy_cols(A)[k]] = 1;
    for (int64_t i = 0; i < B->rows; i++)
        nnz += seen[i] ? hy_offset(B, i + 1) - hy_offset(B, i) : 0;
    free(seen);
    return nnz;
}

/* Checks the inequality of hySpMM for each block (chunk) of a cut: (nnz_A + nnz_B) / nb
   + nnz(C'_block) <= 0.9 M / np. nnz_B counts rows of B that A touches, nb is the number
   of blocks, nnz(C'_block) the scalar products of a block, M the number of entries that
   fit `budget` bytes, and np the number of chunks in flight. Returns the maximum of left
   side / right side. */
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

/* Checks the cuts for budgets from twice the bytes of all rows down to one that holds no
   row. Raises *most to the maximum of check_inequality(). Returns the number of checked
   cuts. */
static int check_budgets(const hybrid_csr *A, const hybrid_csr *B, int np, double *most)
{
    hy_profile profile;
    hy_chunk *chunks;
    int64_t count;
    int checked = 0;

    assert_int_equal(hy_inspect(ctx, A, B, 0, NULL, &profile), HYBRID_OK);
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

/* Makes a rows x cols matrix with length(i) entries in row i. */
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

/* Checks many products; in some A has empty rows, or needs only some rows of B. */
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

/* Blocks nearly reach the limit of the inequality: each row of B is needed once, so that
   B's share is as large as the scalar products, and B has so few columns that the
   scratch memory alone limits the size of blocks. */
static void the_inequality_is_tight(void **state)
{
    enum { ROWS = 400, LENGTH = 32, WIDTH = 32 };

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
        assert_true(most > 0.93);
        matrix_free(&A);
        matrix_free(&B);
    }
}

/* ---- the inequality in plans ---- */

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
    assert_int_equal(plan->portions->layout.image_room, 0);
    assert_int_equal(hy_image_is_gathered(&plan->portions->layout.image), 0);
    for (int64_t i = 0; i < plan->portions->layout.count; i++)
        assert_int_equal(plan->portions->layout.chunks[i].features.gather_nnz, 0);
    check_inequality(A, A, plan->portions->layout.chunks, plan->portions->layout.count,
                     budget, plan->portions->site->depth);
    *passed +=
        plan->portions->layout.count > depth && plan->portions->site->depth == depth;
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
        assert_int_equal(fake_engine_open(&options, fakes, variants, &engine), HYBRID_OK);
        check_plan(engine, &A, budget, 1, &passed);
        check_plan(engine, &A, budget, 3, &passed);
        check_plan(engine, &A, budget, 8, &passed);
        hybrid_engine_destroy(engine);
    }
    assert_true(passed > 10);
    matrix_free(&A);
}

/* ---- its name ---- */

static int candidates(hybrid_engine *engine, const hybrid_csr *A, const char *variant,
                      const char *chosen)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan;

    options.variant = variant;
    assert_int_equal(hybrid_spgemm_plan(engine, A, A, &options, &plan), HYBRID_OK);
    const int count = plan->candidates.count;
    assert_string_equal(plan->portions->variant->name, chosen);
    hybrid_plan_destroy(plan);
    return count;
}

/* "spgemm.cuda.esc" is a prefix of "spgemm.cuda.esc_dup": a full name must select only
   its own variant. */
static void a_name_means_itself_alone(void **state)
{
    static const hy_backend_ops *const fakes[] = {&hy_fake_backend_ops, NULL};
    hybrid_engine_options options              = HYBRID_ENGINE_OPTIONS_INIT;
    hy_variant longer                          = hy_spgemm_fake_esc;
    const hy_variant *const variants[]         = {&longer, &hy_spgemm_fake_esc, NULL};
    hybrid_engine *engine;
    hybrid_csr A;

    (void)state;
    longer.name     = "spgemm.fake.esc_dup";
    options.threads = 2;
    matrix_random(50, 50, 3, 4, kinds[0], &A);
    assert_int_equal(fake_engine_open(&options, fakes, variants, &engine), HYBRID_OK);
    assert_int_equal(candidates(engine, &A, "spgemm.fake.esc", "spgemm.fake.esc"), 1);
    assert_int_equal(candidates(engine, &A, longer.name, longer.name), 1);
    assert_int_equal(candidates(engine, &A, "spgemm.fake.es", longer.name), 2);
    hybrid_engine_destroy(engine);
    matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_block_satisfies_the_inequality),
        cmocka_unit_test(the_inequality_is_tight),
        cmocka_unit_test(blocks_of_plans_do),
        cmocka_unit_test(a_name_means_itself_alone),
    };
    return cmocka_run_group_tests_name("esc_dup", tests, open_context, close_context);
}
