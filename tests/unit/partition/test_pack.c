/* tests/unit/partition/test_pack.c - packs contain exactly their part of the operands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/data/csr.h"
#include "partition/pattern/chunks.h"
#include "partition/format/pack.h"
#include "partition/move/sources.h"
#include "tests/support/inputs/cases.h"
#include "tests/support/engines/group.h"
#include "tests/support/check/poison.h"

static const test_kind kinds[]     = {{HYBRID_F32, HYBRID_I32, 1},
                                      {HYBRID_F64, HYBRID_I64, 0}};
static const hybrid_order orders[] = {HYBRID_ROW_MAJOR, HYBRID_COL_MAJOR};

/* ---- packs ---- */

static hy_cost spgemm_cost(const hy_features *f, const hy_rates *rates)
{
    (void)rates;
    return (hy_cost){.pack_bytes = hy_pack_csr_bytes(HY_SPGEMM, f)};
}

static hy_cost spmm_cost(const hy_features *f, const hy_rates *rates)
{
    (void)rates;
    return (hy_cost){.pack_bytes = hy_pack_csr_bytes(HY_SPMM, f),
                     .out_bytes  = hy_rows_bytes(HY_SPMM, f, 0)};
}

static const hy_variant spgemm = {.name = "test", .op = HY_SPGEMM, .cost = spgemm_cost};
static const hy_variant spmm   = {.name = "test", .op = HY_SPMM, .cost = spmm_cost};

/* Sets rank[c] to the new number of row c of B or X if the chunk needs it (numbers
   ascend), else to -1. Returns the number of needed rows. */
static int64_t rank_columns(const hy_problem *p, const hy_chunk *chunk, int64_t *rank)
{
    int64_t count = 0;

    for (int64_t c = 0; c < p->A->cols; c++)
        rank[c] = -1;
    for (int64_t k = hy_offset(p->A, chunk->row_begin);
         k < hy_offset(p->A, chunk->row_end); k++)
        rank[hy_cols(p->A)[k]] = 0;
    for (int64_t c = 0; c < p->A->cols; c++)
        if (rank[c] == 0)
            rank[c] = count++;
    return count;
}

static void check_a(const hy_job *job, const int64_t *rank)
{
    const hybrid_csr *A = job->problem->A;
    const hy_csr_view a = hy_packed_a(job);
    const int64_t first = hy_offset(A, job->chunk->row_begin);

    assert_int_equal(a.rows, job->chunk->row_end - job->chunk->row_begin);
    assert_int_equal(a.nnz, hy_offset(A, job->chunk->row_end) - first);
    for (int64_t i = 0; i <= a.rows; i++)
        assert_int_equal(a.row_ptr[i], hy_offset(A, job->chunk->row_begin + i) - first);
    for (int64_t k = 0; k < a.nnz; k++) {
        const int32_t col = hy_cols(A)[first + k];
        assert_int_equal(a.col[k], rank ? rank[col] : col);
        assert_true(value_at(a.val, A->type, k) == value_at(A->val, A->type, first + k));
    }
}

static void check_gathered_b(const hy_job *job, const int64_t *rank, int64_t count)
{
    const hybrid_csr *B = job->problem->B;
    const hy_csr_view b = hy_packed_b(job);
    int64_t next        = 0;

    assert_int_equal(b.rows, count);
    for (int64_t r = 0; r < B->rows; r++) {
        if (rank[r] < 0)
            continue;
        assert_int_equal(b.row_ptr[rank[r]], next);
        for (int64_t k = hy_offset(B, r); k < hy_offset(B, r + 1); k++, next++) {
            assert_int_equal(b.col[next], hy_cols(B)[k]);
            assert_true(value_at(b.val, B->type, next) == value_at(B->val, B->type, k));
        }
    }
    assert_int_equal(b.nnz, next);
    assert_int_equal(b.row_ptr[b.rows], next);
}

