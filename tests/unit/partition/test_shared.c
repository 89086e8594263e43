/* tests/unit/partition/test_shared.c - images of B and X, written whole and in pieces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/data/csr.h"
#include "partition/move/fill.h"
#include "partition/format/pack.h"
#include "partition/move/sources.h"
#include "tests/support/engines/all_pinned.h"
#include "tests/support/inputs/cases.h"
#include "tests/support/engines/group.h"
#include "tests/support/check/poison.h"

static const test_kind kinds[]     = {{HYBRID_F32, HYBRID_I32, 1},
                                      {HYBRID_F64, HYBRID_I64, 0}};
static const hybrid_order orders[] = {HYBRID_ROW_MAJOR, HYBRID_COL_MAJOR};

/* Returns the offset, in bytes, of a region in the image. Regions are the three arrays of
   B, or the column blocks of X. */
static size_t region_at(const hy_image *image, const hy_region *r)
{
    return image->form == HY_FORM_CSR ? r->at : (size_t)r->before * r->size;
}

static int64_t regions_of(const hy_image *image)
{
    return image->form == HY_FORM_CSR ? 3 : hy_image_col_blocks(image);
}

/* Fills elements [begin, end) of the region: an array of B, which its source fills, or a
   column block of X. */
static hybrid_status fill(const hy_image *image, const hy_source *source,
                          const hy_region *r, int64_t begin, int64_t end, char *dst)
{
    const hy_rect array = {begin, end - begin, r->begin, 1};
    const hy_grid to    = {dst, 1, 1};

    return image->form == HY_FORM_CSR ? source->ops->fill(source, &array, &to)
                                      : hy_fill(image, source, r, begin, end, dst);
}

static char *make_whole(const hy_image *image, const hy_source *source)
{
    char *whole = poison_block(hy_image_bytes(image));

    for (int64_t k = 0; k < regions_of(image); k++) {
        const hy_region r = hy_image_region(image, k);
        assert_int_equal(
            fill(image, source, &r, 0, r.elements, whole + region_at(image, &r)), 0);
    }
    assert_true(poison_guard_intact(whole, hy_image_bytes(image)));
    return whole;
}

static void check_run(const hy_image *image, const hy_source *source, const hy_region *r,
                      int64_t begin, int64_t end, const char *whole)
{
    hybrid_order order = HYBRID_ROW_MAJOR;

    if (image->form != HY_FORM_CSR && !hy_image_is_flat(image, &order))
        return;
    const char *run = source->ops->run(source, order, (int)r->begin, begin, end);
    if (run)
        assert_memory_equal(run, whole, (size_t)(end - begin) * r->size);
}

/* Checks that pieces of any size at any position equal their part of the whole image. */
static void check_pieces(const hy_image *image, const hy_source *source,
                         const char *whole)
{
    static const int64_t sizes[] = {1, 3, 8, 13, 255, 1021, 4096};

    for (int64_t k = 0; k < regions_of(image); k++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            const hy_region r = hy_image_region(image, k);
            const size_t room = (size_t)sizes[s] * r.size;
            char *piece       = poison_block(room);
            for (int64_t at = 0; at < r.elements; at += sizes[s]) {
                const int64_t end =
                    at + sizes[s] < r.elements ? at + sizes[s] : r.elements;
                const char *want = whole + region_at(image, &r) + (size_t)at * r.size;
                assert_int_equal(fill(image, source, &r, at, end, piece), 0);
                assert_memory_equal(piece, want, (size_t)(end - at) * r.size);
                assert_true(poison_guard_intact(piece, room));
                check_run(image, source, &r, at, end, want);
            }
            free(piece);
        }
}

/* Returns a problem with X and its image. */
static hy_problem problem_of(const hybrid_dense *X, hy_form form, int tail_lines)
{
    return (hy_problem){
        .op     = HY_SPMM,
        .ctx    = ctx,
        .X      = X,
        .source = hy_source_dense(&all_pinned, X),
        .image  = hy_image_of_dense(form, X->rows, X->cols, X->type, tail_lines)};
}

