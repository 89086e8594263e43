/* tests/unit/hdf5/test_h5_read.c - matrices that libhdf5 has written are read: by rows,
   by any thread, and entry by entry. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/csr.h"
#include "base/threads/pool.h"
#include "io/formats/file_format.h"
#include "io/hdf5/decode/h5_filters.h"
#include "support/engines/io_fixture.h"
#include "support/inputs/cases.h"
#include "support/hdf5/h5_make.h"

/* The linker puts __wrap_hy_h5_decode() in the place of the decoder. It counts the
   decoded chunks in `decoded`. */
static int decoded;
const char *__real_hy_h5_decode(const hy_h5_filters *filters, uint32_t mask,
                                hy_h5_decoder *decoder, const void *raw, size_t bytes,
                                void *to);
const char *__wrap_hy_h5_decode(const hy_h5_filters *filters, uint32_t mask,
                                hy_h5_decoder *decoder, const void *raw, size_t bytes,
                                void *to);
const char *__wrap_hy_h5_decode(const hy_h5_filters *filters, uint32_t mask,
                                hy_h5_decoder *decoder, const void *raw, size_t bytes,
                                void *to)
{
    __atomic_fetch_add(&decoded, 1, __ATOMIC_RELAXED);
    return __real_hy_h5_decode(filters, mask, decoder, raw, bytes, to);
}

static const h5_form forms[] = {
    {0},
    {.big_endian = 1},
    {.chunk = 16},
    {.chunk = 33, .deflate = 1},
    {.chunk = 1000, .deflate = 6, .shuffle = 1},
    {.chunk = 7, .shuffle = 1, .checksum = 1, .big_endian = 1},
    {.chunk = 50, .deflate = 9, .shuffle = 1, .checksum = 1},
};
enum { FORMS = sizeof forms / sizeof *forms };

static void check_same(const hybrid_csr *A, const hybrid_csr *B)
{
    assert_true(A->rows == B->rows && A->cols == B->cols && A->nnz == B->nnz);
    assert_true(A->type == B->type);
    for (int64_t i = 0; i <= A->rows; i++)
        assert_true(hy_offset(A, i) == hy_offset(B, i));
    for (int64_t k = 0; k < A->nnz; k++)
        assert_true(hy_cols(A)[k] == hy_cols(B)[k]);
    assert_memory_equal(A->val, B->val, (size_t)A->nnz * hy_value_size(A->type));
}

static test_kind kind_of(int i)
{
    return (test_kind){i & 1 ? HYBRID_F32 : HYBRID_F64, i & 2 ? HYBRID_I32 : HYBRID_I64,
                       0};
}

static void rows_are_read(void **state)
{
    (void)state;
    for (int i = 0; i < 8 * FORMS; i++) {
        hybrid_csr A, B;
        matrix_random(60, 40, i & 4 ? 5 : 0, 1, kind_of(i), &A);
        h5_store_cells(io_temp("a.h5"), &A, &forms[i / 8]);
        if (hy_matrix_file_read(io_ctx, hy_file_formats, io_temp("a.h5"), &B) !=
            HYBRID_OK)
            fail_msg("form %d: %s", i / 8, io_ctx->message.text);
        check_same(&A, &B);
        hy_csr_free(io_ctx, &B);
        matrix_free(&A);
    }
}

/* ---- arrays ---- */

enum { NUMBERS = 5000 };

typedef struct scan {
    const hy_stored *array;
    const int64_t *numbers;
} scan;

/* Reads ranges number `begin` to `end` - 1 of an array, which lie anywhere in it, and
   compares their numbers. */
static hybrid_status compare_ranges(void *arg, int part, int64_t begin, int64_t end)
{
    const scan *s = arg;
    int64_t found[NUMBERS];

    (void)part;
    for (int64_t i = begin; i < end; i++) {
        const int64_t first = i * 7919 % NUMBERS;
        const int64_t count = i * i * 31 % (NUMBERS - first + 1);
        HY_TRY(hy_stored_read(s->array, first, count, found));
        if (memcmp(found, s->numbers + first, (size_t)count * 8) != 0)
            return hy_fail(io_ctx, HYBRID_BAD_FILE, "range %d differs", (int)i);
    }
    return HYBRID_OK;
}

