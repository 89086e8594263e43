/* tests/unit/io/test_raw.c - JSON descriptions of raw arrays, with each possible fault,
   and sparse matrices read from them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/data/csr.h"
#include "io/formats/file_format.h"
#include "io/formats/raw.h"
#include "support/inputs/cases.h"
#include "support/engines/io_fixture.h"

/* ---- faults ---- */

#define BEGIN                                                                            \
    "{\"format\": \"hybrid-dense\",\n\"version\": 1, \"rows\": 4, \"cols\": 2,\n"
#define DENSE BEGIN "\"type\": \"f32\", \"order\": \"row\",\n"
#define VALUES "\"values\": {\"file\": \"x\"}"
#define CSR                                                                              \
    "{\"format\": \"hybrid-csr\", \"version\": 1, \"rows\": 4, \"type\": \"f32\", "      \
    "\"nnz\": 1,\n" VALUES ", \"row_ptr\": {\"file\": \"x\", \"type\": \"i32\"},\n"

#define ROWS "{\"format\": \"hybrid-rows\", \"version\": 1,\n"

static const struct fault {
    const char *text, *sentence;
} faults[] = {
    {"", ":1: the file has no format that is read: it begins neither as HDF5, "
         "Matrix Market"},
    {"[]", ":1: the file has no format that is read: it begins neither as HDF5, "
           "Matrix Market"},
    {"{}", ":1: expected a string in double quotes"},
    {"{\"rows\": 4}", ":1: 'rows' is an unknown key here"},
    {"{\"format\" \"hybrid-dense\"}", ":1: 'format' is not followed by ':'"},
    {"{\"format\": 4}", ":1: expected a string in double quotes"},
    {"{\"format\":\n \"hybrid\"}",
     ":2: 'format' must be \"hybrid-dense\" or \"hybrid-csr\" or \"hybrid-rows\""},
    {"{\"format\": \"hybrid-csr\"}", ":1: 'format' is not followed by ','"},
    {"{\"format\": \"hybrid-csr", ":1: a string has no end"},
    {"{\"format\": \"hybrid-csr\\", ":1: a string has no end"},
    {"{\"format\": \"hybrid\n-csr\"", ":1: a string holds a control character"},
    {"{\"format\": \"\\x41\"", ":1: a string holds an escape that JSON does not have"},
    {"{\"format\": \"\\u0041\"", ":1: 'format' must be \"hybrid-dense\" or"},
    {BEGIN "\"color\": 1}", ":3: 'color' is an unknown key here"},
    {BEGIN "\"rows\": 1}", ":3: 'rows' appears twice"},
    {BEGIN "\"ld\": -1}", ":3: 'ld' must be a whole number of 0 or more"},
    {BEGIN "\"ld\": 02}", ":3: 'ld' must be a whole number"},
    {BEGIN "\"ld\": 2.0}", ":3: 'ld' must be a whole number"},
    {BEGIN "\"ld\": 2e9}", ":3: 'ld' must be a whole number"},
    {BEGIN "\"ld\": \"2\"}", ":3: 'ld' must be a whole number"},
    {BEGIN "\"ld\": null}", ":3: 'ld' must be a whole number"},
    {BEGIN "\"ld\": 9223372036854775808}", ":3: 'ld' is beyond 64 bits"},
    {BEGIN "\"ld\": 2 \"type\": \"f32\"}", ":3: 'ld' is not followed by ',' or '}'"},
    {BEGIN "\"ld\": 2,}", ":3: expected a string in double quotes"},
    {BEGIN "\"type\": \"f16\"}", ":3: 'type' must be \"f32\" or \"f64\""},
    {BEGIN "\"order\": \"rows\"}", ":3: 'order' must be \"row\" or \"col\""},
    {BEGIN "\"values\": \"x.bin\"}", ":3: 'values' must be a JSON object"},
    {BEGIN "\"values\": {}}", ":3: expected a string in double quotes"},
    {BEGIN "\"values\": {\"offset\": 4}}", ":3: 'file' is missing"},
    {BEGIN "\"values\": {\"file\": \"\"}}", ":3: the name of a file is empty"},
    {BEGIN "\"values\": {\"file\": 3}}", ":3: expected a string in double quotes"},
    {BEGIN "\"values\": {\"type\": \"f32\"}}", ":3: 'type' is an unknown key here"},
    {BEGIN VALUES "}", ":3: 'type' is missing"},
    {BEGIN VALUES, ":3: 'values' is not followed by ',' or '}'"},
    {DENSE VALUES ", \"ld\": 1}",
     ":4: 'ld' is 1, and must be at least 2, the length of a row"},
    {DENSE VALUES ", \"ld\": 1152921504606846976}",
     ":4: the matrix takes 2^63 bytes or more"},
    {DENSE "\"values\": {\"file\": \"x\", \"offset\": 4611686018427387904}}",
     ":4: the matrix takes 2^63 bytes or more"},
    {DENSE VALUES "} {}", ":4: text follows the object"},
    {CSR "\"cols\": 4, \"col\": {\"file\": \"x\", \"type\": \"i64\"}}",
     ":3: 'type' must be \"i32\""},
    {CSR "\"cols\": 4, \"col\": {\"file\": \"x\"}}", ":3: 'type' is missing"},
    {CSR "\"col\": {\"file\": \"x\", \"type\": \"i32\"}}", ":3: 'cols' is missing"},
    {CSR "\"cols\": 2147483648, \"col\": {\"file\": \"x\", \"type\": \"i32\"}}",
     ":3: 'cols' must be less than 2^31"},
    {"{\"format\": \"hybrid-csr\", \"version\": 1, \"rows\": 9223372036854775807, "
     "\"cols\": 1, \"nnz\": 1, \"type\": \"f32\", " VALUES
     ", \"row_ptr\": {\"file\": \"x\", \"type\": \"i32\"}, "
     "\"col\": {\"file\": \"x\", \"type\": \"i32\"}}",
     ":1: the matrix takes 2^63 bytes or more"},
    {"{\"format\": \"hybrid-dense\", \"version\": 2, \"rows\": 4, \"cols\": 2, "
     "\"type\": \"f32\", \"order\": \"row\", " VALUES "}",
     ":1: 'version' must be 1, the only version that this library reads"},
    {ROWS "\"parts\": 1}", ":2: 'parts' must be a JSON list of objects"},
    {ROWS "\"parts\": []}", ":2: 'parts' must be a JSON list of objects"},
    {ROWS "\"parts\": [{}]}", ":2: expected a string in double quotes"},
    {ROWS "\"parts\": [{\"begin\": 1}]}", ":2: 'file' is missing"},
    {ROWS "\"parts\": [{\"file\": \"x\"}}", ":2: 'parts' is not followed by ',' or ']'"},
    {ROWS "\"parts\": [{\"file\": \"x\"},]}",
     ":2: 'parts' must be a JSON list of objects"},
    {ROWS "\"parts\": [{\"file\": \"x\", \"begin\": 3, \"end\": 2}]}",
     ":2: 'end' is less than 'begin'"},
    {ROWS "\"rows\": 3}", ":2: 'rows' is an unknown key here"},
};

