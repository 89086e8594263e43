/* tests/unit/partition/test_pack_tiled.c - the format of spmm.cuda.tiled contains the
   rows of A and gives the right product.

   A strip is a row of A or a segment of one, and a slice is 32 strips
   (partition/tiled/strips.h). The paper is that of Tiled SpMM (docs/papers.md). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/data/csr.h"
#include "engine/api/engine.h"
#include "partition/pattern/chunks.h"
#include "partition/move/sources.h"
#include "tests/support/inputs/builder.h"
#include "tests/support/fake/fake_backend.h"
#include "tests/support/runs/gathered.h"
#include "tests/support/engines/group.h"
#include "tests/support/check/oracle.h"
#include "tests/support/check/poison.h"
#include "tests/support/check/tiled_reader.h"
#include "tests/support/subjects/tiled_matrices.h"

extern const hy_backend_ops hy_host_backend_ops;

static const test_kind kinds[] = {{HYBRID_F32, HYBRID_I32, 1},
                                  {HYBRID_F64, HYBRID_I64, 0}};

/* Parameters of the variant below, which tests change: maximum number of entries of a
   segment (a part of a long row), order of the strips (rows or segments) in a panel,
   and 1 for the paper's form. */
static int64_t segment;
static hy_tiled_order order;
static int paper;

static hy_tiled_rules rules_for(const hy_features *f)
{
    return (hy_tiled_rules){.segment  = segment,
                            .partials = 2 * f->nnz / segment,
                            .order    = order,
                            .paper    = paper};
}

static hy_cost cost(const hy_features *f, const hy_rates *rates)
{
    const hy_tiled_rules rules = rules_for(f);

    (void)rates;
    return (hy_cost){.pack_bytes = hy_pack_tiled_bytes(f, &rules),
                     .out_bytes  = hy_rows_bytes(HY_SPMM, f, 0)};
}

static const hy_variant variant = {.name = "test", .op = HY_SPMM, .cost = cost};

/* ---- packs ---- */

static void check_x(const hy_job *job, const int64_t *rank)
{
    const hybrid_dense *X = job->problem->X;
    const hy_cols_view x  = hy_packed_x_cols(job);

    for (int64_t r = 0; r < X->rows; r++)
        for (int64_t j = 0; rank[r] >= 0 && j < x.cols; j++)
            assert_true(value_at(x.x, X->type, rank[r] + j * x.rows) ==
                        dense_at(X, r, job->chunk->col_begin + j));
}

/* Packs and checks a chunk. Returns 1 if its rows were sorted. */
static int check_pack(const hy_problem *problem, const hy_chunk *chunk)
{
    const hy_tiled_rules rules = rules_for(&chunk->features);
    const size_t bytes         = hy_pack_tiled_bytes(&chunk->features, &rules);
    hy_job job    = {.problem = problem, .chunk = chunk, .variant = chunk->variant};
    int64_t *rank = malloc((size_t)(problem->A->cols + 1) * 8);

    assert_non_null(rank);
    job.pack.mem = (hy_buffer){poison_block(bytes), bytes, HY_PINNED};
    assert_int_equal(hy_pack_tiled(&job, &rules), HYBRID_OK);
    assert_true(job.pack.bytes <= bytes);
    assert_true(poison_intact(job.pack.mem.ptr, job.pack.bytes, bytes));
    assert_true(poison_guard_intact(job.pack.mem.ptr, bytes));
    job.in                   = job.pack.mem;
    const hy_tiled_view view = hy_packed_tiled(&job);
    if (hy_job_gathers(&job)) {
        gathered_ranks(&job, rank);
        check_x(&job, rank);
    }
    tiled_check(&job, &view, hy_job_gathers(&job) ? rank : NULL, &rules);
    free(job.pack.mem.ptr);
    free(rank);
    return (int)view.head.reordered;
}

/* Checks the pack of all rows, of chunks of some rows, and of chunks with a quarter of
   the memory. Returns in how many chunks rows were sorted. */
