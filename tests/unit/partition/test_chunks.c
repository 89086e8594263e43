/* tests/unit/partition/test_chunks.c - properties of chunks for all ways to cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/data/csr.h"
#include "base/text/size_text.h"
#include "partition/pattern/chunks.h"
#include "partition/format/pack.h"
#include "tests/support/inputs/builder.h"
#include "tests/support/inputs/cases.h"
#include "tests/support/engines/group.h"
#include "tests/support/subjects/chunk_variants.h"

static const test_kind kind = {HYBRID_F64, HYBRID_I64, 1};

/* ---- properties ---- */

static size_t bytes_of(const hy_cut *cut, const hy_features *f)
{
    const hy_cost cost = cut->variant->cost(f, NULL);
    return hy_cost_bytes(&cost);
}

/* Returns the features of a rectangle. The needed rows of B or X are counted one by
   one. */
static hy_features brute(const hy_cut *cut, int64_t begin, int64_t end, int64_t cols)
{
    hy_features f = hy_profile_range(cut->profile, begin, end, cols);
    char *seen    = calloc((size_t)cut->A->cols + 1, 1);

    assert_non_null(seen);
    for (int64_t k = hy_offset(cut->A, begin);
         hy_image_is_gathered(&cut->image) && k < hy_offset(cut->A, end); k++) {
        const int64_t j = hy_cols(cut->A)[k];
        if (seen[j])
            continue;
        seen[j] = 1;
        f.gather_rows++;
        f.gather_nnz += cut->B ? hy_offset(cut->B, j + 1) - hy_offset(cut->B, j) : 0;
    }
    free(seen);
    return f;
}

/* Returns the bytes of host memory of a chunk: its pack and, for SpMM, its rows of Y. */
static size_t host_bytes_of(const hy_cut *cut, const hy_features *f)
{
    const hy_cost cost = cut->variant->cost(f, NULL);
    return hy_align(cost.pack_bytes) + (cut->B ? 0 : hy_align(cost.out_bytes));
}

static int may_be_chunk(const hy_cut *cut, const hy_features *f)
{
    return bytes_of(cut, f) <= cut->slot_bytes &&
           (f->rows == 1 ||
            (f->products <= cut->products_max &&
             (cut->chunk_rows == 0 || f->rows <= cut->chunk_rows) &&
             (cut->host_bytes == 0 || host_bytes_of(cut, f) <= cut->host_bytes)));
}

/* Checks that the features of the chunk are exact, and that it fits. */
static void check_chunk(const hy_cut *cut, const hy_chunk *c, int64_t id)
{
    const int64_t cols  = c->col_end - c->col_begin;
    const hy_features f = brute(cut, c->row_begin, c->row_end, cols);

    assert_int_equal(c->id, id);
    assert_ptr_equal(c->variant, cut->variant);
    assert_int_equal(c->features.rows, f.rows);
    assert_int_equal(c->features.nnz, f.nnz);
    assert_int_equal(c->features.products, f.products);
    assert_int_equal(c->features.out_bound, f.out_bound);
    assert_int_equal(c->features.out_cols, cols);
    assert_int_equal(c->features.gather_rows, f.gather_rows);
    assert_int_equal(c->features.gather_nnz, f.gather_nnz);
    assert_true(may_be_chunk(cut, &f));
}

static void check_longest(const hy_cut *cut, const hy_chunk *c)
{
    if (c->row_end == cut->profile->rows)
        return;
    const hy_features more =
        brute(cut, c->row_begin, c->row_end + 1, c->col_end - c->col_begin);
    assert_false(may_be_chunk(cut, &more));
}

/* Checks that the chunks of each range of columns cover all rows, and the ranges cover
   all columns. Returns the number of ranges. */
static int64_t check_chunks(const hy_cut *cut, const hy_chunk *chunks, int64_t count)
{
    const int64_t rows = cut->profile->rows, cols = cut->profile->out_cols;
    int64_t row = 0, col = 0, panels = 0;

    for (int64_t i = 0; i < count; i++) {
        const hy_chunk *c = &chunks[i];
        assert_int_equal(c->row_begin, row);
        assert_int_equal(c->col_begin, col);
        assert_true(c->row_end > row && c->row_end <= rows);
        assert_true(c->col_end <= cols && (c->col_end > col || cols == 0));
        assert_true(row == 0 || c->col_end == chunks[i - 1].col_end);
        check_chunk(cut, c, i);
        if (panels == 0)
            check_longest(cut, c);
        row = c->row_end;
        if (row == rows) {
            row = 0;
            col = c->col_end;
            panels++;
        }
    }
    assert_int_equal(row, 0);
    assert_int_equal(col, rows > 0 ? cols : 0);
    return panels;
}