static void each_fault_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        const struct fault *f = &faults[i];
        hy_raw_header h;
        hy_input input;

        assert_int_equal(
            hy_input_copy(io_ctx, "x.json", f->text, strlen(f->text), &input), HYBRID_OK);
        assert_int_equal(hy_raw_parse(io_ctx, &input, &h), HYBRID_BAD_FILE);
        if (strncmp(io_ctx->message.text, "x.json", 6) != 0 ||
            strncmp(io_ctx->message.text + 6, f->sentence, strlen(f->sentence)) != 0)
            fail_msg("%s: '%s', not '%s'", f->text, io_ctx->message.text, f->sentence);
        hy_message_clear(&io_ctx->message);
        hy_input_close(io_ctx, &input);
    }
}

static void a_long_file_is_refused(void **state)
{
    const size_t bytes = HY_HEAD_BYTES + 1;
    char *text         = malloc(bytes);
    hy_raw_header h;
    hy_input input;

    (void)state;
    assert_non_null(text);
    memset(text, ' ', bytes);
    assert_int_equal(hy_input_copy(io_ctx, "x.json", text, bytes, &input), HYBRID_OK);
    assert_int_equal(hy_raw_parse(io_ctx, &input, &h), HYBRID_BAD_FILE);
    assert_string_equal(
        io_ctx->message.text,
        "x.json: is longer than 1 MiB, so that it cannot be the description of a matrix");
    hy_message_clear(&io_ctx->message);
    hy_input_close(io_ctx, &input);
    free(text);
}

