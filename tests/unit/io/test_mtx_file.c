/* tests/unit/io/test_mtx_file.c - Matrix Market files as operands in files.

   hy_read_mtx() is the oracle: whatever the windows, the runs and the way to the text,
   the matrix has the same bits, and a fault gives the same sentence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/csr.h"
#include "base/memory/results.h"
#include "io/formats/file_format.h"
#include "io/mtx/mtx.h"
#include "io/sort/entry_sort.h"
#include "io/sort/runs.h"
#include "support/engines/io_fixture.h"
#include "support/files/io_status.h"
#include "support/inputs/feed.h"
#include "support/inputs/random.h"
#include "support/subjects/csr_samples.h"

static hybrid_status read_file(const char *path, hybrid_csr *out)
{
    hy_message_clear(&io_ctx->message);
    return hy_matrix_file_read(io_ctx, hy_file_formats, path, out);
}

static int reset(void **state)
{
    (void)state;
    io_sizes                 = hy_usual_io_sizes;
    io_ctx->memory.meter.cap = 0;
    return 0;
}

/* ---- files of tests/data ---- */

/* Calls `check` with the path of each Matrix Market file of tests/data. */
static int each_file(void (*check)(const char *path))
{
    DIR *folder = opendir(getenv("TEST_DATA"));
    const struct dirent *file;
    int count = 0;

    assert_non_null(folder);
    while ((file = readdir(folder)))
        if (strstr(file->d_name, ".mtx") && !strstr(file->d_name, "foreign")) {
            char path[512];
            snprintf(path, sizeof path, "%s", io_data(file->d_name));
            check(path);
            count++;
        }
    closedir(folder);
    return count;
}

/* Returns the sentence without the path and the line. */
static const char *reason(const char *sentence, const char *path)
{
    sentence = strstr(sentence, path);
    assert_non_null(sentence);
    sentence += strlen(path);
    return sentence + strspn(sentence, ":0123456789");
}

static void check_file(const char *path)
{
    char said[HY_MESSAGE_BYTES];
    hybrid_csr A, B;

    hy_message_clear(&io_ctx->message);
    const hybrid_status want = hy_read_mtx(io_ctx, path, HYBRID_F64, &A);
    snprintf(said, sizeof said, "%s", io_ctx->message.text);
    const hybrid_status got = read_file(path, &B);
    const int has_banner    = !strstr(said, "banner '%%MatrixMarket") &&
                           !strstr(said, "is empty") && want != HYBRID_OK;
    if (has_banner && (got != want || !strstr(io_ctx->message.text, path)))
        fail_msg("%s: '%s', not '%s'", path, io_ctx->message.text, said);
    assert_int_equal(got == HYBRID_OK, want == HYBRID_OK);
    /* sorting does not know line numbers, so that its message has none */
    if (has_banner && strstr(said, "mirror"))
        assert_non_null(strstr(io_ctx->message.text, reason(said, path)));
    else if (has_banner)
        assert_string_equal(io_ctx->message.text, said);
    if (want != HYBRID_OK)
        return;
    csr_same(&A, &B);
    hy_csr_free(io_ctx, &A);
    hy_csr_free(io_ctx, &B);
}

static void files_of_tests(void **state)
{
    (void)state;
    assert_in_range(each_file(check_file), 60, 500);
    io_sizes.run         = 2;
    io_sizes.lines_block = 16;
    assert_in_range(each_file(check_file), 60, 500);
}

/* ---- large texts ---- */

static text make_text(const char *field, const char *symmetry, int count)
{
    text t               = text_open((size_t)count * 64 + 256);
    uint64_t seed        = 3;
    const int is_pattern = strcmp(field, "pattern") == 0;

    t.bytes = (size_t)sprintf(t.data,
                              "%%%%MatrixMarket matrix coordinate %s %s\n"
                              "%% a comment\n700 700 %d\n",
                              field, symmetry, count);
    for (int k = 0; k < count; k++) {
        const uint64_t r = random_next(&seed) >> 16;
        int i = (int)(r % 700) + 1, j = (int)(r >> 20) % 700 + 1;
        /* a symmetric file has only entries below the diagonal: others are mirrored, and
           those on the diagonal are moved */
        if (strcmp(symmetry, "general") != 0 && i <= j) {
            const int low = i;
            i             = j + (i == j);
            j             = low;
            if (i > 700)
                i = 2, j = 1;
        }
        t.bytes += (size_t)sprintf(t.data + t.bytes, is_pattern ? "%d %d\n" : "%d %d %d",
                                   i, j, (int)(r % 1999) - 1000);
        if (!is_pattern)
            t.bytes += (size_t)sprintf(t.data + t.bytes,
                                       strcmp(field, "real") == 0 ? ".%d\n" : "\n",
                                       (int)(r >> 9 & 511));
    }
    return t;
}

