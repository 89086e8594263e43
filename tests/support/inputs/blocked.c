/* tests/support/inputs/blocked.c - checks packs of blocks element by element. */
#include "tests/support/inputs/blocked.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/data/csr.h"
#include "partition/move/sources.h"
#include "partition/pattern/chunks.h"
#include "tests/support/inputs/builder.h"
#include "tests/support/runs/gathered.h"
#include "tests/support/check/oracle.h"
#include "tests/support/check/poison.h"

static const test_kind kinds[] = {{HYBRID_F32, HYBRID_I32, 1},
                                  {HYBRID_F64, HYBRID_I64, 0}};

static const hy_block_shape shapes[] = {{1, 8}, {8, 1}, {2, 3}, {5, 7}};

enum {
    KINDS       = 2,
    SHAPES      = sizeof shapes / sizeof *shapes,
    MOST_CHUNKS = 500 /* chunk sizes that cut a matrix into more chunks are skipped */
};

static const blocked_format *current;

int32_t blocked_parameters[HY_PARAMETERS];

static hy_cost cost(const hy_features *f, const hy_rates *rates)
{
    (void)rates;
    return (hy_cost){.pack_bytes = current->bytes(f),
                     .out_bytes  = hy_rows_bytes(HY_SPMM, f, 0)};
}

static const hy_variant variant = {.name = "test", .op = HY_SPMM, .cost = cost};

/* ---- blocks ---- */

static int is_none(const blocked_reader *r, const void *val, int64_t k)
{
    const hybrid_type type = r->job->problem->A->type;
    return value_at(val, type, k) == 0 && signbit(value_at(val, type, k));
}

/* Returns the index of A's entry in row `row` and in column `col` of the packed X; -1 if
   there is none. */
static int64_t find_entry(const blocked_reader *r, int64_t row, int64_t col)
{
    const hybrid_csr *A = r->job->problem->A;

    for (int64_t k = hy_offset(A, row); k < hy_offset(A, row + 1); k++)
        if ((r->rank ? r->rank[hy_cols(A)[k]] : hy_cols(A)[k]) == col)
            return k;
    return -1;
}

static void take_element(blocked_reader *r, int64_t row, int64_t col, double value)
{
    const hybrid_csr *A = r->job->problem->A;

    assert_in_range(row, r->job->chunk->row_begin, r->job->chunk->row_end - 1);
    const int64_t k = find_entry(r, row, col);
    assert_true(k >= 0 && !r->seen[k]);
    assert_true(value == value_at(A->val, A->type, k));
    r->seen[k] = 1;
}

static int64_t row_of(const blocked_reader *r, int64_t block_row, int i)
{
    return r->job->chunk->row_begin + block_row * r->shape.rows - r->before + i;
}

void blocked_add(blocked_reader *r, int64_t block_row, int32_t col, const void *val,
                 int64_t at, int64_t stride)
{
    const hybrid_type type = r->job->problem->A->type;
    const void *x          = hy_packed_x(r->job).x;

    assert_true(col >= 0 && col + r->shape.cols <= r->x_rows);
    for (int e = 0; e < r->shape.rows * r->shape.cols; e++) {
        const int i = e / r->shape.cols, j = e % r->shape.cols;
        const double a = value_at(val, type, at + e * stride);
        if (is_none(r, val, at + e * stride))
            continue;
        take_element(r, row_of(r, block_row, i), col + j, a);
        r->sum[i] += a * value_at(x, type, col + j);
    }
}

void blocked_store(blocked_reader *r, int64_t block_row)
{
    const hy_chunk *chunk = r->job->chunk;

    for (int i = 0; i < r->shape.rows; i++) {
        const int64_t row = row_of(r, block_row, i);
        if (row >= chunk->row_begin && row < chunk->row_end) {
            assert_false(r->stored[row]);
            r->stored[row] = 1;
            value_set(r->Y->data, r->Y->type, row, r->sum[i]);
        } else {
            assert_true(r->sum[i] == 0);
        }
        r->sum[i] = 0;
    }
}

/* ---- packs ---- */