/* Returns the least number of columns of C to which a cut may reduce a chunk: 1 if chunks
   gather rows of X, else all columns. */
static int64_t least_cols(const hy_cut *cut)
{
    const int64_t cols = cut->profile->out_cols;
    return hy_image_is_gathered(&cut->image) && !cut->B && cols > 0 ? 1 : cols;
}

/* Checks that the message names a row that does not fit, and its bytes. */
static void check_refusal(const hy_cut *cut)
{
    char sizes[128];
    long long row;

    assert_int_equal(sscanf(ctx->message.text, "row %lld of the product needs", &row), 1);
    const hy_features f = brute(cut, row, row + 1, least_cols(cut));
    const size_t needs  = bytes_of(cut, &f);
    assert_true(needs > cut->slot_bytes);
    snprintf(sizes, sizeof sizes, " needs %s of memory, and the budget leaves %s for it",
             hy_size((int64_t)needs).s, hy_size((int64_t)cut->slot_bytes).s);
    assert_non_null(strstr(ctx->message.text, sizes));
}

static int every_row_fits(const hy_cut *cut, int64_t cols)
{
    for (int64_t i = 0; i < cut->profile->rows; i++) {
        const hy_features f = brute(cut, i, i + 1, cols);
        if (bytes_of(cut, &f) > cut->slot_bytes)
            return 0;
    }
    return 1;
}

/* Cuts and checks the chunks. Returns 0 if the cut was refused. */
static int cut_and_check(const hy_cut *cut)
{
    hy_chunk *chunks = NULL;
    int64_t count    = -1;

    hy_message_clear(&ctx->message);
    const hybrid_status status = hy_cut_chunks(ctx, cut, &chunks, &count);
    assert_int_equal(status == HYBRID_OK, every_row_fits(cut, least_cols(cut)));
    if (status != HYBRID_OK) {
        assert_int_equal(status, HYBRID_NO_DEVICE_MEMORY);
        assert_null(chunks);
        check_refusal(cut);
        return 0;
    }
    const int64_t panels = check_chunks(cut, chunks, count);
    if (panels > 1)
        assert_false(every_row_fits(cut, cut->profile->out_cols));
    hy_array_free(ctx, chunks);
    return 1;
}

/* Shrinks the slot from one that holds everything to one that holds no row. */
static void shrink_slot(hy_cut cut)
{
    const hy_features all = brute(&cut, 0, cut.profile->rows, cut.profile->out_cols);

    for (cut.slot_bytes = bytes_of(&cut, &all);; cut.slot_bytes -= cut.slot_bytes / 3)
        if (!cut_and_check(&cut) || cut.slot_bytes < 3)
            break;
}

static void vary_aims(hy_cut cut)
{
    static const int64_t rows[] = {0, 1, 7};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cut.chunk_rows   = rows[i];
        cut.products_max = INT64_MAX;
        shrink_slot(cut);
        cut.products_max = cut.profile->features.products / 5;
        shrink_slot(cut);
        cut.products_max = INT64_MAX;
        cut.host_bytes   = host_bytes_of(&cut, &cut.profile->features) / 5 + 1;
        shrink_slot(cut);
        cut.host_bytes = 0;
    }
}

static void run_case(int i)
{
    static const int64_t widths[] = {0, 1, 40};
    test_case c;
    hy_profile p;

    case_make(i, kind, &c);
    for (int gathered = 0; gathered < 2; gathered++) {
        hy_cut cut = {.A = &c.A, .profile = &p};
        if (gathered)
            cut.image.axis = HY_AXIS_GATHERED;
        assert_int_equal(hy_inspect(ctx, &c.A, &c.B, 0, NULL, &p), HYBRID_OK);
        cut.B       = &c.B;
        cut.variant = &chunk_spgemm;
        vary_aims(cut);
        hy_profile_free(ctx, &p);
        cut.B       = NULL;
        cut.variant = &chunk_spmm;
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
            assert_int_equal(hy_inspect(ctx, &c.A, NULL, widths[w], NULL, &p), HYBRID_OK);
            vary_aims(cut);
            hy_profile_free(ctx, &p);
        }
    }
    case_free(&c);
}

static void properties_hold(void **state)
{
    (void)state;
    for (int i = 0; i < case_count(); i++)
        if (strcmp(case_name(i), "tall") != 0) /* too large for counting one by one */
            run_case(i);
}

/* A row needs 60 rows of X. They fit the slot with few columns of X, but not with many,
   so that the columns are cut. */