/* Copies the rows of B into the pack, as a device does that reads them itself. */
static void collect(const hy_job *job)
{
    const hybrid_csr *B    = job->problem->B;
    const hy_listed listed = job->listed;
    const size_t size      = hy_value_size(B->type);
    char *base             = job->pack.mem.ptr;
    int64_t *row_ptr       = (void *)(base + job->pack.at[HY_GATHER_ROW_PTR]);
    int64_t *from          = malloc((size_t)(listed.rows + 1) * sizeof *from);

    assert_non_null(from);
    memcpy(from, listed.from, (size_t)listed.rows * sizeof *from);
    assert_int_equal(row_ptr[listed.rows], listed.entries);
    for (int64_t r = 0; r < listed.rows; r++) {
        const size_t n = (size_t)(row_ptr[r + 1] - row_ptr[r]), at = (size_t)row_ptr[r];
        memcpy(base + job->pack.at[HY_GATHER_COL] + at * 4, hy_cols(B) + from[r], n * 4);
        memcpy(base + job->pack.at[HY_GATHER_VAL] + at * size,
               (const char *)B->val + (size_t)from[r] * size, n * size);
    }
    free(from);
}

static void check_gathered_x(const hy_job *job, const int64_t *rank)
{
    const hybrid_dense *X = job->problem->X;
    const hy_dense_view x = hy_packed_x(job);
    const int64_t first   = job->chunk->col_begin;
    const int64_t columns = job->chunk->col_end - first;

    assert_int_equal(x.ld, columns);
    for (int64_t r = 0; r < X->rows; r++)
        for (int64_t j = 0; rank[r] >= 0 && j < columns; j++)
            assert_true(value_at(x.x, X->type, rank[r] * x.ld + j) ==
                        dense_at(X, r, first + j));
}

static int64_t listed; /* number of packs with a list in place of rows of B */

static void check_pack(const hy_problem *problem, const hy_chunk *chunk)
{
    const size_t bytes = hy_pack_csr_bytes(problem->op, &chunk->features);
    hy_job job         = {.problem = problem, .chunk = chunk, .variant = chunk->variant};
    int64_t *rank      = malloc((size_t)(problem->A->cols + 1) * 8);

    assert_non_null(rank);
    job.pack.mem = (hy_buffer){poison_block(bytes), bytes, HY_PINNED};
    assert_int_equal(hy_pack_csr(&job), HYBRID_OK);
    assert_int_equal(job.pack.bytes, bytes);
    assert_true(poison_guard_intact(job.pack.mem.ptr, bytes));
    job.in = job.pack.mem;
    if (job.listed.from)
        collect(&job);
    listed += job.listed.from != NULL;
    if (hy_job_gathers(&job)) {
        const int64_t count = rank_columns(problem, chunk, rank);
        check_a(&job, rank);
        if (problem->op == HY_SPGEMM)
            check_gathered_b(&job, rank, count);
        else
            check_gathered_x(&job, rank);
    } else {
        check_a(&job, NULL);
    }
    free(job.pack.mem.ptr);
    free(rank);
}

/* A chunk whose plan has room for a row of B for each entry of A brings these rows in the
   order of the entries. */
static void check_pack_of_entries(const hy_problem *problem, const hy_chunk *planned)
{
    const hybrid_csr *A = problem->A, *B = problem->B;
    hy_chunk chunk             = *planned;
    chunk.fewer                = 1;
    chunk.features.gather_rows = chunk.features.nnz;
    chunk.features.gather_nnz  = chunk.features.products;
    const size_t bytes         = hy_pack_csr_bytes(HY_SPGEMM, &chunk.features);
    const int64_t first        = hy_offset(A, chunk.row_begin);
    hy_job job = {.problem = problem, .chunk = &chunk, .variant = chunk.variant};

    job.pack.mem = (hy_buffer){poison_block(bytes), bytes, HY_PINNED};
    assert_int_equal(hy_pack_csr(&job), HYBRID_OK);
    assert_true(poison_guard_intact(job.pack.mem.ptr, bytes));
    job.in = job.pack.mem;
    if (job.listed.from)
        collect(&job);
    const hy_csr_view a = hy_packed_a(&job), b = hy_packed_b(&job);
    for (int64_t k = 0, next = 0; k < a.nnz; k++) {
        const int64_t row = hy_cols(A)[first + k];
        assert_int_equal(a.col[k], k);
        assert_true(value_at(a.val, A->type, k) == value_at(A->val, A->type, first + k));
        assert_int_equal(b.row_ptr[k], next);
        for (int64_t e = hy_offset(B, row); e < hy_offset(B, row + 1); e++, next++) {
            assert_int_equal(b.col[next], hy_cols(B)[e]);
            assert_true(value_at(b.val, B->type, next) == value_at(B->val, B->type, e));
        }
        assert_int_equal(b.row_ptr[k + 1], next);
    }
    free(job.pack.mem.ptr);
}