/* Stores a dataset of NUMBERS doubles in the form, sets `numbers` to them, and opens the
   file in *file. */
static void open_numbers(const h5_form *form, double *numbers, hy_matrix_file *file)
{
    const hid_t made = h5_new(io_temp("x.h5"));

    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = i % 97 * 0.5;
    h5_numbers(made, "X", H5T_NATIVE_DOUBLE, NUMBERS, numbers, form);
    h5_end(made);
    if (hy_matrix_file_open(io_ctx, hy_file_formats, io_temp("x.h5"), file) != HYBRID_OK)
        fail_msg("%s", io_ctx->message.text);
}

static void any_thread_reads_any_range(void **state)
{
    double *numbers = malloc(NUMBERS * sizeof *numbers);
    hy_matrix_file file;

    (void)state;
    assert_non_null(numbers);
    for (int i = 0; i < FORMS; i++) {
        open_numbers(&forms[i], numbers, &file);
        assert_true(file.dense.rows == NUMBERS && file.dense.cols == 1);
        scan s = {&file.values, (const int64_t *)(void *)numbers};
        if (hy_pool_for(io_ctx->pool, HY_COMPUTE, 0, 300, 1, compare_ranges, &s) !=
            HYBRID_OK)
            fail_msg("form %d: %s", i, io_ctx->message.text);
        hy_matrix_file_close(&file);
    }
    free(numbers);
}

static void each_chunk_is_decoded_once(void **state)
{
    const h5_form form = {.chunk = 64, .deflate = 1};
    double *numbers    = malloc(NUMBERS * sizeof *numbers), found[37];
    hy_matrix_file file;

    (void)state;
    assert_non_null(numbers);
    open_numbers(&form, numbers, &file);
    decoded = 0;
    for (int64_t at = 0; at < NUMBERS; at += 37) {
        const int64_t count = NUMBERS - at < 37 ? NUMBERS - at : 37;
        assert_int_equal(hy_stored_read(&file.values, at, count, found), HYBRID_OK);
        assert_memory_equal(found, numbers + at, (size_t)count * 8);
    }
    assert_int_equal(decoded, (NUMBERS + 63) / 64);
    hy_matrix_file_close(&file);
    free(numbers);
}

/* ---- entries ---- */

/* The Binsparse formats in which store_entries() stores A. */
enum { CSC, DCSR, DCSC, COO, COOC, FORMATS };
static const char *const format_name[] = {"CSC", "DCSR", "DCSC", "COO", "COOC"};

typedef struct parts {
    int64_t *pointers, *lines, *indices, *line_of;
    double *values;
    int64_t count; /* number of lines (rows or columns) that have an element in
                      `pointers` */
} parts;

/* Lists the entries of A by columns if `by_cols`, else by rows, in the arrays of *p.
   With skip_empty lines without entries have no pointers. */
static void list_entries(const hybrid_csr *A, int by_cols, int skip_empty, parts *p)
{
    const int64_t lines = by_cols ? A->cols : A->rows;
    int64_t n           = 0, before;

    p->count       = 0;
    p->pointers[0] = 0;
    for (int64_t line = 0; line < lines; line++) {
        before = n;
        for (int64_t row = 0; row < A->rows; row++)
            for (int64_t k = hy_offset(A, row); k < hy_offset(A, row + 1); k++)
                if ((by_cols ? hy_cols(A)[k] : row) == line) {
                    p->indices[n]  = by_cols ? row : hy_cols(A)[k];
                    p->line_of[n]  = line;
                    p->values[n++] = ((const double *)A->val)[k];
                }
        if (skip_empty && n == before)
            continue;
        p->lines[p->count++]  = line;
        p->pointers[p->count] = n;
    }
}

