/* tests/unit/io/test_converted.c - arrays in files whose numbers are converted, and rows
   that are appended in any kind of numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/csr.h"
#include "io/formats/plain_numbers.h"
#include "io/numbers/converted.h"
#include "io/numbers/put_rows.h"
#include "support/engines/io_fixture.h"
#include "support/files/io_status.h"
#include "support/inputs/cases.h"

enum { ROWS = 9000, COLS = 500 };

static const hy_number_kind kinds[] = {
    {HY_SIGNED, 4, 0}, {HY_SIGNED, 8, 0}, {HY_SIGNED, 4, 1}, {HY_SIGNED, 8, 1}};
static const hy_number_kind floats[] = {
    {HY_FLOAT, 4, 0}, {HY_FLOAT, 8, 0}, {HY_FLOAT, 4, 1}, {HY_FLOAT, 8, 1}};

typedef enum array { OFFSETS, LENGTHS, COLUMNS, VALUES, ARRAYS } array;

static int64_t count_of(const hybrid_csr *A, array which)
{
    return which < COLUMNS ? A->rows : A->nnz;
}

/* Writes an array of A, converted to `kind`, to a.bin. */
static void write_array(const hybrid_csr *A, array which, hy_number_kind kind)
{
    const int64_t bytes = count_of(A, which) * kind.size;
    hy_byte_region region;
    hy_byte_file file;

    io_ok(hy_byte_file_create(io_ctx, io_temp("a.bin"), &file));
    io_ok(hy_byte_region_open(&file, 0, bytes, &region));
    if (which == OFFSETS)
        io_ok(hy_put_offsets(&region, kind, A, 1000));
    else if (which == LENGTHS)
        io_ok(hy_put_lengths(&region, kind, A));
    else if (which == COLUMNS)
        io_ok(hy_put_columns(&region, kind, A));
    else
        io_ok(hy_put_values(&region, kind, A->type, A->val, A->nnz));
    io_ok(hy_byte_region_flush(&region));
    hy_byte_region_close(&region);
    io_ok(hy_byte_file_close(&file));
}

static int64_t wanted_index(const hybrid_csr *A, array which, int64_t i)
{
    return which == OFFSETS   ? 1000 + hy_offset(A, i + 1)
           : which == LENGTHS ? hy_offset(A, i + 1) - hy_offset(A, i)
                              : hy_cols(A)[i];
}

static void check_indices(const hybrid_csr *A, array which, hy_number_kind kind,
                          hybrid_index type)
{
    const int64_t count = count_of(A, which), first = count / 3;
    int64_t *numbers = malloc((size_t)count * 8);
    hy_stored stored;

    assert_non_null(numbers);
    io_ok(hy_plain_numbers_open(io_ctx, io_temp("a.bin"), 0, count, (size_t)kind.size,
                                &stored));
    io_ok(hy_stored_to_indices(&stored, kind, type, "a.bin"));
    io_ok(hy_stored_read(&stored, first, count - first, numbers));
    for (int64_t i = first; i < count; i++)
        assert_int_equal(type == HYBRID_I64 ? numbers[i - first]
                                            : ((int32_t *)numbers)[i - first],
                         wanted_index(A, which, i));
    hy_stored_close(&stored);
    free(numbers);
}

static void indices_survive_all_kinds(void **state)
{
    hybrid_csr A;

    (void)state;
    matrix_random(ROWS, COLS, 3, 1, (test_kind){HYBRID_F32, HYBRID_I64, 1}, &A);
    const hybrid_csr wide = matrix_widen(&A);
    for (int w = OFFSETS; w <= COLUMNS; w++)
        for (int k = 0; k < 8; k++) {
            write_array(&A, (array)w, kinds[k / 2]);
            check_indices(&A, (array)w, kinds[k / 2], k & 1 ? HYBRID_I64 : HYBRID_I32);
            write_array(&wide, (array)w, kinds[k / 2]);
            check_indices(&A, (array)w, kinds[k / 2], k & 1 ? HYBRID_I64 : HYBRID_I32);
        }
    free(wide.col);
    matrix_free(&A);
}

static void values_survive_all_kinds(void **state)
{
    (void)state;
    for (int k = 0; k < 8; k++) {
        const hy_number_kind kind = floats[k / 2];
        hy_stored stored;
        hybrid_csr A;
        matrix_random(ROWS, COLS, 3, 1,
                      (test_kind){k & 1 ? HYBRID_F64 : HYBRID_F32, HYBRID_I64, 1}, &A);
        double *numbers = malloc((size_t)A.nnz * 8);
        write_array(&A, VALUES, kind);
        io_ok(hy_plain_numbers_open(io_ctx, io_temp("a.bin"), 0, A.nnz, (size_t)kind.size,
                                    &stored));
        io_ok(hy_stored_to_values(&stored, kind, "a.bin"));
        io_ok(hy_stored_read(&stored, 0, A.nnz, numbers));
        for (int64_t i = 0; i < A.nnz; i++)
            assert_true((kind.size == 8 ? numbers[i] : (double)((float *)numbers)[i]) ==
                        (k & 1 ? ((double *)A.val)[i] : (double)((float *)A.val)[i]));
        hy_stored_close(&stored);
        free(numbers);
        matrix_free(&A);
    }
}

static void numbers_that_do_not_fit_are_named(void **state)
{
    static int64_t numbers[10000];
    const double large = 1e39;
    hy_byte_region region;
    hy_byte_file file;
    hy_stored stored;

    (void)state;
    numbers[7001] = INT64_C(1) << 40;
    io_store(io_temp("a.bin"), numbers, sizeof numbers);
    io_ok(hy_plain_numbers_open(io_ctx, io_temp("a.bin"), 0, 10000, 8, &stored));
    io_expect(hy_stored_to_indices(&stored, floats[1], HYBRID_I32, "a.bin"),
              HYBRID_BAD_FILE, "a.bin: holds no whole numbers");
    io_ok(hy_stored_to_indices(&stored, kinds[1], HYBRID_I32, "a.bin"));
    io_expect(hy_stored_read(&stored, 1, 9999, numbers), HYBRID_BAD_FILE,
              "a.bin: number 7001 does not fit 32 bits");
    hy_stored_close(&stored);
    io_ok(hy_byte_file_create(io_ctx, io_temp("a.bin"), &file));
    io_ok(hy_byte_region_open(&file, 0, 4, &region));
    io_expect(hy_put_values(&region, floats[0], HYBRID_F64, &large, 1),
              HYBRID_BAD_ARGUMENT, "a.bin: a value is too large for 32 bits");
    hy_byte_region_close(&region);
    io_ok(hy_byte_file_close(&file));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(indices_survive_all_kinds),
        cmocka_unit_test(values_survive_all_kinds),
        cmocka_unit_test(numbers_that_do_not_fit_are_named),
    };
    return cmocka_run_group_tests(tests, io_group_open, io_group_close);
}