static int64_t check_packs(const hy_problem *problem, const hy_profile *profile,
                           int gathered)
{
    static const int64_t rows[] = {7, 0, 300, 0};
    int64_t count, sorted = 0;
    hy_chunk *chunks;

    for (int i = problem->A->rows < 500 ? 0 : 1; i < 4; i++) {
        const hy_cost whole = cost(&profile->features, NULL);
        const size_t room   = i < 3 ? SIZE_MAX / 4 : hy_cost_bytes(&whole) / 4;
        const hy_cut cut    = {
               .A            = problem->A,
               .profile      = profile,
               .variant      = &variant,
               .slot_bytes   = room,
               .products_max = INT64_MAX,
               .chunk_rows   = rows[i],
               .image        = {.axis = gathered ? HY_AXIS_GATHERED : HY_AXIS_NONE}};
        hy_problem with_image = *problem;
        with_image.image.axis = cut.image.axis;
        if (hy_cut_chunks(ctx, &cut, &chunks, &count) != HYBRID_OK)
            continue;
        for (int64_t k = 0; k < count; k++)
            sorted += check_pack(&with_image, &chunks[k]);
        hy_array_free(ctx, chunks);
    }
    return sorted;
}

static int64_t check_matrix(const hybrid_csr *A, test_kind kind)
{
    static const int64_t segments[] = {1000, 1, 5};
    const hybrid_order x_order      = kind.integers ? HYBRID_ROW_MAJOR : HYBRID_COL_MAJOR;
    int64_t sorted                  = 0;
    hy_profile profile;
    hybrid_dense X;

    dense_make(A->cols, 9, 2, x_order, 5, kind, &X);
    const hy_problem problem = {.op     = HY_SPMM,
                                .ctx    = ctx,
                                .A      = A,
                                .X      = &X,
                                .source = hy_source_dense(ctx, &X),
                                .image  = {.form = HY_FORM_SLABS}};
    assert_int_equal(hy_inspect(ctx, A, NULL, X.cols, NULL, &profile), HYBRID_OK);
    for (int i = 0; i < 3; i++)
        for (int gathered = 0; gathered < 2; gathered++) {
            segment = segments[i];
            sorted += check_packs(&problem, &profile, gathered);
        }
    hy_profile_free(ctx, &profile);
    dense_free(&X);
    return sorted;
}

static void check_cases(void)
{
    test_case c;

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int i = 0; i < case_count(); i++) {
            case_make(i, kinds[k], &c);
            check_matrix(&c.A, kinds[k]);
            case_free(&c);
        }
}

static void packs_are_slices(void **state)
{
    (void)state;
    check_cases();
}

/* Checks packs in the paper's form, in which all strips of a slice are padded to the
   same number of entries. */
static void packs_of_the_paper_are_padded(void **state)
{
    (void)state;
    paper = 1;
    check_cases();
    paper = 0;
}

/* ---- larger matrices ---- */

/* Forms (parameters) of the tiled variant in which the fake device computes. */
static const char *const forms[] = {
    NULL,
    "spmm.fake.tiled:R=4",
    "spmm.fake.tiled:R=16,segment=on,reorder=on",
    "spmm.fake.tiled:segment=off,reorder=off",
    "spmm.fake.tiled:paper=1",
    "spmm.fake.tiled:paper=1,segment=on,reorder=on",
    "spmm.fake.tiled:paper=1,R=8,segment=off,reorder=off",
};
enum { FORMS = sizeof forms / sizeof *forms };

/* Checks the product that the fake device computes from a form of the format. */
static void check_form(const hybrid_csr *A, test_kind kind, hybrid_order x_order,
                       const char *form)
{
    static const hy_backend_ops *const fakes[] = {&hy_fake_backend_ops,
                                                  &hy_host_backend_ops, NULL};
    static const hy_variant *const tiled[]     = {&hy_spmm_fake_tiled, NULL};
    hybrid_engine_options options              = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_plan_options wanted                 = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_engine *engine;
    hybrid_plan *plan;
    hybrid_dense X, Y, before;

    options.threads = 3;
    fake_delays(1, 0);
    assert_int_equal(fake_engine_open(&options, fakes, tiled, &engine), HYBRID_OK);
    dense_make(A->cols, 11, 1, x_order, 5, kind, &X);
    dense_make(A->rows, 11, 2, x_order, 6, kind, &Y);
    dense_copy(&Y, &before);
    wanted.variant = form;
    wanted.order   = x_order;
    assert_int_equal(hybrid_spmm_plan(engine, A, X.cols, &wanted, &plan), HYBRID_OK);
    assert_int_equal(hybrid_spmm_run(plan, 2, A, &X, -1, &Y), HYBRID_OK);
    hybrid_plan_destroy(plan);
    assert_null(oracle_check_spmm(2, A, &X, -1, &before, &Y, kind.integers));
    assert_true(dense_gaps_intact(&Y));
    dense_free(&X);
    dense_free(&Y);
    dense_free(&before);
    hybrid_engine_destroy(engine);
}

