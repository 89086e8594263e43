/* tests/unit/partition/test_pack_hrpb.c - the HRPB format contains the rows of A.

   A row panel (16 rows) consists of blocks of 16 columns, which need not be neighbours. A
   block has four bricks of four columns, and a bit for each of its elements. A unit is
   the work of one warp: a row panel, or a part of one. */
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
#include "tests/support/inputs/blocked.h"
#include "tests/support/inputs/builder.h"
#include "tests/support/runs/gathered.h"
#include "tests/support/engines/group.h"
#include "tests/support/check/poison.h"

static const test_kind kinds[] = {{HYBRID_F32, HYBRID_I32, 1},
                                  {HYBRID_F64, HYBRID_I64, 0}};

/* The rules divide row panels into one part, into several, or into many. */
static const hy_hrpb_rules rules[] = {{1000, 1000}, {4, 1}, {3, 2}, {1000, 1}};

enum { RULES = sizeof rules / sizeof *rules, MOST_CHUNKS = 600 };

/* how X reaches the device: whole, gathered with the chunk, or in a ring of rows */
typedef enum way { RESIDENT, GATHERED, WINDOW, WAYS } way;

static const hy_hrpb_rules *current; /* rules of the variant below */

static hy_cost cost(const hy_features *f, const hy_rates *rates)
{
    (void)rates;
    return (hy_cost){.pack_bytes = hy_pack_hrpb_bytes(f, current),
                     .out_bytes  = hy_rows_bytes(HY_SPMM, f, 0)};
}

static const hy_variant variant = {.name = "test", .op = HY_SPMM, .cost = cost};

/* ---- blocks ---- */

/* State of the check of a row panel. */
typedef struct reader {
    const hy_job *job;
    const hy_hrpb_view *view;
    const int64_t *rank; /* new number of a column, or its position in the ring; or
                            NULL */
    int64_t row;         /* first row of the panel, in A */
    int64_t at[HY_HRPB_ROWS], end[HY_HRPB_ROWS];
    int64_t value; /* index in view->val of the next value to read */
} reader;

static void start_panel(reader *r, int64_t row)
{
    const hybrid_csr *A = r->job->problem->A;
    const int64_t last  = r->job->chunk->row_end;

    r->row   = r->job->chunk->row_begin + row;
    r->value = hy_offset(A, r->row) - hy_offset(A, r->job->chunk->row_begin);
    for (int64_t i = 0; i < HY_HRPB_ROWS; i++) {
        const int is_row = r->row + i < last;
        r->at[i]         = is_row ? hy_offset(A, r->row + i) : 0;
        r->end[i]        = is_row ? hy_offset(A, r->row + i + 1) : 0;
    }
}

/* Checks that the next entry of the row has this column of X and the next value. */
static void take(reader *r, int row, int32_t col)
{
    const hybrid_csr *A = r->job->problem->A;
    const int64_t k     = r->at[row]++;

    assert_true(k < r->end[row]);
    assert_int_equal(col, r->rank ? r->rank[hy_cols(A)[k]] : hy_cols(A)[k]);
    assert_true(value_at(r->view->val, A->type, r->value++) ==
                value_at(A->val, A->type, k));
}

/* Returns the row of X at a position of the ring, or the new number of a gathered row. */
static int64_t row_at(const reader *r, int32_t place)
{
    const hy_image *image = &r->job->problem->image;
    const int64_t window  = image->axis == HY_AXIS_ROWS ? image->held : 0;
    const int64_t first   = r->job->chunk->x_begin;

    return window > 0 ? first + (place + window - first % window) % window : place;
}

/* Checks a block: columns of bricks ascend, no column is empty, and unused columns repeat
   the last one. */
static void read_bricks(reader *r, const hy_hrpb_block *b, int64_t *last)
{
    uint32_t used = 0;

    assert_int_equal(b->first, r->value);
    for (int i = 0; i < HY_HRPB_BRICKS * 64; i++) {
        const int brick = i / 64, row = i % 64 / 4, k = i % 4;
        if ((b->bits[2 * brick + row / 8] >> (row % 8 * 4 + k) & 1) == 0)
            continue;
        used |= 1u << (4 * brick + k);
        take(r, row, b->col[4 * brick + k]);
    }
    /* the block's used columns come before its unused ones */
    assert_true(used != 0 && (used & (used + 1)) == 0);
    for (int k = 0; k < HY_HRPB_COLS; k++) {
        const int64_t row = row_at(r, b->col[k]);
        if (used >> k & 1)
            assert_true(row > *last);
        else
            assert_int_equal(row, *last);
        *last = row;
    }
}

