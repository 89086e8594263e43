/* tests/unit/plan/test_cut_passes.c - ranges of rows of B, and chunks that multiply
   them in passes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "partition/parts/passes.h"
#include "partition/pattern/chunks.h"
#include "tests/support/engines/group.h"
#include "tests/support/inputs/builder.h"
#include "tests/support/inputs/cases.h"
#include "tests/support/subjects/chunk_variants.h"

static const test_kind kind = {HYBRID_F32, HYBRID_I64, 1};

/* Makes a matrix in which every element is an entry. */
static hybrid_csr make_full(int64_t rows, int64_t cols)
{
    return build_rows(rows, cols, cols, -1, kind);
}

/* ---- ranges of rows of B ------------------------------------------------------------
 */

/* Returns the most entries of B in a pass. Checks that passes follow each other. */
static int64_t longest_pass(const hy_image *image, const hybrid_csr *B)
{
    int64_t most = 0;

    assert_int_equal(hy_pass_begin(image, B, 0), 0);
    assert_int_equal(hy_pass_begin(image, B, hy_passes(image)), B->rows);
    for (int64_t k = 0; k < hy_passes(image); k++) {
        const int64_t begin = hy_pass_begin(image, B, k);
        const int64_t end   = hy_pass_begin(image, B, k + 1);
        assert_in_range(begin, 0, end);
        most = hy_max(most, hy_offset(B, end) - hy_offset(B, begin));
    }
    return most;
}

/* Kernels number the entries of a chunk with 31 bits. However large a device is, a pass
   of this B of 2^34 entries leaves half of these numbers to the sums of earlier passes.
 */
static void a_pass_has_few_entries(void **state)
{
    enum { ROWS = 64 };
    int64_t row_ptr[ROWS + 1];
    const hybrid_csr B = {.rows        = ROWS,
                          .cols        = 1 << 28,
                          .nnz         = (int64_t)ROWS << 28,
                          .row_ptr     = row_ptr,
                          .offset_type = HYBRID_I64,
                          .type        = HYBRID_F32};

    (void)state;
    for (int64_t i = 0; i <= ROWS; i++)
        row_ptr[i] = i << 28;
    const hy_image whole = hy_image_of_csr(B.rows, B.cols, B.nnz, B.type);
    const hy_image image = hy_image_of_passes(&whole, &B, (int64_t)1 << 36);
    assert_int_equal(longest_pass(&image, &B), image.span);
    assert_in_range(image.span, 1, 1 << 30);
}

/* ---- chunks -------------------------------------------------------------------------
 */

/* Cuts A*B into chunks that bring B in passes of `bytes` bytes. A chunk has `rows` rows;
   0: as many as fit. The caller frees the chunks. */
static hy_chunk *cut_in_passes(const hybrid_csr *A, const hybrid_csr *B,
                               const hy_profile *profile, int64_t bytes, int64_t rows,
                               int64_t *count)
{
    const hy_image whole = hy_image_of_csr(B->rows, B->cols, B->nnz, B->type);
    const hy_cut cut     = {.A            = A,
                            .B            = B,
                            .profile      = profile,
                            .variant      = &chunk_spgemm,
                            .image        = hy_image_of_passes(&whole, B, bytes),
                            .slot_bytes   = SIZE_MAX / 2,
                            .products_max = INT64_MAX,
                            .chunk_rows   = rows};
    hy_chunk *chunks;

    assert_int_equal(hy_cut_chunks(ctx, &cut, &chunks, count), HYBRID_OK);
    return chunks;
}

/* A chunk may have more than 2^31 scalar products, if none of its passes has. */
static void only_passes_are_numbered(void **state)
{
    hybrid_csr A = make_full(2048, 1024), B = make_full(1024, 1024 + 64);
    hy_profile p;
    int64_t count;

    (void)state;
    assert_int_equal(hy_inspect(ctx, &A, &B, 0, NULL, &p), HYBRID_OK);
    assert_true(p.features.products > INT32_MAX);
    hy_chunk *chunks = cut_in_passes(&A, &B, &p, 1 << 20, 0, &count);
    assert_int_equal(count, 1);
    hy_array_free(ctx, chunks);
    hy_profile_free(ctx, &p);
    matrix_free(&A);
    matrix_free(&B);
}

/* The columns of a pass number its rows of B, and the sums of the chunk's rows behind
   them, with 31 bits. */
static void rows_and_sums_are_numbered(void **state)
{
    enum { ROWS = 1 << 30 };
    const hy_image image    = {.form  = HY_FORM_CSR,
                               .type  = HYBRID_F32,
                               .rows  = ROWS,
                               .axis  = HY_AXIS_PASSES,
                               .block = (int64_t)1 << 33,
                               .held  = ROWS};
    const hy_features empty = {.rows = ROWS, .cols = ROWS, .type = HYBRID_F32};
    const hy_features some  = {.rows = ROWS / 2, .cols = ROWS, .type = HYBRID_F32};
    const hy_features many  = hy_pass_features(&image, &empty),
                      few   = hy_pass_features(&image, &some);

    (void)state;
    assert_false(hy_chunk_is_counted(&many));
    assert_true(hy_chunk_is_counted(&few));
}

/* Chunks have the number of rows that the caller asks for. */
static void chunks_have_as_many_rows_as_asked(void **state)
{
    enum { ROWS = 5000, EACH = 53 };
    hybrid_csr A = make_full(ROWS, 4), B = make_full(4, 4);
    hy_profile p;
    int64_t count;

    (void)state;
    assert_int_equal(hy_inspect(ctx, &A, &B, 0, NULL, &p), HYBRID_OK);
    hy_chunk *chunks = cut_in_passes(&A, &B, &p, 50, EACH, &count);
    for (int64_t i = 0; i < count; i++) {
        assert_int_equal(chunks[i].row_begin, i * EACH);
        assert_int_equal(chunks[i].row_end, hy_min((i + 1) * EACH, ROWS));
    }
    assert_int_equal(chunks[count - 1].row_end, ROWS);
    hy_array_free(ctx, chunks);
    hy_profile_free(ctx, &p);
    matrix_free(&A);
    matrix_free(&B);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pass_has_few_entries),
        cmocka_unit_test(only_passes_are_numbered),
        cmocka_unit_test(rows_and_sums_are_numbered),
        cmocka_unit_test(chunks_have_as_many_rows_as_asked),
    };
    return cmocka_run_group_tests_name("passes", tests, open_two_workers, close_context);
}