/* ---- valid descriptions ---- */

static void headers_are_read(void **state)
{
    hy_raw_header h;
    hy_input input;

    (void)state;
    assert_int_equal(hy_input_open(io_ctx, io_data("header_csr.json"), &input),
                     HYBRID_OK);
    assert_int_equal(hy_raw_parse(io_ctx, &input, &h), HYBRID_OK);
    assert_true(h.form == HY_RAW_CSR && h.rows == 4 && h.cols == 4 && h.nnz == 7);
    assert_true(h.type == HYBRID_F64 && h.row_ptr.type == HYBRID_I64 &&
                h.row_ptr.offset == 0 && h.col.offset == 40 && h.values.offset == 72);
    assert_memory_equal(h.row_ptr.name, "a \\\"1\\\" \\\\ \\/.bin", h.row_ptr.length);
    hy_input_close(io_ctx, &input);
    assert_int_equal(hy_input_open(io_ctx, io_data("header_dense.json"), &input),
                     HYBRID_OK);
    assert_int_equal(hy_raw_parse(io_ctx, &input, &h), HYBRID_OK);
    assert_true(h.form == HY_RAW_DENSE && h.rows == 4 && h.cols == 2 && h.ld == 2 &&
                h.type == HYBRID_F32 && h.order == HYBRID_ROW_MAJOR);
    hy_input_close(io_ctx, &input);
}

static void parts_are_read(void **state)
{
    static const char text[] = ROWS "\"parts\": [{\"file\": \"a\", \"end\": 5}, "
                                    "{\"begin\": 2,\n\"file\": \"bc\"}]}";
    hy_raw_part parts[2];
    hy_raw_header h;
    hy_input input;

    (void)state;
    assert_int_equal(hy_input_copy(io_ctx, "x.json", text, strlen(text), &input),
                     HYBRID_OK);
    assert_int_equal(hy_raw_parse(io_ctx, &input, &h), HYBRID_OK);
    assert_true(h.form == HY_RAW_ROWS && h.parts == 2);
    assert_int_equal(hy_raw_parse_parts(io_ctx, &input, parts), HYBRID_OK);
    assert_true(parts[0].begin == 0 && parts[0].end == 5 && parts[0].file.length == 1);
    assert_true(parts[1].begin == 2 && parts[1].end == -1 && parts[1].file.length == 2);
    assert_memory_equal(parts[1].file.name, "bc", 2);
    hy_input_close(io_ctx, &input);
}

/* A description is read whose keys and words have characters written as JSON escapes
   (\u0066). */
static void escaped_words_are_read(void **state)
{
    static const char text[] =
        "{\"\\u0066ormat\": \"hybrid\\u002Ddense\", "
        "\"version\": 1, \"rows\": 4, \"cols\": 2, \"t\\u0079pe\": "
        "\"\\u0066\\u0033\\u0032\", \"order\": \"row\", " VALUES "}";
    hy_raw_header h;
    hy_input input;

    (void)state;
    assert_int_equal(hy_input_copy(io_ctx, "x.json", text, strlen(text), &input),
                     HYBRID_OK);
    assert_int_equal(hy_raw_parse(io_ctx, &input, &h), HYBRID_OK);
    assert_true(h.form == HY_RAW_DENSE && h.type == HYBRID_F32);
    hy_input_close(io_ctx, &input);
}