static int64_t check_all(hybrid_csr A, test_kind kind)
{
    const int64_t sorted = check_matrix(&A, kind);

    for (int i = 0; i < FORMS; i++)
        check_form(&A, kind, i % 2 ? HYBRID_ROW_MAJOR : HYBRID_COL_MAJOR, forms[i]);
    check_form(&A, kind, HYBRID_ROW_MAJOR, NULL);
    matrix_free(&A);
    return sorted;
}

static void panels_and_tiles_have_edges(void **state)
{
    static const int64_t shapes[][2] = {{255, 767}, {256, 768}, {257, 769},  {600, 768},
                                        {256, 769}, {257, 768}, {255, 1537}, {512, 1536}};

    (void)state;
    for (int i = 0; i < 8; i++)
        check_all(tiled_spread(shapes[i][0], shapes[i][1], kinds[i % 2]), kinds[i % 2]);
}

static void long_and_empty_rows_are_whole(void **state)
{
    (void)state;
    check_all(tiled_skewed(3000, 9000, kinds[0]), kinds[0]);
    /* X has several slabs (ranges of rows) */
    check_all(tiled_skewed(700, 70000, kinds[1]), kinds[1]);
}

/* Sorting restores a permuted band. A band in order and random rows are not sorted. */
static void rows_are_sorted_when_it_pays(void **state)
{
    hybrid_csr random;

    (void)state;
    assert_true(check_all(tiled_band(4000, 1411, kinds[0]), kinds[0]) > 0);
    assert_int_equal(check_all(tiled_band(4000, 1, kinds[1]), kinds[1]), 0);
    matrix_random(3000, 3000, 6, 3, kinds[0], &random);
    assert_int_equal(check_all(random, kinds[0]), 0);
}

static void sorting_can_be_forced(void **state)
{
    (void)state;
    order = HY_TILED_SORT_NEVER;
    assert_int_equal(check_all(tiled_band(4000, 1411, kinds[0]), kinds[0]), 0);
    order = HY_TILED_SORT_ALWAYS;
    assert_true(check_all(tiled_band(4000, 1411, kinds[0]), kinds[0]) > 0);
    order = HY_TILED_SORT_IF_BETTER;
}

/* In the paper's form rows stay sorted only if sorting raises rho, the mean number of a
   panel's entries for each row of X that the panel needs. */
static void rows_of_the_paper_are_sorted_if_they_share_more(void **state)
{
    (void)state;
    paper = 1;
    assert_true(check_all(tiled_in_turn(1000, 2, kinds[0]), kinds[0]) > 0);
    assert_int_equal(check_all(tiled_in_turn(1000, 1, kinds[1]), kinds[1]), 0);
    paper = 0;
}

/* ---- bounds, failures ---- */

static void bytes_grow_with_rows(void **state)
{
    hybrid_csr A = tiled_skewed(900, 40, kinds[0]);
    hy_profile profile;

    (void)state;
    assert_int_equal(hy_inspect(ctx, &A, NULL, 70, NULL, &profile), HYBRID_OK);
    for (segment = 1; segment < 5000; segment *= 3)
        for (int64_t end = 1; end < A.rows; end++) {
            const hy_features f       = hy_profile_range(&profile, 0, end, 70);
            const hy_features next    = hy_profile_range(&profile, 0, end + 1, 70);
            const hy_tiled_rules less = rules_for(&f), more = rules_for(&next);
            assert_true(hy_pack_tiled_bytes(&f, &less) <=
                        hy_pack_tiled_bytes(&next, &more));
        }
    hy_profile_free(ctx, &profile);
    matrix_free(&A);
}