/* Checks a row panel: all its blocks but the last must be full. */
static void read_panel(reader *r, int64_t begin, int64_t end)
{
    int64_t last = -1;

    for (int64_t i = begin; i < end; i++) {
        const hy_hrpb_block *b = &r->view->block[i];
        read_bricks(r, b, &last);
        if (i + 1 < end)
            assert_true(row_at(r, b->col[14]) < row_at(r, b->col[15]));
    }
    for (int i = 0; i < HY_HRPB_ROWS; i++)
        assert_int_equal(r->at[i], r->end[i]);
}

/* ---- units ---- */

/* Checks that the parts of a row panel follow each other and are numbered. Returns the
   unit after them. */
static const hy_hrpb_unit *read_parts(reader *r, const hy_hrpb_unit *u, int64_t *split,
                                      int64_t *partial)
{
    const hy_hrpb_unit *first  = u++;
    const hy_hrpb_unit *beyond = r->view->unit + r->view->head.units;
    const int64_t longest      = current->least;

    for (; first->partial >= 0 && u < beyond && u->row == first->row; u++) {
        assert_int_equal(u->begin, u[-1].end);
        assert_int_equal(u->partial, u[-1].partial + 1);
        assert_true(u->begin < u->end);
    }
    if (first->partial >= 0) {
        const hy_hrpb_split *s = &r->view->split[(*split)++];
        assert_int_equal(first->partial, *partial);
        assert_int_equal(s->row, first->row);
        assert_int_equal(s->partial, *partial);
        assert_int_equal(s->parts, u - first);
        assert_true(s->parts > 1 && u[-1].end - first->begin > longest);
        *partial += s->parts;
    }
    start_panel(r, first->row);
    read_panel(r, first->begin, u[-1].end);
    return u;
}

/* Checks that units list first the heavy row panels (with more than a quarter of the
   blocks of the largest) and then the light ones, each in order, and that the units
   contain all blocks. */
static void check_units(reader *r)
{
    const hy_hrpb_head *head = &r->view->head;
    const hy_hrpb_unit *u    = r->view->unit;
    const int64_t panels     = (r->job->chunk->features.rows + 15) / HY_HRPB_ROWS;
    int64_t split = 0, partial = 0, turns = 0, last = -1, blocks = 0, seen = 0;

    for (; u < r->view->unit + head->units; seen++) {
        const hy_hrpb_unit *first = u;
        turns += u->row < last;
        last = u->row;
        u    = read_parts(r, u, &split, &partial);
        blocks += u[-1].end - first->begin;
        for (const hy_hrpb_unit *v = first; v < u; v++)
            assert_true(v->end - v->begin <= current->least ||
                        v->end - v->begin <= head->blocks / current->wave + 1);
    }
    assert_int_equal(seen, panels);
    assert_true(turns <= 1);
    assert_int_equal(split, head->splits);
    assert_int_equal(partial, head->partials);
    assert_int_equal(blocks, head->blocks);
    assert_true(head->partials <=
                hy_pack_hrpb_partials(&r->job->chunk->features, current));
}

/* ---- packs ---- */

static void check_x(const hy_job *job, const int64_t *rank)
{
    const hybrid_dense *X = job->problem->X;
    const hy_dense_view x = hy_packed_x(job);

    assert_int_equal(x.ld, job->chunk->col_end - job->chunk->col_begin);
    for (int64_t r = 0; r < X->rows; r++)
        for (int64_t j = 0; rank[r] >= 0 && j < x.ld; j++)
            assert_true(value_at(x.x, X->type, rank[r] * x.ld + j) ==
                        dense_at(X, r, job->chunk->col_begin + j));
}