/* If the description of a dense matrix has no "ld", its lines follow each other without
   gaps. */
static void ld_may_be_left_out(void **state)
{
    static const char text[] = DENSE VALUES "}";
    hy_raw_header h;
    hy_input input;

    (void)state;
    assert_int_equal(hy_input_copy(io_ctx, "x.json", text, strlen(text), &input),
                     HYBRID_OK);
    assert_int_equal(hy_raw_parse(io_ctx, &input, &h), HYBRID_OK);
    assert_true(h.ld == 2);
    hy_input_close(io_ctx, &input);
}

/* ---- sparse matrices ---- */

/* Spelling of the file name in the description. */
typedef enum naming { ODD, ABSOLUTE, SLASHES_ESCAPED, ALL_ESCAPED, NAMINGS } naming;

/* Writes the absolute path of the file to `to`, as JSON. */
static void put_absolute(char *to, naming how, const char *path)
{
    for (; *path; path++)
        if (how == ALL_ESCAPED)
            to += sprintf(to, "\\u%04x", (unsigned)*path);
        else
            to += sprintf(to, how == SLASHES_ESCAPED && *path == '/' ? "\\%c" : "%c",
                          *path);
}

/* Stores all arrays in one file, and its description. */
static void store_csr(const hybrid_csr *A, naming how)
{
    const char *file     = how == ODD ? "a\"\\.bin" : "a.bin";
    const size_t offsets = (size_t)(A->rows + 1) * hy_offset_size(A);
    const size_t cols = (size_t)A->nnz * 4, size = hy_value_size(A->type);
    const size_t bytes = offsets + cols + (size_t)A->nnz * size;
    char *all = malloc(bytes), name[2048] = "a\\\"\\\\.bin", text[8192];

    assert_non_null(all);
    memcpy(all, A->row_ptr, offsets);
    memcpy(all + offsets, A->col, cols);
    memcpy(all + offsets + cols, A->val, (size_t)A->nnz * size);
    if (how != ODD)
        put_absolute(name, how, io_temp(file));
    io_store(io_temp(file), all, bytes);
    snprintf(
        text, sizeof text,
        "{\"format\": \"hybrid-csr\", \"version\": 1, \"rows\": %lld, \"cols\": %lld,"
        "\"nnz\": %lld, \"type\": \"%s\",\"row_ptr\": {\"file\": \"%s\", \"type\": "
        "\"%s\"}, \"col\": {\"file\": \"%s\", \"offset\": %zu, \"type\": \"i32\"},"
        "\"values\": {\"file\": \"%s\", \"offset\": %zu}}",
        (long long)A->rows, (long long)A->cols, (long long)A->nnz,
        size == 8 ? "f64" : "f32", name, A->offset_type == HYBRID_I64 ? "i64" : "i32",
        name, offsets, name, offsets + cols);
    io_store(io_temp("a.json"), text, strlen(text));
    free(all);
}

static void check_same(const hybrid_csr *A, const hybrid_csr *B)
{
    assert_true(A->rows == B->rows && A->cols == B->cols && A->nnz == B->nnz &&
                A->type == B->type);
    for (int64_t i = 0; i <= A->rows; i++)
        assert_true(hy_offset(A, i) == hy_offset(B, i));
    assert_memory_equal(A->col, B->col, (size_t)A->nnz * 4);
    assert_memory_equal(A->val, B->val, (size_t)A->nnz * hy_value_size(A->type));
}

