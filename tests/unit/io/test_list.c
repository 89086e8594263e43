/* tests/unit/io/test_list.c - lists of edges and entries: what the reader guesses,
   options, faults, and large lists against Matrix Market files with the same entries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
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

enum { NAME_BYTES = 512 };

static hybrid_status read_file(const char *path, hybrid_csr *out)
{
    hy_message_clear(&io_ctx->message);
    io_ctx->note[0] = '\0';
    return hy_matrix_file_read(io_ctx, hy_file_formats, path, out);
}

/* Stores the text as the file `name` and reads it with options, which may be "". */
static hybrid_status read_text(const char *name, const char *content, const char *options,
                               hybrid_csr *out)
{
    char path[NAME_BYTES];

    io_store(io_temp(name), content, strlen(content));
    snprintf(path, sizeof path, "%s%s%s", io_temp(name), *options ? "::" : "", options);
    return read_file(path, out);
}

static double value_at(const hybrid_csr *A, int64_t k)
{
    return A->type == HYBRID_F64 ? ((double *)A->val)[k] : ((float *)A->val)[k];
}

/* ---- lists that are read ---- */

static const struct acceptance {
    const char *name, *content, *options;
    int rows, cols, nnz;
    double entries[4][3];
    const char *note; /* text that the note about the reader's guesses must contain */
} acceptances[] = {
    {"snap.txt",
     "# Directed graph\r\n# Nodes: 3\r\n0\t2\r\n1\t0\r\n",
     "",
     3,
     3,
     2,
     {{0, 2, 1}, {1, 0, 1}},
     "read as a list with tabs between columns, no values, indices from 0 on and 3 x 3 "
     "elements (square)"},
    {"one.txt", "1 2\n3 1\n", "", 3, 3, 2, {{0, 1, 1}, {2, 0, 1}}, "indices from 1 on"},
    {"one.txt",
     "1 2\n3 1\n",
     "base=0",
     4,
     4,
     2,
     {{1, 2, 1}, {3, 1, 1}},
     "indices from 0"},
    {"csv.csv",
     "row,col,val\n0,1,2.5\n2,0,-1e3",
     "",
     3,
     3,
     2,
     {{0, 1, 2.5}, {2, 0, -1000}},
     "commas between columns, values in the third, indices from 0 on, a line of names "
     "and"},
    {"csv.csv",
     "\n0 , 1 , 2.5\n2;0;7\n",
     "separator=comma,rows=9",
     0,
     0,
     -1,
     {{0}},
     ":3"},
    {"semi.csv",
     "0;1;2.5\n\n2; 0 ;7 \n",
     "",
     3,
     3,
     2,
     {{0, 1, 2.5}, {2, 0, 7}},
     "semicolons"},
    {"sizes.edges",
     "% 7 9 2\n3 9\n1 1\n",
     "",
     7,
     9,
     2,
     {{0, 0, 1}, {2, 8, 1}},
     "indices from 1 on and 7 x 9 elements (from a comment)"},
    {"out.konect",
     "% bip unweighted\n% 2 7 9\n3 9\n1 1\n",
     "",
     7,
     9,
     2,
     {{0, 0, 1}, {2, 8, 1}},
     "7 x 9 elements (from a comment)"},
    {"times.edges",
     "1 2 5 1083\n2 3 6 1084\n",
     "",
     3,
     3,
     2,
     {{0, 1, 5}, {1, 2, 6}},
     "values in the third, indices from 1 on and 3 x 3 elements (square), and columns "
     "that "
     "are left out"},
    {"w.tsv",
     "0\t1\t5\n1\t2\t6\n",
     "weights=no",
     3,
     3,
     2,
     {{0, 1, 1}, {1, 2, 1}},
     "no values"},
    {"w.tsv",
     "0\t1\t5\n1\t2\t6\n",
     "square=no",
     2,
     3,
     2,
     {{0, 1, 5}, {1, 2, 6}},
     "2 x 3"},
    {"w.tsv",
     "0\t1\t5\n1\t2\t6\n",
     "rows=10,cols=20,type=f32",
     10,
     20,
     2,
     {{0, 1, 5}, {1, 2, 6}},
     "10 x 20 elements; options"},
    {"w.tsv",
     "0\t1\t5\n1\t2\t6\n",
     "rows=10",
     10,
     3,
     2,
     {{0, 1, 5}, {1, 2, 6}},
     "10 x 3"},
    {"sym.tsv",
     "1 2 5\n3 3 6\n",
     "symmetric=yes",
     3,
     3,
     3,
     {{0, 1, 5}, {1, 0, 5}, {2, 2, 6}},
     "3 x 3"},
    {"dup.tsv", "1 2 5\n1 2 6\n# end\n", "", 2, 2, 1, {{0, 1, 11}}, "2 x 2"},
    {"savetxt.tsv",
     "1e+00 2.000000000000000000e+00\n3.0 1\n",
     "",
     3,
     3,
     2,
     {{0, 1, 1}, {2, 0, 1}},
     "blanks"},
    {"head.csv", "7,8\n0,1\n", "header=yes", 2, 2, 1, {{0, 1, 1}}, "a line of names"},
};