/* Checks where offsets of B come from: 64-bit offsets are copied from B itself. For
   32-bit offsets there is no such array (NULL), because workers widen them. */
static void check_offsets(const hy_problem *p, const char *whole)
{
    const hybrid_csr *B     = p->B;
    const hy_region offsets = hy_image_region(&p->image, HY_CSR_OFFSETS);
    const char *run = p->source.ops->run(&p->source, HYBRID_ROW_MAJOR, HY_CSR_OFFSETS, 0,
                                         offsets.elements);

    assert_int_equal(offsets.elements, B->rows + 1);
    assert_ptr_equal(run, B->offset_type == HYBRID_I64 ? B->row_ptr : NULL);
    if (run)
        assert_memory_equal(run, whole, (size_t)offsets.elements * 8);
}

static void shared_b_is_b(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int i = 0; i < case_count(); i++) {
            test_case c;
            case_make(i, kinds[k], &c);
            hy_problem p        = {.op     = HY_SPGEMM,
                                   .ctx    = ctx,
                                   .A      = &c.A,
                                   .B      = &c.B,
                                   .source = hy_source_csr(&all_pinned, &c.B),
                                   .image =
                                       hy_image_of_csr(c.B.rows, c.B.cols, c.B.nnz, c.B.type)};
            const hy_chunk all  = {.row_end = c.A.rows};
            const hy_job job    = {.problem = &p, .chunk = &all};
            const size_t bytes  = hy_image_bytes(&p.image);
            char *whole         = make_whole(&p.image, &p.source);
            p.image_memory      = (hy_buffer){whole, bytes, HY_DEVICE};
            const hy_csr_view b = hy_packed_b(&job);
            assert_int_equal(b.rows, c.B.rows);
            assert_int_equal(b.nnz, c.B.nnz);
            assert_int_equal(((uintptr_t)b.col | (uintptr_t)b.val) % 256, 0);
            for (int64_t r = 0; r <= b.rows; r++)
                assert_int_equal(b.row_ptr[r], hy_offset(&c.B, r));
            for (int64_t e = 0; e < b.nnz; e++) {
                assert_int_equal(b.col[e], hy_cols(&c.B)[e]);
                assert_true(value_at(b.val, c.B.type, e) ==
                            value_at(c.B.val, c.B.type, e));
            }
            check_pieces(&p.image, &p.source, whole);
            check_offsets(&p, whole);
            free(whole);
            case_free(&c);
        }
}

/* Returns the elements of a row in the image: rows of more than 8 bytes are padded to
   16. */
static int64_t padded(const hybrid_dense *X)
{
    int64_t bytes = X->cols * (X->type == HYBRID_F64 ? 8 : 4);

    while (bytes > 8 && bytes % 16 != 0)
        bytes++;
    return bytes / (X->type == HYBRID_F64 ? 8 : 4);
}

static void check_shared_x(const hybrid_dense *X)
{
    hy_problem p         = problem_of(X, HY_FORM_ROWS, 0);
    const hy_chunk panel = {.col_begin = X->cols / 3, .col_end = X->cols};
    const hy_job job     = {.problem = &p, .chunk = &panel};
    const size_t bytes   = hy_image_bytes(&p.image);
    const int64_t ld     = padded(X);
    char *whole          = make_whole(&p.image, &p.source);

    assert_int_equal(bytes, (size_t)(X->rows * ld) * hy_value_size(X->type));
    p.image_memory        = (hy_buffer){whole, bytes, HY_DEVICE};
    const hy_dense_view x = hy_packed_x(&job);
    assert_int_equal(x.ld, ld);
    for (int64_t i = 0; i < X->rows; i++)
        for (int64_t j = 0; j < ld; j++)
            assert_true(value_at(whole, X->type, i * ld + j) ==
                        (j < X->cols ? dense_at(X, i, j) : 0));
    assert_ptr_equal(x.x, whole + (size_t)panel.col_begin * hy_value_size(X->type));
    check_pieces(&p.image, &p.source, whole);
    free(whole);
}

static void check_element(const hybrid_dense *X, const void *x, int64_t at, int64_t i,
                          int64_t j)
{
    assert_true(value_at(x, X->type, at) == (j < X->cols ? dense_at(X, i, j) : 0));
}

