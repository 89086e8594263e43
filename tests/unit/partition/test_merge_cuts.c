/* tests/unit/partition/test_merge_cuts.c - tiles of the merge path.

   The merge path is the list of all entries and ends of rows of A, in order; each is an
   item (partition/format/merge.h). Tiles are equal cuts of it, follow each other without
   gaps, and do not depend on the chunks. A tile is divided into shares, one for each
   group of GPU threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/data/csr.h"
#include "partition/format/merge.h"
#include "partition/format/pack.h"
#include "tests/support/inputs/builder.h"
#include "tests/support/engines/group.h"
#include "tests/support/check/poison.h"

static const test_kind kinds[]       = {{HYBRID_F32, HYBRID_I32, 1},
                                        {HYBRID_F64, HYBRID_I64, 0}};
static const hy_merge_shape shapes[] = {{8, 2, 0, 0},   {8, 4, 2, 0}, {32, 8, 8, 0},
                                        {64, 4, 16, 0}, {8, 1, 2, 1}, {64, 1, 16, 1}};

enum { SHAPES = sizeof shapes / sizeof *shapes, ROWS = 150, COLS = 400 };

/* Returns the length of a row: rows are empty, short, or longer than several tiles. */
static int64_t length_of(int64_t row)
{
    return row % 50 == 20 ? 300 : row % 7 == 0 ? 0 : row % 11;
}

static hybrid_csr make_matrix(test_kind kind)
{
    builder b = build_start(ROWS, COLS);

    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t k = 0; k < length_of(i); k++)
            build_add(&b, k);
        build_end_row(&b);
    }
    return build_finish(&b, 5, kind);
}

/* ---- one chunk ---- */

typedef struct packed {
    hy_chunk chunk;
    hy_job job;
    hy_merge_view view;
} packed;

static void pack(const hy_problem *problem, hy_merge_shape shape, int64_t begin,
                 int64_t end, packed *out)
{
    const hybrid_csr *A = problem->A;
    const int64_t nnz   = hy_offset(A, end) - hy_offset(A, begin);

    out->chunk          = (hy_chunk){.row_begin = begin,
                                     .row_end   = end,
                                     .col_end   = 4,
                                     .features  = {.rows     = end - begin,
                                                   .cols     = A->cols,
                                                   .nnz      = nnz,
                                                   .out_cols = 4,
                                                   .type     = A->type}};
    const int64_t tiles = hy_merge_max_tiles(&out->chunk.features, shape);
    const size_t bytes  = hy_pack_merge_bytes(&out->chunk.features, shape, tiles);
    out->job            = (hy_job){.problem = problem, .chunk = &out->chunk};
    out->job.pack.mem   = (hy_buffer){poison_block(bytes), bytes, HY_PINNED};
    assert_int_equal(hy_pack_merge(&out->job, shape), HYBRID_OK);
    assert_true(out->job.pack.bytes <= bytes);
    assert_true(poison_guard_intact(out->job.pack.mem.ptr, bytes));
    out->job.in = out->job.pack.mem;
    out->view   = hy_packed_merge(&out->job, shape);
}

/* Returns the number of the item of A (an entry or the end of a row) at which tile t
   would begin if A were one chunk. The first tile of a chunk may be only a part of such
   a tile. */
static int64_t item_of(const packed *p, const hybrid_csr *A, int64_t t)
{
    const hy_merge_cut *cut = &p->view.cut[t];
    return p->chunk.row_begin + cut->row + hy_offset(A, p->chunk.row_begin) + cut->entry -
           cut->lead;
}

/* Checks that the `shares` shares of a tile of `items` items, each divided into
   2^log_parts parts, cover the whole tile. */
static void check_parts(const hy_merge_cut *c, int64_t items, int shares)
{
    assert_int_equal(hy_merge_part(c->share, 0), c->share);
    for (int log_parts = 1; log_parts < 4; log_parts++) {
        const int64_t part = hy_merge_part(c->share, log_parts);
        assert_int_equal(part % 2, 1);
        assert_true(c->lead + items <= part * shares << log_parts);
        /* two items less in each part would not cover the share */
        assert_true((part - 2) * (1 << log_parts) < c->share);
    }
}

static void check_tiles(const packed *p, const hybrid_csr *A, hy_merge_shape shape)
{
    const hy_merge_view *v = &p->view;
    const hy_csr_view a    = hy_packed_a(&p->job);

    assert_true(v->tiles <= hy_merge_max_tiles(&p->chunk.features, shape));
    assert_int_equal(v->cut[0].row, 0);
    assert_int_equal(v->cut[0].entry, 0);
    assert_int_equal(v->cut[v->tiles].row, a.rows);
    assert_int_equal(v->cut[v->tiles].entry, a.nnz);
    for (int64_t t = 0; t < v->tiles; t++) {
        const hy_merge_cut *c = &v->cut[t];
        const int64_t items   = c[1].row + c[1].entry - c->row - c->entry;
        assert_true(c[1].row >= c->row && c[1].entry >= c->entry);
        assert_true(c->lead + items <= (int64_t)c->share * shape.shares);
        assert_true(c->lead + items <= shape.items + shape.longest);
        assert_int_equal(c->share % 2, 1);
        check_parts(c, items, shape.shares);
        assert_true(t == 0 || c->lead == 0);
        /* the tile begins at or behind the first entry of its row */
        assert_true(c->entry >= a.row_ptr[c->row]);
        assert_true(c->row == a.rows || c->entry <= a.row_ptr[c->row + 1]);
        if (c->row < a.rows && c->entry > a.row_ptr[c->row])
            assert_true(a.row_ptr[c->row + 1] - a.row_ptr[c->row] > shape.longest);
    }
    (void)A;
}