static void check_pack(hy_problem problem, hy_chunk chunk, way w)
{
    const size_t bytes = hy_pack_hrpb_bytes(&chunk.features, current);
    hy_job job         = {.problem = &problem, .chunk = &chunk, .variant = chunk.variant};
    int64_t *rank      = malloc((size_t)(problem.A->cols + 1) * 8);

    assert_non_null(rank);
    if (w == WINDOW)
        problem.image =
            hy_image_row_ring(&problem.image, window_ranks(problem.A, &chunk, rank));
    if (w == GATHERED) {
        problem.image.axis = HY_AXIS_GATHERED;
        gathered_ranks(&job, rank);
    }
    job.pack.mem = (hy_buffer){poison_block(bytes), bytes, HY_PINNED};
    assert_int_equal(hy_pack_hrpb(&job, current), HYBRID_OK);
    assert_true(job.pack.bytes <= bytes);
    assert_true(poison_intact(job.pack.mem.ptr, job.pack.bytes, bytes));
    assert_true(poison_guard_intact(job.pack.mem.ptr, bytes));
    job.in                  = job.pack.mem;
    const hy_hrpb_view view = hy_packed_hrpb(&job);
    reader r = {.job = &job, .view = &view, .rank = w == RESIDENT ? NULL : rank};
    if (w == GATHERED)
        check_x(&job, rank);
    check_units(&r);
    assert_true(value_at(view.val, problem.A->type, chunk.features.nnz) == 0);
    free(job.pack.mem.ptr);
    free(rank);
}

/* Checks the pack of all rows, of chunks of 1, 7 and 40 rows, and of chunks with a
   quarter of the memory. */
static void check_packs(const hy_problem *problem, const hy_profile *profile, way w)
{
    static const int64_t rows[] = {0, 1, 7, 40, 0};
    hy_chunk *chunks;
    int64_t count;

    for (int i = 0; i < 5; i++) {
        if (rows[i] > 0 && problem->A->rows / rows[i] > MOST_CHUNKS)
            continue;
        const hy_features all =
            hy_profile_range(profile, 0, profile->rows, profile->out_cols);
        const hy_cost whole = cost(&all, NULL);
        const hy_cut cut    = {
               .A            = problem->A,
               .profile      = profile,
               .variant      = &variant,
               .slot_bytes   = i < 4 ? SIZE_MAX / 4 : hy_cost_bytes(&whole) / 4,
               .products_max = INT64_MAX,
               .chunk_rows   = rows[i],
               .image        = {.axis = w == GATHERED ? HY_AXIS_GATHERED : HY_AXIS_NONE}};
        if (hy_cut_chunks(ctx, &cut, &chunks, &count) != HYBRID_OK)
            return;
        for (int64_t k = 0; k < count; k++)
            check_pack(*problem, chunks[k], w);
        hy_array_free(ctx, chunks);
    }
}

static void check_matrix(const hybrid_csr *A, test_kind kind)
{
    hy_profile profile;
    hybrid_dense X;

    dense_make(A->cols, 9, 2, HYBRID_ROW_MAJOR, 5, kind, &X);
    const hy_problem problem = {
        .op = HY_SPMM, .ctx = ctx, .A = A, .X = &X, .source = hy_source_dense(ctx, &X)};
    assert_int_equal(hy_inspect(ctx, A, NULL, X.cols, NULL, &profile), HYBRID_OK);
    for (int i = 0; i < RULES; i++)
        for (int w = 0; w < WAYS; w++) {
            current = &rules[i];
            check_packs(&problem, &profile, (way)w);
        }
    hy_profile_free(ctx, &profile);
    dense_free(&X);
}

static void packs_are_slices(void **state)
{
    test_case c;

    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int i = 0; i < case_count(); i++) {
            case_make(i, kinds[k], &c);
            check_matrix(&c.A, kinds[k]);
            case_free(&c);
        }
}

/* The matrix is so long that workers pack it in several pieces. It has blocks of 3 x 3, a
   long row, and scattered entries. */