static void check_text(const char *field, const char *symmetry)
{
    const text t = make_text(field, symmetry, 20000);
    hybrid_csr A, B;
    way w;

    hy_message_clear(&io_ctx->message);
    if (hy_read_mtx_memory(io_ctx, "t", t.data, t.bytes, HYBRID_F64, &A) != HYBRID_OK)
        fail_msg("%s", io_ctx->message.text);
    for (int how = 0; how < WAYS; how++)
        for (int small = 0; small < 2; small++) {
            reset(NULL);
            if (small)
                io_sizes_small(2777);
            if (read_file(way_open(&w, how, &t), &B) != HYBRID_OK)
                fail_msg("way %d: %s", how, io_ctx->message.text);
            way_close(&w, &t);
            csr_same(&A, &B);
            hy_csr_free(io_ctx, &B);
        }
    hy_csr_free(io_ctx, &A);
    free(t.data);
}

static void large_texts(void **state)
{
    (void)state;
    check_text("real", "general");
    check_text("integer", "symmetric");
    check_text("real", "skew-symmetric");
    check_text("pattern", "symmetric");
}

static void a_type_may_be_given(void **state)
{
    static const char one[] =
        "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1e39\n";
    char name[512];
    hybrid_csr A;

    (void)state;
    io_store(io_temp("t.mtx"), one, sizeof one - 3);
    snprintf(name, sizeof name, "%s::type=f32", io_temp("t.mtx"));
    assert_int_equal(read_file(name, &A), HYBRID_OK);
    assert_int_equal(A.type, HYBRID_F32);
    assert_true(((float *)A.val)[0] == 1e3f);
    hy_csr_free(io_ctx, &A);
    io_store(io_temp("t.mtx"), one, sizeof one - 1);
    assert_int_equal(read_file(name, &A), HYBRID_BAD_FILE);
    assert_non_null(strstr(io_ctx->message.text, ":3: value '1e39' is too large for 32"));
    snprintf(name, sizeof name, "%s::base=0", io_temp("t.mtx"));
    assert_int_equal(read_file(name, &A), HYBRID_BAD_FILE);
    assert_non_null(strstr(io_ctx->message.text,
                           "t.mtx: 'base=0' is no option of this file; the options after "
                           "'::' are type alone"));
    snprintf(name, sizeof name, "%s::type=f16", io_temp("t.mtx"));
    assert_int_equal(read_file(name, &A), HYBRID_BAD_FILE);
    assert_non_null(strstr(io_ctx->message.text,
                           "t.mtx: the option 'type=f16' must be type=f32 or f64"));
}

/* ---- memory ---- */

/* A file of 7 MB, whose records take 16 MB, is opened with 20 MiB of memory. Its numbers
   lie in temporary files. */
static void memory_is_bounded(void **state)
{
    const text t = make_text("real", "symmetric", 500000);
    hy_matrix_file B;
    hybrid_csr A;

    (void)state;
    assert_in_range(t.bytes, 7 << 20, 15 << 20);
    io_store(io_temp("large.mtx"), t.data, t.bytes);
    hy_results_trim(io_ctx);
    io_ctx->memory.meter.cap = hy_meter_used(&io_ctx->memory.meter) + (20 << 20);
    hy_message_clear(&io_ctx->message);
    if (hy_matrix_file_open(io_ctx, hy_file_formats, io_temp("large.mtx"), &B) !=
        HYBRID_OK)
        fail_msg("%s", io_ctx->message.text);
    io_ctx->memory.meter.cap = 0;
    assert_int_equal(hy_read_mtx_memory(io_ctx, "t", t.data, t.bytes, HYBRID_F64, &A),
                     HYBRID_OK);
    assert_int_equal(B.csr.nnz, A.nnz);
    int32_t *col = malloc((size_t)A.nnz * 4);
    assert_non_null(col);
    assert_int_equal(hy_stored_read(&B.col, 0, A.nnz, col), HYBRID_OK);
    assert_memory_equal(col, A.col, (size_t)A.nnz * 4);
    free(col);
    hy_csr_free(io_ctx, &A);
    hy_matrix_file_close(&B);
    free(t.data);
}

static hybrid_status read_gzip(void)
{
    char path[512];
    hybrid_csr A;

    snprintf(path, sizeof path, "%s::type=f64", io_data("good_gzip.mtx.gz"));
    HY_TRY(read_file(path, &A));
    hy_csr_free(io_ctx, &A);
    return HYBRID_OK;
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    assert_in_range(io_fail_each(read_gzip), 19, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(files_of_tests, reset),
        cmocka_unit_test_teardown(large_texts, reset),
        cmocka_unit_test_teardown(a_type_may_be_given, reset),
        cmocka_unit_test_teardown(memory_is_bounded, reset),
        cmocka_unit_test_teardown(each_allocation_may_fail, reset),
    };
    return cmocka_run_group_tests(tests, io_group_open, io_group_close);
}