static void check_pack(const hy_problem *problem, const hy_chunk *chunk,
                       const blocked_reader *all)
{
    const size_t bytes = current->bytes(&chunk->features);
    hy_job job         = {.problem = problem, .chunk = chunk, .variant = chunk->variant};
    int64_t *rank      = malloc((size_t)(problem->A->cols + 1) * 8);
    blocked_reader r   = *all;
    const int gathers  = hy_job_gathers(&job);

    assert_non_null(rank);
    job.pack.mem = (hy_buffer){poison_block(bytes), bytes, HY_PINNED};
    assert_int_equal(current->pack(&job), HYBRID_OK);
    assert_true(job.pack.bytes <= bytes);
    assert_true(poison_intact(job.pack.mem.ptr, job.pack.bytes, bytes));
    assert_true(poison_guard_intact(job.pack.mem.ptr, bytes));
    job.in   = job.pack.mem;
    r.job    = &job;
    r.x_rows = gathers ? chunk->features.gather_rows : problem->A->cols;
    if (gathers) {
        gathered_ranks(&job, rank);
        r.rank = rank;
    }
    current->read(&r);
    if (!hy_block_may_yield(&chunk->features) && chunk->features.nnz > 0) {
        assert_int_equal(r.shape.rows, chunk->features.block_rows);
        assert_int_equal(r.shape.cols, chunk->features.block_cols);
    }
    free(job.pack.mem.ptr);
    free(rank);
}

/* Returns 1 if all n flags are set. */
static int all_set(const unsigned char *flags, int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        if (!flags[k])
            return 0;
    return 1;
}

static void check_cut(const hy_problem *problem, const hy_cut *cut, int exact)
{
    const hybrid_csr *A = problem->A;
    blocked_reader r    = {.seen   = calloc((size_t)A->nnz + 1, 1),
                           .stored = calloc((size_t)A->rows + 1, 1),
                           .Y      = problem->Y};
    hy_chunk *chunks;
    int64_t count;

    assert_true(r.seen && r.stored);
    if (hy_cut_chunks(problem->ctx, cut, &chunks, &count) == HYBRID_OK) {
        for (int64_t k = 0; k < count; k++)
            check_pack(problem, &chunks[k], &r);
        hy_array_free(problem->ctx, chunks);
        assert_true(all_set(r.seen, A->nnz) && all_set(r.stored, A->rows));
        const char *wrong =
            oracle_check_spmm(1, A, problem->X, 0, problem->Y, problem->Y, exact);
        if (wrong)
            fail_msg("%s", wrong);
    }
    hy_message_clear(&problem->ctx->message);
    free(r.seen);
    free(r.stored);
}

/* Checks the pack of all rows, of chunks of 1, 7 and 40 rows (except sizes that give
   more than MOST_CHUNKS), and of chunks that fit a quarter of the memory that all rows
   need. */
static void check_cuts(const hy_problem *problem, const hy_profile *profile, int gathered,
                       int exact)
{
    static const int64_t rows[] = {0, 1, 7, 40, 0};
    const hy_cost whole         = cost(&profile->features, NULL);

    for (int i = 0; i < 5; i++) {
        if (rows[i] > 0 && profile->rows / rows[i] > MOST_CHUNKS)
            continue;
        const hy_cut cut = {
            .A            = problem->A,
            .profile      = profile,
            .variant      = &variant,
            .slot_bytes   = i < 4 ? SIZE_MAX / 4 : hy_cost_bytes(&whole) / 4,
            .products_max = INT64_MAX,
            .chunk_rows   = rows[i],
            .image        = {.axis = gathered ? HY_AXIS_GATHERED : HY_AXIS_NONE}};
        hy_problem with_image = *problem;
        with_image.image.axis = cut.image.axis;
        check_cut(&with_image, &cut, exact);
    }
}

void blocked_check(hy_context *ctx, const blocked_format *format, const hybrid_csr *A,
                   hy_block_shape shape, test_kind kind)
{
    hy_profile profile;
    hybrid_dense X, Y;

    current = format;
    dense_make(A->cols, 1, 0, HYBRID_ROW_MAJOR, 5, kind, &X);
    dense_make(A->rows, 1, 0, HYBRID_ROW_MAJOR, 6, kind, &Y);
    const hy_problem problem = {.op           = HY_SPMM,
                                .ctx          = ctx,
                                .A            = A,
                                .X            = &X,
                                .source       = hy_source_dense(ctx, &X),
                                .Y            = &Y,
                                .image_memory = {X.data, (size_t)A->cols * 4, HY_DEVICE}};
    assert_int_equal(hy_inspect(ctx, A, NULL, 1, NULL, &profile), HYBRID_OK);
    profile.features.block_rows = shape.rows;
    profile.features.block_cols = shape.cols;
    memcpy(profile.features.parameter, blocked_parameters, sizeof blocked_parameters);
    if (blocked_parameters[HY_BLOCK_R] > 0) {
        profile.features.parameter[HY_BLOCK_R] = shape.rows;
        profile.features.parameter[HY_BLOCK_C] = shape.cols;
    }
    for (int gathered = 0; gathered < 2; gathered++)
        check_cuts(&problem, &profile, gathered, kind.integers);
    hy_profile_free(ctx, &profile);
    dense_free(&X);
    dense_free(&Y);
}