static void large_packs_are_slices(void **state)
{
    builder b = build_start(20000, 20000);

    (void)state;
    for (int64_t i = 0; i < b.rows; i++) {
        for (int64_t j = 0; j < (i == 777 ? 9000 : i % 500 < 250 ? 12 : 4); j++)
            build_add(&b, i == 777        ? 2 * j
                          : i % 500 < 250 ? (i / 3 * 3 + j / 3 * 30 + j % 3) % b.cols
                                          : test_below(3, (uint64_t)(9 * i + j), b.cols));
        build_end_row(&b);
    }
    hybrid_csr A = build_finish(&b, 8, kinds[0]);
    check_matrix(&A, kinds[0]);
    matrix_free(&A);
}

/* The matrix is dense: all blocks are full, and the bit of each element is set. */
static void dense_rows_fill_their_bricks(void **state)
{
    builder b = build_start(16, 32);
    hy_profile profile;

    (void)state;
    for (int64_t i = 0; i < b.rows; i++) {
        for (int64_t j = 0; j < b.cols; j++)
            build_add(&b, j);
        build_end_row(&b);
    }
    hybrid_csr A       = build_finish(&b, 8, kinds[0]);
    const hy_problem p = {.op = HY_SPMM, .ctx = ctx, .A = &A};
    current            = &rules[0];
    hy_chunk chunk     = {.row_end = 16};
    hy_job job         = {.problem = &p, .chunk = &chunk};
    assert_int_equal(hy_inspect(ctx, &A, NULL, 1, NULL, &profile), HYBRID_OK);
    assert_int_equal(hy_tile_fill(ctx, &A, &profile.features.tile_fill), HYBRID_OK);
    assert_true(profile.features.tile_fill == 1);
    chunk.features     = profile.features;
    const size_t bytes = hy_pack_hrpb_bytes(&profile.features, current);
    job.pack.mem       = (hy_buffer){poison_block(bytes), bytes, HY_PINNED};
    assert_int_equal(hy_pack_hrpb(&job, current), HYBRID_OK);
    job.in                  = job.pack.mem;
    const hy_hrpb_view view = hy_packed_hrpb(&job);
    assert_int_equal(view.head.blocks, 2);
    assert_int_equal(view.head.units, 1);
    for (int i = 0; i < 16; i++)
        assert_int_equal(view.block[i / 8].bits[i % 8], UINT32_MAX);
    assert_int_equal(view.block[1].first, 256);
    hy_profile_free(ctx, &profile);
    free(job.pack.mem.ptr);
    matrix_free(&A);
}

/* ---- bounds, failures ---- */

static void bytes_grow_with_rows(void **state)
{
    hybrid_csr A;
    hy_profile profile;

    (void)state;
    matrix_random(500, 300, 5, 3, kinds[0], &A);
    assert_int_equal(hy_inspect(ctx, &A, NULL, 70, NULL, &profile), HYBRID_OK);
    for (int i = 0; i < RULES; i++)
        for (int64_t end = 1; end < A.rows; end++) {
            const hy_features f    = hy_profile_range(&profile, 0, end, 70);
            const hy_features next = hy_profile_range(&profile, 0, end + 1, 70);
            assert_true(hy_pack_hrpb_bytes(&f, &rules[i]) <=
                        hy_pack_hrpb_bytes(&next, &rules[i]));
            assert_true(hy_pack_hrpb_partials(&f, &rules[i]) <=
                        hy_pack_hrpb_partials(&next, &rules[i]));
        }
    hy_profile_free(ctx, &profile);
    matrix_free(&A);
}

static size_t bytes_of(const hy_features *f)
{
    return hy_pack_hrpb_bytes(f, &rules[0]);
}

static hybrid_status pack(hy_job *job)
{
    return hy_pack_hrpb(job, &rules[0]);
}

static void failures_leave_nothing(void **state)
{
    static const blocked_format format = {.bytes = bytes_of, .pack = pack};

    (void)state;
    blocked_check_failures(ctx, &format, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packs_are_slices),
        cmocka_unit_test(large_packs_are_slices),
        cmocka_unit_test(dense_rows_fill_their_bricks),
        cmocka_unit_test(bytes_grow_with_rows),
        cmocka_unit_test(failures_leave_nothing),
    };
    return cmocka_run_group_tests_name("pack_hrpb", tests, open_context, close_context);
}