/* Checks columns [begin, cols) as a kernel sees them: those in whole cache lines, and the
   rest (tail columns), which lie behind all rows. */
static void check_view(const hy_problem *p, int64_t begin)
{
    const hybrid_dense *X = p->X;
    const hy_chunk chunk  = {.col_begin = begin, .col_end = X->cols};
    const hy_job job      = {.problem = p, .chunk = &chunk};
    const hy_dense_view x = hy_packed_x(&job);
    const int64_t lines   = X->cols - begin - x.rest_cols;

    for (int64_t i = 0; i < X->rows; i++)
        for (int64_t j = 0; j < X->cols - begin; j++)
            check_element(X, j < lines ? x.x : x.rest,
                          j < lines ? i * x.ld + j : i * x.rest_ld + j - lines, i,
                          begin + j);
}

static void check_lines(const hybrid_dense *X, int tail_lines)
{
    hy_problem p       = problem_of(X, HY_FORM_ROWS, tail_lines);
    const int64_t size = X->type == HYBRID_F64 ? 8 : 4;
    const int64_t left = X->cols % (128 / size);
    const int apart    = (X->cols - left) * size >= 128 * tail_lines && left * size <= 16;
    const int64_t rest = !apart ? 0 : left * size <= 8 ? left : 16 / size;
    const int64_t ld   = apart ? X->cols - left : padded(X);
    const size_t bytes = hy_image_bytes(&p.image);
    const hy_region all = hy_image_region(&p.image, 0);
    char *whole         = make_whole(&p.image, &p.source);

    assert_int_equal(bytes, X->rows * (ld + rest) * size);
    assert_int_equal(all.tail, apart ? left : 0);
    assert_int_equal(hy_tail_cols(tail_lines, X->type, X->cols), all.tail);
    assert_int_equal(all.ld, ld);
    assert_int_equal(all.tail_ld, rest);
    p.image_memory = (hy_buffer){whole, bytes, HY_DEVICE};
    for (int64_t i = 0; i < X->rows; i++) {
        for (int64_t j = 0; j < ld; j++)
            check_element(X, whole, i * ld + j, i, j);
        for (int64_t j = 0; j < rest; j++)
            check_element(X, whole, X->rows * ld + i * rest + j, i, ld + j);
    }
    for (int64_t begin = 0; begin < X->cols; begin++)
        check_view(&p, begin);
    check_pieces(&p.image, &p.source, whole);
    free(whole);
}

/* Checks that a column block on the device equals its part of the image. It has a place
   of its own, or one of two places of a ring. */
static void check_panel(hy_problem *p, int64_t panel, const char *whole, size_t room)
{
    const hybrid_dense *X = p->X;
    const size_t size     = hy_value_size(X->type);
    const hy_region x     = hy_image_region(&p->image, panel);
    const hy_chunk chunk  = {.col_begin = x.begin, .col_end = x.begin + x.cols};
    const hy_job job      = {.problem = p, .chunk = &chunk};
    const char *in_image  = whole + (size_t)x.before * size;
    char *device          = poison_block(room);

    assert_true(x.cols > 0 && x.cols <= (panel == 0 ? p->image.block : p->image.last));
    assert_int_equal(hy_image_block_of(&p->image, 0, x.begin), panel);
    assert_int_equal(hy_image_block_of(&p->image, 0, x.begin + x.cols - 1), panel);
    memcpy(device + x.at, in_image, (size_t)x.elements * size);
    assert_true(poison_guard_intact(device, room));
    p->image_memory          = (hy_buffer){device, room, HY_DEVICE};
    const hy_dense_view view = hy_packed_x(&job);
    for (int64_t i = 0; i < X->rows; i++)
        for (int64_t j = 0; j < view.ld; j++)
            assert_true(value_at(view.x, X->type, i * view.ld + j) ==
                        (j < x.cols ? dense_at(X, i, x.begin + j) : 0));
    free(device);
}