static void columns_are_cut_where_a_row_does_not_fit(void **state)
{
    test_case c;
    hy_profile p;
    hy_chunk *chunks;
    int64_t count;

    (void)state;
    case_named("one_row", kind, &c);
    assert_int_equal(hy_inspect(ctx, &c.A, NULL, 100, NULL, &p), HYBRID_OK);
    hy_cut cut              = {.A            = &c.A,
                               .profile      = &p,
                               .variant      = &chunk_spmm,
                               .image        = {.axis = HY_AXIS_GATHERED},
                               .products_max = INT64_MAX};
    const hy_features seven = brute(&cut, 0, 1, 7);
    cut.slot_bytes          = bytes_of(&cut, &seven);
    assert_int_equal(hy_cut_chunks(ctx, &cut, &chunks, &count), HYBRID_OK);
    assert_int_equal(count, check_chunks(&cut, chunks, count));
    assert_true(count >= 12 && count <= 15);
    assert_true(chunks[0].col_end >= 7);
    hy_array_free(ctx, chunks);
    hy_profile_free(ctx, &p);
    case_free(&c);
}

/* Makes a matrix with enough entries for workers to cut several ranges of its rows at the
   same time. */
static hybrid_csr many_entries(void)
{
    enum { ROWS = 30000, ENTRIES = 40, BAND = 400 };
    builder b = build_start(ROWS, ROWS);

    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t k = 0; k < ENTRIES; k++)
            build_add(&b, test_below(3, (uint64_t)(i * ENTRIES + k), BAND) +
                              i * (ROWS - BAND) / ROWS);
        build_end_row(&b);
    }
    return build_finish(&b, 1, kind);
}

/* Cuts chunks with a pool of `threads` workers, and checks them. Returns the number of
   chunks that could have one more row: only the last chunk of a range of rows may. */
static int64_t cut_by(int threads, hy_cut cut, hy_chunk **chunks, int64_t *count)
{
    hy_context *own = test_context(threads);
    hy_chunk *made;
    int64_t shorter = 0;

    assert_int_equal(hy_cut_chunks(own, &cut, &made, count), HYBRID_OK);
    for (int64_t i = 0; i < *count; i++) {
        check_chunk(&cut, &made[i], i);
        assert_int_equal(made[i].row_begin, i > 0 ? made[i - 1].row_end : 0);
        if (made[i].row_end < cut.profile->rows) {
            const hy_features more = brute(&cut, made[i].row_begin, made[i].row_end + 1,
                                           made[i].col_end - made[i].col_begin);
            shorter += may_be_chunk(&cut, &more);
        }
    }
    assert_int_equal(made[*count - 1].row_end, cut.profile->rows);
    *chunks = malloc((size_t)*count * sizeof *made);
    assert_non_null(*chunks);
    memcpy(*chunks, made, (size_t)*count * sizeof *made);
    hy_array_free(own, made);
    test_context_free(own);
    return shorter;
}

/* With many entries, workers cut ranges of rows at the same time. The number of workers
   does not change the chunks. */
static void ranges_are_cut_side_by_side(void **state)
{
    hybrid_csr A = many_entries();
    hy_profile p;
    hy_chunk *one, *four;
    int64_t count, again;

    (void)state;
    assert_int_equal(hy_inspect(ctx, &A, &A, 0, NULL, &p), HYBRID_OK);
    for (int by_rows = 0; by_rows < 2; by_rows++) {
        hy_cut cut            = {.A            = &A,
                                 .B            = &A,
                                 .profile      = &p,
                                 .variant      = &chunk_spgemm,
                                 .image        = {.axis = HY_AXIS_GATHERED},
                                 .chunk_rows   = by_rows ? 1000 : 0,
                                 .slot_bytes   = by_rows ? SIZE_MAX / 2 : 8 << 20,
                                 .products_max = by_rows ? INT32_MAX : p.features.products / 9};
        const int64_t shorter = cut_by(1, cut, &one, &count);
        assert_int_equal(cut_by(4, cut, &four, &again), shorter);
        assert_int_equal(count, again);
        assert_memory_equal(one, four, (size_t)count * sizeof *one);
        assert_true(count >= 9);
        assert_true(by_rows ? shorter == 0 && count == 30 : shorter <= 4);
        free(one);
        free(four);
    }
    hy_profile_free(ctx, &p);
    matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(properties_hold),
        cmocka_unit_test(columns_are_cut_where_a_row_does_not_fit),
        cmocka_unit_test(ranges_are_cut_side_by_side),
    };
    return cmocka_run_group_tests_name("chunks", tests, open_two_workers, close_context);
}