/* Checks the packs of chunks that fit any memory, a quarter of what all rows need, and a
   sixteenth. */
static void check_packs(const hy_problem *problem, const hy_profile *profile,
                        hy_axis axis)
{
    hy_cut cut            = {.A            = problem->A,
                             .B            = problem->op == HY_SPGEMM ? problem->B : NULL,
                             .profile      = profile,
                             .variant      = problem->op == HY_SPGEMM ? &spgemm : &spmm,
                             .slot_bytes   = SIZE_MAX / 4,
                             .products_max = INT64_MAX,
                             .image        = {.axis = axis}};
    hy_problem with_image = *problem;
    hy_chunk *chunks;
    int64_t count;

    with_image.image.axis = axis;
    with_image.collects   = 1;
    for (int parts = 1; parts <= 16; parts *= 4) {
        hy_features all = hy_profile_range(profile, 0, profile->rows, profile->out_cols);
        const hy_cost cost = cut.variant->cost(&all, NULL);
        if (parts > 1) /* a chunk then has only a part of A and of the result */
            cut.slot_bytes = hy_cost_bytes(&cost) / (size_t)parts;
        if (hy_cut_chunks(ctx, &cut, &chunks, &count) != HYBRID_OK)
            return;
        for (int64_t i = 0; i < count; i++) {
            check_pack(&with_image, &chunks[i]);
            if (cut.B && axis == HY_AXIS_COLLECTED)
                check_pack_of_entries(&with_image, &chunks[i]);
        }
        hy_array_free(ctx, chunks);
    }
}

static void check_case(int i, test_kind kind)
{
    test_case c;
    hy_profile profile;
    hybrid_dense X;

    case_make(i, kind, &c);
    hy_problem problem = {.op = HY_SPGEMM, .ctx = ctx, .A = &c.A, .B = &c.B};
    assert_int_equal(hy_inspect(ctx, &c.A, &c.B, 0, NULL, &profile), HYBRID_OK);
    check_packs(&problem, &profile, HY_AXIS_NONE);
    check_packs(&problem, &profile, HY_AXIS_GATHERED);
    check_packs(&problem, &profile, HY_AXIS_COLLECTED);
    hy_profile_free(ctx, &profile);
    problem.op = HY_SPMM;
    problem.B  = NULL;
    problem.X  = &X;
    for (int order = 0; order < 2; order++) {
        dense_make(c.A.cols, 37, 3, orders[order], 5, kind, &X);
        problem.source = hy_source_dense(ctx, &X);
        assert_int_equal(hy_inspect(ctx, &c.A, NULL, X.cols, NULL, &profile), HYBRID_OK);
        check_packs(&problem, &profile, HY_AXIS_NONE);
        check_packs(&problem, &profile, HY_AXIS_GATHERED);
        hy_profile_free(ctx, &profile);
        dense_free(&X);
    }
    case_free(&c);
}

static void packs_are_slices(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int i = 0; i < case_count(); i++)
            check_case(i, kinds[k]);
    assert_true(listed > 0);
}

/* The matrices are so long that workers pack them in several pieces. A * A is packed,
   too. */
static void large_packs_are_slices(void **state)
{
    hybrid_csr A;
    hy_profile profile;

    (void)state;
    matrix_random(30000, 30000, 8, 3, kinds[0], &A);
    const hy_problem problem = {.op = HY_SPGEMM, .ctx = ctx, .A = &A, .B = &A};
    assert_int_equal(hy_inspect(ctx, &A, &A, 0, NULL, &profile), HYBRID_OK);
    check_packs(&problem, &profile, HY_AXIS_NONE);
    check_packs(&problem, &profile, HY_AXIS_GATHERED);
    check_packs(&problem, &profile, HY_AXIS_COLLECTED);
    hy_profile_free(ctx, &profile);
    matrix_free(&A);
}

