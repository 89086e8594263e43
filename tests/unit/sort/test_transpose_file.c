/* tests/unit/sort/test_transpose_file.c - a matrix in a file is transposed in bounded
   memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/csr.h"
#include "io/formats/file_format.h"
#include "io/sort/entry_sort.h"
#include "partition/move/sources.h"
#include "support/engines/io_fixture.h"
#include "support/subjects/entry_list.h"

static hybrid_status transpose_file(const hy_matrix_file *A, hy_matrix_file *out)
{
    const hy_source source = hy_source_csr_file(A);

    return hy_source_transpose(&source, out);
}

static void transposes(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        const hybrid_type type = i % 2 ? HYBRID_F32 : HYBRID_F64;
        entry_list l           = entry_list_make(NARROW, 2000, 40000, 50);
        hy_matrix_file A, T = {.ctx = io_ctx};
        void *name;
        for (int64_t k = 0; k < l.count;
             k++) /* the values are whole numbers, whose sums do not depend on order */
            l.entry[k].value = (double)(k % 9);
        entry_list_sizes(i < 2 ? 0 : 100, 8, 16);
        assert_int_equal(entry_list_sort(&l, type, &A), HYBRID_OK);
        assert_int_equal(hy_array(io_ctx, 2, 1, "a name", &name), HYBRID_OK);
        T.name                  = memcpy(name, "T", 2);
        io_ctx->memory.failures = 1;
        assert_int_equal(transpose_file(&A, &T), HYBRID_NO_MEMORY);
        hy_message_clear(&io_ctx->message);
        if (transpose_file(&A, &T) != HYBRID_OK)
            fail_msg("%s", io_ctx->message.text);
        entry_list_expect(&T, &l, 1, type);
        hy_matrix_file_close(&T);
        hy_matrix_file_close(&A);
        free(l.entry);
    }
}

/* Transposing a matrix with a wrong column index reports the entry, and gives no
   matrix. */
static void a_bad_matrix_is_not_transposed(void **state)
{
    static const struct {
        int32_t col;
        const char *sentence;
    } bad[] = {{7, "A: row 1, entry 1: column 7 is not in 0..6"},
               {-1, "A: row 1, entry 1: column -1 is not in 0..6"},
               {2, "A: row 1, entry 1: column 2 does not come after column 2"},
               {3, NULL}};
    static const char json[] =
        "{\"format\": \"hybrid-csr\", \"version\": 1, \"rows\": 2, \"cols\": 7, "
        "\"nnz\": 3, \"type\": \"f64\", \"row_ptr\": {\"file\": \"p\", \"type\": "
        "\"i64\"}, "
        "\"col\": {\"file\": \"c\", \"type\": \"i32\"}, \"values\": {\"file\": \"v\"}}";
    const int64_t row_ptr[] = {0, 1, 3};
    const double values[]   = {1, 2, 3};

    (void)state;
    io_store(io_temp("p"), row_ptr, sizeof row_ptr);
    io_store(io_temp("v"), values, sizeof values);
    io_store(io_temp("A.json"), json, sizeof json - 1);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const int32_t col[] = {6, 2, bad[i].col};
        hy_matrix_file A, T = {.ctx = io_ctx};
        hy_message_clear(&io_ctx->message);
        io_store(io_temp("c"), col, sizeof col);
        assert_int_equal(
            hy_matrix_file_open(io_ctx, hy_file_formats, io_temp("A.json"), &A),
            HYBRID_OK);
        A.name[0] = 'A', A.name[1] = '\0';
        const hybrid_status status = transpose_file(&A, &T);
        assert_int_equal(status, bad[i].sentence ? HYBRID_BAD_MATRIX : HYBRID_OK);
        if (bad[i].sentence)
            assert_string_equal(io_ctx->message.text, bad[i].sentence);
        hy_matrix_file_close(&T);
        hy_matrix_file_close(&A);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(transposes, entry_list_reset),
        cmocka_unit_test_teardown(a_bad_matrix_is_not_transposed, entry_list_reset),
    };
    return cmocka_run_group_tests(tests, io_group_open, io_group_close);
}