static void check_acceptance(const struct acceptance *want)
{
    int64_t row = 0;
    hybrid_csr A;

    const hybrid_status status = read_text(want->name, want->content, want->options, &A);
    if (want->nnz < 0) {
        assert_int_equal(status, HYBRID_BAD_FILE);
        assert_non_null(strstr(io_ctx->message.text, want->note));
        return;
    }
    if (status != HYBRID_OK)
        fail_msg("%s", io_ctx->message.text);
    puts(io_ctx->note);
    if (!strstr(io_ctx->note, want->note))
        fail_msg("'%s', not '%s'", io_ctx->note, want->note);
    assert_int_equal(A.rows, want->rows);
    assert_int_equal(A.cols, want->cols);
    assert_int_equal(A.nnz, want->nnz);
    for (int64_t k = 0; k < A.nnz; k++) {
        while (hy_offset(&A, row + 1) <= k)
            row++;
        assert_true((double)row == want->entries[k][0]);
        assert_true(hy_cols(&A)[k] == want->entries[k][1]);
        assert_true(value_at(&A, k) == want->entries[k][2]);
    }
    hy_csr_free(io_ctx, &A);
}

static void lists_that_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof acceptances / sizeof *acceptances; i++)
        check_acceptance(&acceptances[i]);
}

/* ---- faults ---- */

static const struct fault {
    const char *content, *options, *sentence;
} faults[] = {
    {"0 1\n5\n", "", "l.tsv:2: the column index is missing"},
    {"0 1\n 1 x\n", "", "l.tsv:2: column index 'x' is not an integer"},
    {"0 1\n1.5 1\n", "", "l.tsv:2: row index '1.5' is not an integer"},
    {"0 1\n-1 1\n", "", "l.tsv:2: row index -1 is below 0"},
    {"1 1\n1 0\n", "base=1", "l.tsv:2: column index 0 is below 1"},
    {"0 1\n2147483647 1\n", "",
     "l.tsv:2: row index 2147483647 is beyond the limit of 2147483646"},
    {"0 1\n1 99999999999999999999\n", "",
     "l.tsv:2: column index 99999999999999999999 is beyond the limit of 2147483646"},
    {"% 3 3 2\n0 1\n4 2\n", "", "l.tsv:3: row index 4 is beyond the 3 rows"},
    {"% 3 3 2\n0 1\n1 3\n", "base=0", "l.tsv:3: column index 3 is beyond the 3 columns"},
    {"% 3 3 2\n0 1\n1 3\n", "",
     "l.tsv: column index 3 is beyond the 3 columns, which are counted from 0"},
    {"0 1 2\n0 1\n", "", "l.tsv:2: the value is missing"},
    {"0,1,2\n0,1,\n", "", "l.tsv:2: the value is missing"},
    {"0 1 2\n0 1 2x\n", "", "l.tsv:2: value '2x' is not a number"},
    {"0 1 2\n0 1 1e39\n", "type=f32", "l.tsv:2: value '1e39' is too large for 32 bits"},
    {"0 1 2\n0 1 1e999\n", "", "l.tsv:2: value '1e999' is too large for 64 bits"},
    {"0 1\n0 1 2\n", "", "l.tsv:2: unexpected '2' at the end of the line"},
    {"0 1\n", "weights=yes", "l.tsv:1: the line has 2 columns, and 3 are needed"},
    {"a b\n0 1\n", "header=no", "l.tsv:1: row index 'a' is not an integer"},
    {"a b\n0 1\n", "separator=tab",
     "l.tsv:1: no line of numbers follows within the first"},
    {"1 2\n2 1\n", "symmetric=yes",
     "l.tsv: entry (1,2) and its mirror (2,1) are both stored in a symmetric file"},
    {"1 2\n", "rows=2,cols=3,square=yes",
     "l.tsv: a square matrix cannot have 2 rows and 3 columns"},
    {"1 2\n", "base=2", "l.tsv: the option 'base=2' must be base=0 or 1"},
    {"1 2\n", "rows=2147483648",
     "l.tsv: the option 'rows=2147483648' must be rows=a whole number below 2^31"},
    {"1 2\n", "header=maybe",
     "l.tsv: the option 'header=maybe' must be header=yes or no"},
    {"1 2\n", "separator=|",
     "l.tsv: the option 'separator=|' must be separator=tab, blank, comma or semicolon"},
    {"1 2\n", "color=red",
     "l.tsv: 'color=red' is no option of this file; the options after '::' are type, "
     "base, "
     "weights, header, separator, rows, cols, square and symmetric"},
    {"1 2\n", "base", "l.tsv: 'base' is no option of this file"},
};