void blocked_check_cases(hy_context *ctx, const blocked_format *format)
{
    test_case c;

    for (int k = 0; k < KINDS; k++)
        for (int i = 0; i < case_count(); i++) {
            case_make(i, kinds[k], &c);
            for (int s = k; s < SHAPES; s += KINDS)
                blocked_check(ctx, format, &c.A, shapes[s], kinds[k]);
            case_free(&c);
        }
}

/* Checks matrices of all block shapes. Their sizes are no multiples of the shape, and
   some lack entries. */
void blocked_check_shapes(hy_context *ctx, const blocked_format *format)
{
    hybrid_csr A;

    for (int k = 0; k < 64; k++) {
        const hy_block_shape shape = {k / 8 + 1, k % 8 + 1};
        const test_kind kind       = kinds[k % KINDS];
        blocked_matrix(shape.rows * 30 + k % 5, shape.cols * 41 + k % 3, shape.rows,
                       shape.cols, 6, k % 3, k % 2 ? 0 : 17, kind, &A);
        blocked_check(ctx, format, &A, shape, kind);
        matrix_free(&A);
    }
}

/* Checks a matrix that is so large that workers pack it in several pieces. It has blocks
   of 3 x 3, a long row, and scattered entries. */
void blocked_check_large(hy_context *ctx, const blocked_format *format)
{
    builder b = build_start(15000, 15000);

    for (int64_t i = 0; i < b.rows; i++) {
        for (int64_t j = 0; j < (i == 777 ? 6000 : i % 500 < 450 ? 12 : 4); j++)
            build_add(&b, i == 777        ? 2 * j
                          : i % 500 < 450 ? (i / 3 * 3 + j / 3 * 30 + j % 3) % b.cols
                                          : test_below(3, (uint64_t)(9 * i + j), b.cols));
        build_end_row(&b);
    }
    hybrid_csr A = build_finish(&b, 8, kinds[0]);
    blocked_check(ctx, format, &A, (hy_block_shape){3, 3}, kinds[0]);
    blocked_check(ctx, format, &A, (hy_block_shape){1, 1}, kinds[0]);
    matrix_free(&A);
}

/* ---- zeros ---- */

/* Checks A = [0 -0 1 .; . 3 -0 5], where . is no entry. X is infinite in a row that only
   one row of A uses, so that Y shows whether a stored zero was multiplied. */
void blocked_check_zeros(hy_context *ctx, const blocked_format *format)
{
    int64_t ptr[]      = {0, 3, 6};
    int32_t col[]      = {0, 1, 2, 1, 2, 3};
    double val[]       = {0.0, -0.0, 1, 3, -0.0, 5};
    double x[]         = {2, 3, 4, 0}, y[2];
    const hybrid_csr A = {2, 4, 6, HYBRID_I64, ptr, col, val, HYBRID_F64};
    hybrid_dense X     = {4, 1, 1, HYBRID_ROW_MAJOR, x, HYBRID_F64};
    hybrid_dense Y     = {2, 1, 1, HYBRID_ROW_MAJOR, y, HYBRID_F64};
    const hy_problem p = {.op           = HY_SPMM,
                          .ctx          = ctx,
                          .A            = &A,
                          .X            = &X,
                          .source       = hy_source_dense(ctx, &X),
                          .Y            = &Y,
                          .image_memory = {x, sizeof x, HY_DEVICE}};
    hy_profile profile;

    current = format;
    for (int i = 0; i < 4; i++) { /* the blocks are partly filled or full; the infinity
                                     is in the first or last row of X */
        unsigned char seen[6] = {0}, stored[2] = {0};
        const blocked_reader r = {.seen = seen, .stored = stored, .Y = &Y};
        x[0]                   = i / 2 ? INFINITY : 2;
        x[3]                   = i / 2 ? 5 : INFINITY;
        assert_int_equal(hy_inspect(ctx, &A, NULL, 1, NULL, &profile), HYBRID_OK);
        profile.features.block_rows = i % 2 ? 1 : 2;
        profile.features.block_cols = i % 2 ? 1 : 4;
        hy_chunk chunk              = {.row_end  = 2,
                                       .col_end  = 1,
                                       .features = profile.features,
                                       .variant  = &variant};
        check_pack(&p, &chunk, &r);
        assert_true(all_set(seen, 6));
        if (i / 2 == 0)
            assert_true(y[0] == 4 && isinf(y[1]));
        else
            assert_true(isnan(y[0]) && y[1] == 34);
        hy_profile_free(ctx, &profile);
    }
}