static void sparse_matrices_are_read(void **state)
{
    (void)state;
    for (int i = 0; i < 8 * NAMINGS; i++) {
        const test_kind kind = {i & 1 ? HYBRID_F32 : HYBRID_F64,
                                i & 2 ? HYBRID_I32 : HYBRID_I64, 0};
        hybrid_csr A, B;
        matrix_random(30, 40, i & 4 ? 5 : 0, 1, kind, &A);
        store_csr(&A, (naming)(i / 8));
        const hybrid_status status =
            hy_matrix_file_read(io_ctx, hy_file_formats, io_temp("a.json"), &B);
        if (status != HYBRID_OK)
            fail_msg("%s", io_ctx->message.text);
        check_same(&A, &B);
        hy_csr_free(io_ctx, &B);
        matrix_free(&A);
    }
}

static void refuse(hybrid_status wanted, const char *sentence)
{
    hybrid_csr B = {.rows = -7};

    assert_int_equal(hy_matrix_file_read(io_ctx, hy_file_formats, io_temp("a.json"), &B),
                     wanted);
    if (!strstr(io_ctx->message.text, sentence))
        fail_msg("'%s' is not in '%s'", sentence, io_ctx->message.text);
    assert_true(B.rows == -7);
    hy_message_clear(&io_ctx->message);
}

static void bad_sparse_matrices_are_refused(void **state)
{
    const test_kind kind = {HYBRID_F64, HYBRID_I32, 0};
    const int64_t used   = hy_meter_used(&io_ctx->memory.meter);
    hybrid_csr A;

    (void)state;
    matrix_random(30, 40, 5, 1, kind, &A);
    hy_cols(&A)[3] = 40;
    store_csr(&A, ODD);
    refuse(HYBRID_BAD_MATRIX, "a.json");
    hy_cols(&A)[3]            = 0;
    ((int32_t *)A.row_ptr)[4] = -1;
    store_csr(&A, ODD);
    refuse(HYBRID_BAD_MATRIX, "a.json");
    assert_int_equal(truncate(io_temp("a\"\\.bin"), 200), 0);
    refuse(HYBRID_BAD_FILE, "a\"\\.bin: has 200 bytes");
    io_store(io_temp("x"), A.val, 32);
    io_store(io_temp("a.json"), DENSE VALUES "}", strlen(DENSE VALUES "}"));
    refuse(HYBRID_BAD_FILE, "must describe a sparse matrix, but describes a dense one");
    assert_true(hy_meter_used(&io_ctx->memory.meter) <= used);
    matrix_free(&A);
}

static void each_allocation_may_fail(void **state)
{
    const test_kind kind = {HYBRID_F64, HYBRID_I32, 0};
    hybrid_status status = HYBRID_NO_MEMORY;
    int64_t failed       = 0;
    hybrid_csr A, B;

    (void)state;
    matrix_random(30, 40, 5, 1, kind, &A);
    store_csr(&A, ODD);
    for (int64_t n = 1; n < 100 && status != HYBRID_OK; n++, failed++) {
        io_ctx->memory.failures = n;
        status = hy_matrix_file_read(io_ctx, hy_file_formats, io_temp("a.json"), &B);
        assert_true(status == HYBRID_OK || status == HYBRID_NO_MEMORY);
        hy_message_clear(&io_ctx->message);
    }
    io_ctx->memory.failures = 0;
    assert_int_equal(status, HYBRID_OK);
    assert_true(failed > 6); /* allocations: three arrays with two names each */
    check_same(&A, &B);
    hy_csr_free(io_ctx, &B);
    matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_fault_is_named),
        cmocka_unit_test(a_long_file_is_refused),
        cmocka_unit_test(headers_are_read),
        cmocka_unit_test(parts_are_read),
        cmocka_unit_test(escaped_words_are_read),
        cmocka_unit_test(ld_may_be_left_out),
        cmocka_unit_test(sparse_matrices_are_read),
        cmocka_unit_test(bad_sparse_matrices_are_refused),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, io_group_open, io_group_close);
}