static void faults_name_the_line(void **state)
{
    hybrid_csr A;

    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        const struct fault *f = &faults[i];
        if (read_text("l.tsv", f->content, f->options, &A) != HYBRID_BAD_FILE ||
            !strstr(io_ctx->message.text, f->sentence))
            fail_msg("'%s', not '%s'", io_ctx->message.text, f->sentence);
    }
}

/* Dense tables and other texts are refused as lists of entries. */
static void other_texts_are_no_lists(void **state)
{
    static const struct {
        const char *name, *content;
    } others[] = {{"table.txt", "1 2 3 4\n5 6 7 8\n"},
                  {"words.csv", "a,1,2\nb,3,4\n"},
                  {"one.txt", "1\n2\n"},
                  {"x.mtx", "1 2\n3 4\n"}};
    hybrid_csr A;

    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_int_equal(read_text(others[i].name, others[i].content, "", &A),
                         HYBRID_BAD_FILE);
        assert_int_equal(io_ctx->note[0], '\0');
    }
}

static void other_formats_have_no_options(void **state)
{
    hybrid_csr A;

    (void)state;
    assert_int_equal(read_text("a.json", "{}", "base=1", &A), HYBRID_BAD_FILE);
    assert_non_null(strstr(io_ctx->message.text,
                           "a.json: '::base=1' selects a member, but files in the raw "
                           "format have none"));
}

/* ---- large lists ---- */

/* Makes the same entries as a list, which begins with `head`, and as a Matrix Market
   file. */
static void make_both(int count, const char *head, char separator, int base, text *list,
                      text *mtx)
{
    uint64_t seed = 11;

    *list       = text_open((size_t)count * 64 + 256);
    *mtx        = text_open((size_t)count * 64 + 256);
    list->bytes = (size_t)sprintf(list->data, "%s", head);
    mtx->bytes  = (size_t)sprintf(
         mtx->data, "%%%%MatrixMarket matrix coordinate real general\n600 600 %d\n",
         count);
    for (int k = 0; k < count; k++) {
        const uint64_t r = random_next(&seed) >> 16;
        const int i = k == 0 ? 599 : (int)(r % 600), j = k < 2 ? 0 : (int)(r >> 20) % 600;
        const double value = (double)(int)(r >> 7 & 0xffff) / 16 - 1000;
        list->bytes += (size_t)sprintf(list->data + list->bytes, "%d%c%d%c%g\n", i + base,
                                       separator, j + base, separator, value);
        mtx->bytes +=
            (size_t)sprintf(mtx->data + mtx->bytes, "%d %d %g\n", i + 1, j + 1, value);
    }
}

static int reset(void **state)
{
    (void)state;
    io_sizes = hy_usual_io_sizes;
    return 0;
}

static void check_large(const char *head, char separator, int base)
{
    text list, mtx;
    hybrid_csr A, B;
    way w;

    make_both(80000, head, separator, base, &list, &mtx);
    assert_true(list.bytes > HY_HEAD_BYTES);
    hy_message_clear(&io_ctx->message);
    if (hy_read_mtx_memory(io_ctx, "t", mtx.data, mtx.bytes, HYBRID_F64, &A) != HYBRID_OK)
        fail_msg("%s", io_ctx->message.text);
    for (int how = 0; how < WAYS; how++) {
        io_sizes = hy_usual_io_sizes;
        if (how % 2)
            io_sizes_small(7777);
        if (read_file(way_open(&w, how, &list), &B) != HYBRID_OK)
            fail_msg("way %d: %s", how, io_ctx->message.text);
        way_close(&w, &list);
        csr_same(&A, &B);
        hy_csr_free(io_ctx, &B);
    }
    hy_csr_free(io_ctx, &A);
    free(list.data);
    free(mtx.data);
}

static void large_lists(void **state)
{
    (void)state;
    check_large("# FromNodeId\tToNodeId\n", '\t', 0);
    check_large("i,j,v\n", ',', 1);
    check_large("% 600 600 80000\n", ' ', 1);
}

static hybrid_status read_small(void)
{
    hybrid_csr A;

    HY_TRY(read_text("l.tsv", "1 2\n2 3\n", "type=f32", &A));
    hy_csr_free(io_ctx, &A);
    return HYBRID_OK;
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    assert_in_range(io_fail_each(read_small), 14, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_that_are_read),
        cmocka_unit_test(faults_name_the_line),
        cmocka_unit_test(other_texts_are_no_lists),
        cmocka_unit_test(other_formats_have_no_options),
        cmocka_unit_test_teardown(large_lists, reset),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, io_group_open, io_group_close);
}