/* Checks that packing a chunk fails without a leak if any of its allocations fails. */
static void check_failures(void)
{
    hybrid_csr A         = tiled_band(3000, 1411, kinds[0]);
    const int64_t before = hy_meter_used(&ctx->memory.meter);
    hy_profile profile;
    int failing = 1;

    segment = 4;
    assert_int_equal(hy_inspect(ctx, &A, NULL, 0, NULL, &profile), HYBRID_OK);
    const hy_problem p = {
        .op = HY_SPMM, .ctx = ctx, .A = &A, .image = {.form = HY_FORM_SLABS}};
    hy_chunk chunk             = {.row_end = A.rows, .features = profile.features};
    const hy_tiled_rules rules = rules_for(&chunk.features);
    const size_t bytes         = hy_pack_tiled_bytes(&chunk.features, &rules);
    hy_job job                 = {.problem = &p, .chunk = &chunk};
    job.pack.mem               = (hy_buffer){poison_block(bytes), bytes, HY_PINNED};
    hy_profile_free(ctx, &profile);
    for (;; failing++) {
        ctx->memory.failures       = failing;
        const hybrid_status status = hy_pack_tiled(&job, &rules);
        assert_int_equal(hy_meter_used(&ctx->memory.meter), before);
        if (status == HYBRID_OK)
            break;
        assert_int_equal(status, HYBRID_NO_MEMORY);
        hy_message_clear(&ctx->message);
    }
    assert_true(failing > 10);
    ctx->memory.failures = 0;
    job.pack.mem.bytes   = 1000;
    assert_int_equal(hy_pack_tiled(&job, &rules), HYBRID_BAD_STATE);
    assert_non_null(strstr(ctx->message.text, " were reserved"));
    chunk.features.nnz--;
    assert_int_equal(hy_pack_tiled(&job, &rules), HYBRID_BAD_STATE);
    assert_int_equal(hy_meter_used(&ctx->memory.meter), before);
    hy_message_clear(&ctx->message);
    free(job.pack.mem.ptr);
    matrix_free(&A);
}

static void failures_leave_nothing(void **state)
{
    (void)state;
    check_failures();
    paper = 1;
    check_failures();
    paper = 0;
}

/* Packing is refused if padding would exceed the pack's memory: each slice has one row of
   71 680 entries and 31 empty rows, which the paper's form pads to that length. */
static void packs_of_much_padding_are_refused(void **state)
{
    builder b = build_start(512, 71680);

    (void)state;
    for (int64_t i = 0; i < 512; i++) {
        for (int64_t j = 0; j < (i % 32 == 0 ? 71680 : 0); j++)
            build_add(&b, j);
        build_end_row(&b);
    }
    hybrid_csr A                = build_finish(&b, 8, kinds[0]);
    const hy_problem p          = {.op = HY_SPMM, .ctx = ctx, .A = &A};
    const hy_chunk chunk        = {.row_end  = A.rows,
                                   .features = {.rows = A.rows, .nnz = A.nnz, .type = A.type}};
    const hy_tiled_rules padded = {
        .segment = INT64_MAX, .paper = 1, .order = HY_TILED_SORT_NEVER};
    hy_job job = {.problem = &p, .chunk = &chunk};
    assert_int_equal(hy_pack_tiled(&job, &padded), HYBRID_UNSUPPORTED);
    assert_non_null(strstr(ctx->message.text, "more than its pack holds"));
    hy_message_clear(&ctx->message);
    matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packs_are_slices),
        cmocka_unit_test(packs_of_the_paper_are_padded),
        cmocka_unit_test(panels_and_tiles_have_edges),
        cmocka_unit_test(long_and_empty_rows_are_whole),
        cmocka_unit_test(rows_are_sorted_when_it_pays),
        cmocka_unit_test(sorting_can_be_forced),
        cmocka_unit_test(rows_of_the_paper_are_sorted_if_they_share_more),
        cmocka_unit_test(bytes_grow_with_rows),
        cmocka_unit_test(failures_leave_nothing),
        cmocka_unit_test(packs_of_much_padding_are_refused),
    };
    return cmocka_run_group_tests_name("pack_tiled", tests, open_context, close_context);
}