static void check_moved_panels(const hybrid_dense *X, const hy_image *image)
{
    hy_problem p         = problem_of(X, HY_FORM_ROWS, 0);
    const int64_t number = hy_image_col_blocks(image);
    const size_t bytes   = hy_image_bytes(image);
    char *whole          = make_whole(image, &p.source);
    int64_t col = 0, element = 0;

    p.image = *image;
    for (int64_t k = 0; k < number; k++) {
        const hy_region x = hy_image_region(image, k);
        assert_int_equal(x.begin, col);
        assert_int_equal(x.before, element);
        assert_true(k == 0 || x.begin == k * image->block - image->back);
        check_panel(&p, k, whole, hy_image_room(image));
        col += x.cols;
        element = x.before + x.elements;
    }
    assert_int_equal(col, X->cols);
    assert_int_equal((size_t)element * hy_value_size(X->type), bytes);
    check_pieces(&p.image, &p.source, whole);
    free(whole);
}

static void panels_are_moved(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const int64_t line = kinds[k].type == HYBRID_F64 ? 8 : 16;
        for (int64_t cols = 2 * line; cols < 5 * line; cols += 7)
            for (int64_t back = 0; back < line; back++) {
                const int64_t most = line + (cols % line == 0 ? line : cols % line) - 1;
                hybrid_dense X;
                dense_make(23, cols, 1, orders[back % 2], 6, kinds[k], &X);
                hy_image p = hy_image_of_dense(HY_FORM_ROWS, 23, cols, X.type, 0);
                p.axis     = HY_AXIS_COLS;
                p.block = p.last = p.pitch = line;
                p.back                     = back;
                p.held                     = 2;
                check_moved_panels(&X, &p);
                p.last = most < line ? line : most;
                p.held = (cols + line - 1) / line;
                check_moved_panels(&X, &p);
                dense_free(&X);
            }
    }
}

/* Checks that a slab, a range of HY_X_SLAB rows of X, has its columns one after the
   other. */
static void check_slabs(const hybrid_dense *X)
{
    hy_problem p         = problem_of(X, HY_FORM_SLABS, 0);
    const hy_chunk panel = {.col_begin = X->cols / 3, .col_end = X->cols};
    const hy_job job     = {.problem = &p, .chunk = &panel};
    const size_t bytes   = hy_image_bytes(&p.image);
    char *whole          = make_whole(&p.image, &p.source);
    int64_t at           = 0;

    p.image_memory       = (hy_buffer){whole, bytes, HY_DEVICE};
    const hy_cols_view x = hy_packed_x_cols(&job);
    for (int64_t row = 0; row < X->rows; row += HY_X_SLAB)
        for (int64_t j = 0; j < X->cols; j++)
            for (int64_t i = row; i < X->rows && i < row + HY_X_SLAB; i++) {
                assert_true(value_at(whole, X->type, at++) == dense_at(X, i, j));
                if (j >= panel.col_begin)
                    assert_int_equal(hy_x_at(&x, i, j - panel.col_begin), at - 1);
            }
    assert_int_equal((size_t)at * hy_value_size(X->type), bytes);
    check_pieces(&p.image, &p.source, whole);
    free(whole);
}

static void shared_x_is_x(void **state)
{
    static const int64_t shapes[][2] = {{1, 1},   {70, 1},  {1, 45}, {70, 2},
                                        {67, 33}, {5, 100}, {9, 31}, {HY_X_SLAB + 9, 3},
                                        {21, 35}, {3, 98},  {8, 18}, {41, 65},
                                        {7, 129}, {4, 132}};

    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            for (int order = 0; order < 2; order++)
                for (int64_t gap = 0; gap < 2; gap++) {
                    hybrid_dense X;
                    dense_make(shapes[s][0], shapes[s][1], gap, orders[order], 6,
                               kinds[k], &X);
                    check_shared_x(&X);
                    check_lines(&X, 1);
                    check_lines(&X, 4);
                    check_slabs(&X);
                    dense_free(&X);
                }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_b_is_b),
        cmocka_unit_test(shared_x_is_x),
        cmocka_unit_test(panels_are_moved),
    };
    return cmocka_run_group_tests_name("shared", tests, open_context, close_context);
}