/* Checks that view.piece lists exactly the rows that are cut within, with the first and
   last tile that has a piece of the row. */
static void check_pieces(const packed *p)
{
    const hy_merge_view *v = &p->view;
    const hy_csr_view a    = hy_packed_a(&p->job);
    int64_t next           = 0;

    for (int64_t row = 0; row < a.rows; row++) {
        int64_t first = -1, last = -1;
        for (int64_t t = 1; t < v->tiles; t++)
            if (v->cut[t].row == row && v->cut[t].entry > a.row_ptr[row]) {
                first = first < 0 ? t - 1 : first;
                last  = t;
            }
        if (first < 0)
            continue;
        assert_true(next < v->pieces);
        assert_int_equal(v->piece[next].row, row);
        assert_int_equal(v->piece[next].first, first);
        assert_int_equal(v->piece[next].last, last);
        next++;
    }
    assert_int_equal(next, v->pieces);
}

/* Checks that each tile which begins within a row names the first and last tile with a
   piece of that row (view.join), and that the counters of finished pieces are 0. */
static void check_joins(const packed *p, hy_merge_shape shape)
{
    const hy_merge_view *v = &p->view;

    assert_int_equal(v->join != NULL, shape.vector);
    for (int64_t t = 0; v->join && t <= v->tiles; t++) {
        hy_merge_join join = {-1, -1};
        for (int64_t k = 0; k < v->pieces; k++)
            if (t > v->piece[k].first && t <= v->piece[k].last)
                join = (hy_merge_join){v->piece[k].first, v->piece[k].last};
        assert_int_equal(v->join[t].first, join.first);
        assert_int_equal(v->join[t].last, join.last);
        assert_true(t == v->tiles || v->arrived[t] == 0);
    }
}

/* Checks view.last: for each row, the index of its last entry, counted from the first
   entry of the tile that contains the end of the row. */
static void check_last(const packed *p, hy_merge_shape shape)
{
    const hy_merge_view *v = &p->view;
    const hy_csr_view a    = hy_packed_a(&p->job);

    assert_int_equal(v->last != NULL, shape.vector);
    for (int64_t t = 0; v->last && t < v->tiles; t++)
        for (int64_t row = v->cut[t].row; row < v->cut[t + 1].row; row++) {
            int64_t last = -1;
            for (int64_t k = v->cut[t].entry; k < v->cut[t + 1].entry; k++)
                if (k >= a.row_ptr[row] && k < a.row_ptr[row + 1])
                    last = k - v->cut[t].entry;
            assert_int_equal(v->last[row], last < 0 ? HY_MERGE_NO_ENTRY : last);
        }
}

/* Checks that a tile has the same first item and the same shares in every chunk that
   contains it. */
static void check_same(const packed *whole, const packed *p, const hybrid_csr *A,
                       hy_merge_shape shape)
{
    const int64_t begin = p->chunk.row_begin + hy_offset(A, p->chunk.row_begin);

    for (int64_t t = 0; t < p->view.tiles; t++) {
        const int64_t in_whole = begin / shape.items + t;
        assert_int_equal(item_of(p, A, t), item_of(whole, A, in_whole));
        assert_int_equal(p->view.cut[t].share, whole->view.cut[in_whole].share);
    }
}

static void tiles_are_even_and_do_not_depend_on_chunks(void **state)
{
    static const int64_t steps[] = {1, 7, 40, ROWS};

    (void)state;
    for (int k = 0; k < 2; k++) {
        hybrid_csr A       = make_matrix(kinds[k]);
        hy_problem problem = {.op = HY_SPMM, .ctx = ctx, .A = &A};
        for (int s = 0; s < SHAPES; s++) {
            packed whole;
            pack(&problem, shapes[s], 0, ROWS, &whole);
            assert_true(whole.view.pieces >= 3);
            for (int i = 0; i < 4; i++)
                for (int64_t row = 0; row < ROWS; row += steps[i]) {
                    const int64_t end = row + steps[i] < ROWS ? row + steps[i] : ROWS;
                    packed p;
                    pack(&problem, shapes[s], row, end, &p);
                    check_tiles(&p, &A, shapes[s]);
                    check_pieces(&p);
                    check_joins(&p, shapes[s]);
                    check_last(&p, shapes[s]);
                    check_same(&whole, &p, &A, shapes[s]);
                    free(p.job.pack.mem.ptr);
                }
            free(whole.job.pack.mem.ptr);
        }
        matrix_free(&A);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_are_even_and_do_not_depend_on_chunks),
    };
    return cmocka_run_group_tests(tests, open_two_workers, close_context);
}