static void store_entries(const hybrid_csr *A, int format, const parts *p,
                          const h5_form *form)
{
    const int is_coo = format == COO || format == COOC;
    const int skips  = format == DCSR || format == DCSC;
    const hid_t file = h5_new(io_temp("b.h5"));
    char text[256];

    snprintf(text, sizeof text,
             "{\"binsparse\": {\"version\": \"0.1.0\", \"format\": \"%s\", \"shape\": "
             "[%d, %d], \"number_of_stored_values\": %d, \"data_types\": "
             "{\"values\": \"float64\"}}}",
             format_name[format], (int)A->rows, (int)A->cols, (int)A->nnz);
    h5_text(file, "/", "binsparse", text);
    if (!is_coo)
        h5_numbers(file, "pointers_to_1", H5T_NATIVE_INT64, (hsize_t)p->count + 1,
                   p->pointers, form);
    if (is_coo || skips)
        h5_numbers(file, "indices_0", H5T_NATIVE_INT64,
                   (hsize_t)(is_coo ? A->nnz : p->count), is_coo ? p->line_of : p->lines,
                   form);
    h5_numbers(file, "indices_1", H5T_NATIVE_INT64, (hsize_t)A->nnz, p->indices, form);
    h5_numbers(file, "values", H5T_NATIVE_DOUBLE, (hsize_t)A->nnz, p->values, form);
    h5_end(file);
}

/* Reads the entries of b.h5, at most `most` at a time, and checks that they are those of
   A. */
static void check_entries(const hybrid_csr *A, int64_t most)
{
    double *dense           = calloc((size_t)(A->rows * A->cols), sizeof *dense);
    hy_entry *batch         = malloc((size_t)most * sizeof *batch);
    hy_entry_reader entries = {.ops = NULL};
    hy_matrix_file unused   = {.ctx = NULL};
    int64_t count = 1, all = 0;
    hy_input input;

    assert_true(dense && batch);
    assert_int_equal(hy_input_open(io_ctx, io_temp("b.h5"), &input), HYBRID_OK);
    const hy_opening opening = {&input, NULL};
    if (hy_format_hdf5.open(io_ctx, &opening, &unused, &entries) != HYBRID_OK)
        fail_msg("%s", io_ctx->message.text);
    hy_input_close(io_ctx, &input);
    assert_true(entries.rows == A->rows && entries.cols == A->cols &&
                entries.nnz == A->nnz && entries.type == HYBRID_F64);
    for (; count > 0; all += count) {
        if (entries.ops->next(&entries, most, batch, &count) != HYBRID_OK)
            fail_msg("%s", io_ctx->message.text);
        for (int64_t i = 0; i < count; i++)
            dense[batch[i].row * A->cols + batch[i].col] += batch[i].value;
    }
    assert_int_equal(all, A->nnz);
    for (int64_t row = 0; row < A->rows; row++)
        for (int64_t k = hy_offset(A, row); k < hy_offset(A, row + 1); k++) {
            double *at = &dense[row * A->cols + hy_cols(A)[k]];
            assert_true(*at == ((const double *)A->val)[k]);
            *at = 0;
        }
    for (int64_t i = 0; i < A->rows * A->cols; i++)
        assert_true(dense[i] == 0);
    hy_entry_reader_close(&entries);
    free(batch);
    free(dense);
}

static void entries_are_read(void **state)
{
    const test_kind kind = {HYBRID_F64, HYBRID_I64, 1};
    int64_t memory[5 * 1000];
    parts p = {
        memory, memory + 1000, memory + 2000, memory + 3000, (double *)(memory + 4000),
        0};
    hybrid_csr A;

    (void)state;
    for (int i = 0; i < 3 * FORMATS; i++) {
        const int format = i % FORMATS;
        matrix_random(i < FORMATS ? 90 : 30, 40, i < 2 * FORMATS ? 2 : 0, 1, kind, &A);
        list_entries(&A, format == CSC || format == DCSC || format == COOC,
                     format == DCSR || format == DCSC, &p);
        store_entries(&A, format, &p, &forms[i % FORMS]);
        check_entries(&A, 1);
        check_entries(&A, 13);
        check_entries(&A, 1000);
        matrix_free(&A);
    }
}

/* Reads the entries of b.h5. Fails the test unless they are refused as BAD_FILE, with a
   message that contains `sentence`. */