/* Packing a chunk that was cut for a matrix with another pattern must fail, and not
   write beyond its memory. */
static void other_patterns_are_refused(void **state)
{
    test_case c;
    hybrid_csr other;
    char block[8192];

    (void)state;
    case_named("banded", kinds[0], &c);
    hy_chunk chunk = {.row_end = 3, .col_end = c.B.cols};
    hy_problem p   = {.op    = HY_SPGEMM,
                      .ctx   = ctx,
                      .A     = &c.A,
                      .B     = &c.B,
                      .image = {.axis = HY_AXIS_GATHERED}};
    hy_job job     = {.problem = &p, .chunk = &chunk};
    job.pack.mem   = (hy_buffer){block, sizeof block, HY_PINNED};
    chunk.features = (hy_features){.rows        = 3,
                                   .nnz         = hy_offset(&c.A, 3),
                                   .out_cols    = c.B.cols,
                                   .gather_rows = 7,
                                   .gather_nnz  = hy_offset(&c.B, 7),
                                   .type        = HYBRID_F32};
    hy_message_clear(&ctx->message);
    assert_int_equal(hy_pack_csr(&job), HYBRID_OK);
    job.pack.mem.bytes = hy_pack_csr_bytes(HY_SPGEMM, &chunk.features) - 1;
    assert_int_equal(hy_pack_csr(&job), HYBRID_BAD_STATE);
    assert_non_null(strstr(ctx->message.text, " were reserved"));
    job.pack.mem.bytes = sizeof block;
    chunk.features.gather_nnz--;
    assert_int_equal(hy_pack_csr(&job), HYBRID_BAD_STATE);
    chunk.features.gather_nnz++;
    chunk.features.gather_rows--;
    assert_int_equal(hy_pack_csr(&job), HYBRID_BAD_STATE);
    chunk.features.gather_rows++;
    matrix_random(c.A.rows, c.A.cols, 3, 1, kinds[0], &other);
    p.A = &other;
    assert_int_equal(hy_pack_csr(&job), HYBRID_BAD_STATE);
    matrix_free(&other);
    case_free(&c);
}

static void failed_allocations_leave_nothing(void **state)
{
    test_case c;
    char block[8192];
    const int64_t before = hy_meter_used(&ctx->memory.meter);

    (void)state;
    case_named("banded", kinds[0], &c);
    const hy_problem p   = {.op    = HY_SPGEMM,
                            .ctx   = ctx,
                            .A     = &c.A,
                            .B     = &c.B,
                            .image = {.axis = HY_AXIS_GATHERED}};
    const hy_chunk chunk = {.row_end  = 3,
                            .col_end  = c.B.cols,
                            .features = {.rows        = 3,
                                         .nnz         = hy_offset(&c.A, 3),
                                         .out_cols    = c.B.cols,
                                         .gather_rows = 7,
                                         .gather_nnz  = hy_offset(&c.B, 7),
                                         .type        = HYBRID_F32}};
    hy_job job           = {.problem = &p, .chunk = &chunk};
    job.pack.mem         = (hy_buffer){block, sizeof block, HY_PINNED};
    for (int failing = 1; failing <= 3; failing++) {
        ctx->memory.failures = failing;
        assert_int_equal(hy_pack_csr(&job), HYBRID_NO_MEMORY);
        assert_int_equal(hy_meter_used(&ctx->memory.meter), before);
    }
    ctx->memory.failures = 0;
    assert_int_equal(hy_pack_csr(&job), HYBRID_OK);
    assert_int_equal(hy_meter_used(&ctx->memory.meter), before);
    case_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packs_are_slices),
        cmocka_unit_test(large_packs_are_slices),
        cmocka_unit_test(other_patterns_are_refused),
        cmocka_unit_test(failed_allocations_leave_nothing),
    };
    return cmocka_run_group_tests_name("pack", tests, open_context, close_context);
}