static void refuse_entries(const char *sentence)
{
    hy_entry_reader entries = {.ops = NULL};
    hy_matrix_file unused   = {.ctx = NULL};
    int64_t count           = 1;
    hy_entry batch[64];
    hy_input input;

    assert_int_equal(hy_input_open(io_ctx, io_temp("b.h5"), &input), HYBRID_OK);
    const hy_opening opening = {&input, NULL};
    hybrid_status status     = hy_format_hdf5.open(io_ctx, &opening, &unused, &entries);
    hy_input_close(io_ctx, &input);
    while (status == HYBRID_OK && count > 0)
        status = entries.ops->next(&entries, 64, batch, &count);
    assert_int_equal(status, HYBRID_BAD_FILE);
    if (!strstr(io_ctx->message.text, sentence))
        fail_msg("'%s' is not in '%s'", sentence, io_ctx->message.text);
    hy_message_clear(&io_ctx->message);
    hy_entry_reader_close(&entries);
}

static void bad_entries_are_refused(void **state)
{
    const test_kind kind = {HYBRID_F64, HYBRID_I64, 1};
    int64_t memory[5 * 1000];
    parts p = {
        memory, memory + 1000, memory + 2000, memory + 3000, (double *)(memory + 4000),
        0};
    hybrid_csr A;

    (void)state;
    matrix_random(90, 40, 2, 1, kind, &A);
    for (int i = 0; i < 6; i++) {
        static const char *const sentences[] = {"entry 3: row 90 is not in 0..89",
                                                "entry 3: row -1 is not in 0..89",
                                                "of line 4 decrease or are not in 0..",
                                                "of line 0 decrease or are not in 0..",
                                                "of line 39 decrease or are not in 0..",
                                                "of line 4 decrease or are not in 0.."};
        list_entries(&A, 1, 0, &p);
        int64_t *const places[] = {&p.indices[3],  &p.indices[3],   &p.pointers[5],
                                   &p.pointers[0], &p.pointers[40], &p.pointers[5]};
        const int64_t numbers[] = {90, -1, p.pointers[4] - 1, 1, A.nnz - 1, A.nnz + 1};
        *places[i]              = numbers[i];
        store_entries(&A, CSC, &p, &forms[i]);
        refuse_entries(sentences[i]);
    }
    matrix_free(&A);
}

static void names_have_members(void **state)
{
    static const char json[] = "{}";
    hy_matrix_file file;
    char name[512];
    hybrid_csr A;

    (void)state;
    io_store(io_temp("a.json"), json, strlen(json));
    snprintf(name, sizeof name, "%s::X", io_temp("a.json"));
    assert_int_equal(hy_matrix_file_open(io_ctx, hy_file_formats, name, &file),
                     HYBRID_BAD_FILE);
    assert_non_null(strstr(io_ctx->message.text, "a.json: '::X' selects a member, but"));
    hy_message_clear(&io_ctx->message);
    matrix_random(60, 40, 5, 1, kind_of(0), &A);
    /* the file's own name contains "::", which otherwise precedes a member */
    h5_store_cells(io_temp("a::b.h5"), &A, &forms[0]);
    assert_int_equal(
        hy_matrix_file_open(io_ctx, hy_file_formats, io_temp("a::b.h5"), &file),
        HYBRID_OK);
    assert_true(file.csr.nnz == A.nnz);
    hy_matrix_file_close(&file);
    matrix_free(&A);
}

static void each_allocation_may_fail(void **state)
{
    hybrid_status status = HYBRID_NO_MEMORY;
    int64_t failed       = 0;
    hybrid_csr A, B;

    (void)state;
    matrix_random(60, 40, 5, 1, kind_of(0), &A);
    h5_store_cells(io_temp("a.h5"), &A, &forms[3]);
    for (int64_t n = 1; n < 200 && status != HYBRID_OK; n++, failed++) {
        io_ctx->memory.failures = n;
        status = hy_matrix_file_read(io_ctx, hy_file_formats, io_temp("a.h5"), &B);
        assert_true(status == HYBRID_OK || status == HYBRID_NO_MEMORY);
        hy_message_clear(&io_ctx->message);
    }
    io_ctx->memory.failures = 0;
    assert_int_equal(status, HYBRID_OK);
    assert_true(failed > 20);
    check_same(&A, &B);
    hy_csr_free(io_ctx, &B);
    matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_read),
        cmocka_unit_test(any_thread_reads_any_range),
        cmocka_unit_test(each_chunk_is_decoded_once),
        cmocka_unit_test(entries_are_read),
        cmocka_unit_test(bad_entries_are_refused),
        cmocka_unit_test(names_have_members),
        cmocka_unit_test(each_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, io_group_open, io_group_close);
}
