/* tests/unit/io/test_generate.c - generated problems: CSR rules, sizes, symmetry and
   values.

   The matrices must not depend on the number of threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "hybrid_spmm.h"
#include "io/generate/generate.h"
#include "support/engines/open_host.h"

static hybrid_engine *one, *three; /* engines with one and with three workers */

static int open_engines(void **state)
{
    (void)state;
    one   = open_host(1, 0);
    three = open_host(3, 0);
    return 0;
}

static int close_engines(void **state)
{
    (void)state;
    hybrid_engine_destroy(one);
    hybrid_engine_destroy(three);
    return 0;
}

static void make(hybrid_engine *engine, const char *spec, hybrid_type type, uint64_t seed,
                 hybrid_csr *out)
{
    if (hybrid_generate(engine, spec, type, seed, out) != HYBRID_OK)
        fail_msg("%s: %s", spec, hybrid_engine_message(engine));
    if (hybrid_csr_check(engine, out) != HYBRID_OK)
        fail_msg("%s: %s", spec, hybrid_engine_message(engine));
}

static int same(const hybrid_csr *A, const hybrid_csr *B)
{
    const size_t size = A->type == HYBRID_F64 ? 8 : 4;

    return A->rows == B->rows && A->nnz == B->nnz &&
           memcmp(A->row_ptr, B->row_ptr, (size_t)(A->rows + 1) * 8) == 0 &&
           (A->nnz == 0 || (memcmp(A->col, B->col, (size_t)A->nnz * 4) == 0 &&
                            memcmp(A->val, B->val, (size_t)A->nnz * size) == 0));
}

static const char *const specs[] = {"stencil7:1",
                                    "stencil7:9",
                                    "stencil27:1",
                                    "stencil27:8",
                                    "fem3:1",
                                    "fem3:5",
                                    "er:1,0",
                                    "er:1,5",
                                    "er:5000,7",
                                    "er:40,200",
                                    "rmat:1,0",
                                    "rmat:1,9",
                                    "rmat:12,5",
                                    "powerlaw:1,1,1",
                                    "powerlaw:4000,6,300",
                                    "road:1",
                                    "road:50",
                                    "band:1,0",
                                    "band:7,2147483647",
                                    "band:3000,4",
                                    "dense:1,1",
                                    "dense:30,70",
                                    "wide:1,5,3",
                                    "wide:20,900,7000"};

static void test_threads(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        for (hybrid_type type = HYBRID_F32; type <= HYBRID_F64; type++) {
            hybrid_csr A, B;
            make(one, specs[i], type, 7, &A);
            make(three, specs[i], type, 7, &B);
            if (!same(&A, &B))
                fail_msg("%s depends on the number of threads", specs[i]);
            hybrid_csr_free(one, &A);
            hybrid_csr_free(three, &B);
        }
}

static void test_seed(void **state)
{
    static const char *const random[] = {"fem3:4", "er:100,5", "rmat:8,5",
                                         "powerlaw:500,6,100", "road:20"};
    (void)state;
    for (size_t i = 0; i < sizeof random / sizeof *random; i++) {
        hybrid_csr A, B;
        make(three, random[i], HYBRID_F64, 1, &A);
        make(three, random[i], HYBRID_F64, 2, &B);
        assert_false(A.nnz == B.nnz && memcmp(A.col, B.col, (size_t)A.nnz * 4) == 0);
        hybrid_csr_free(three, &A);
        hybrid_csr_free(three, &B);
    }
}

/* Expected rows, bounds of the number of entries (comments say how it is computed),
   longest row, and whether the pattern must be symmetric. */
typedef struct size {
    const char *spec;
    int64_t rows, least, most, row_most;
    int symmetric;
} size;

static const size sizes[] = {
    {"stencil7:10", 1000, 6400, 6400, 7, 1},     /* entries: 7 N^3 - 6 N^2 */
    {"stencil27:10", 1000, 21952, 21952, 27, 1}, /* entries: (3 N - 2)^3 */
    {"band:100,3", 100, 688, 688, 7, 1},         /* entries: 7 * 100 - 12 */
    {"band:5,100", 5, 25, 25, 5, 1},             /* the band covers the whole matrix */
    {"er:20000,8", 20000, 159900, 160000, 8, 0}, /* a row's random columns are almost all
                                                    different */
    {"fem3:12", 5184, 195000, 215000, 81, 1}, /* entries: about 9 (N^3 + 0.55 * edges) */
    {"road:100", 10000, 24000, 25200, 4, 1},  /* entries: about 0.62 * 4 N (N-1) =
                                                 24552 */
    {"rmat:14,8", 16384, 110000, 131072, 4000, 0},
    {"powerlaw:50000,6,100000", 50000, 240000, 300000, 50000, 0},
    {"powerlaw:50000,6,50", 50000, 200000, 300000, 50, 0},
};

static void test_sizes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const size *s = &sizes[i];
        hybrid_matrix_info info;
        hybrid_csr A;
        make(three, s->spec, HYBRID_F32, 1, &A);
        assert_int_equal(hybrid_csr_info(three, &A, &info), HYBRID_OK);
        if (A.rows != s->rows || A.cols != s->rows || A.nnz < s->least ||
            A.nnz > s->most || info.row_max > s->row_most)
            fail_msg("%s: %lld rows, %lld entries, at most %lld a row", s->spec,
                     (long long)A.rows, (long long)A.nnz, (long long)info.row_max);
        if (s->symmetric)
            assert_true(info.pattern_symmetric);
        hybrid_csr_free(three, &A);
    }
}

/* Values of generated matrices cover [0.5, 1.5). A value in f32 is the value in f64,
   rounded down. */
static void test_values(void **state)
{
    hybrid_csr A, B;
    double sum = 0;

    (void)state;
    make(three, "er:30000,10", HYBRID_F64, 5, &A);
    make(three, "er:30000,10", HYBRID_F32, 5, &B);
    for (int64_t k = 0; k < A.nnz; k++) {
        const double wide  = ((const double *)A.val)[k];
        const float narrow = ((const float *)B.val)[k];
        assert_true(wide >= 0.5 && wide < 1.5 && narrow >= 0.5f && narrow < 1.5f);
        assert_true((double)narrow <= wide && wide - (double)narrow < 0x1p-22);
        sum += wide;
    }
    assert_true(sum / (double)A.nnz > 0.99 && sum / (double)A.nnz < 1.01);
    hybrid_csr_free(three, &A);
    hybrid_csr_free(three, &B);
}

/* A wide matrix has its own number of columns, and uses the last ones as well. */
static void test_wide(void **state)
{
    int32_t last = 0;
    hybrid_csr A;

    (void)state;
    make(three, "wide:20,900,7000", HYBRID_F32, 1, &A);
    assert_int_equal(A.rows, 20);
    assert_int_equal(A.cols, 7000);
    assert_in_range(A.nnz, 20 * 820, 20 * 860); /* 7000 (1 - exp(-900 / 7000)) a row */
    for (int64_t k = 0; k < A.nnz; k++)
        last = ((const int32_t *)A.col)[k] > last ? ((const int32_t *)A.col)[k] : last;
    assert_in_range(last, 6950, 6999);
    hybrid_csr_free(three, &A);
}

/* A full matrix has every column in every row. */
static void test_full(void **state)
{
    hybrid_csr A;

    (void)state;
    make(three, "dense:30,70", HYBRID_F32, 1, &A);
    assert_int_equal(A.rows, 30);
    assert_int_equal(A.cols, 70);
    assert_int_equal(A.nnz, 30 * 70);
    for (int64_t k = 0; k < A.nnz; k++)
        assert_int_equal(((const int32_t *)A.col)[k], k % 70);
    hybrid_csr_free(three, &A);
}

static void test_dense(void **state)
{
    float by_rows[5 * 8], by_cols[3 * 9];
    hybrid_dense R = {5, 3, 8, HYBRID_ROW_MAJOR, by_rows, HYBRID_F32};
    hybrid_dense C = {5, 3, 9, HYBRID_COL_MAJOR, by_cols, HYBRID_F32};

    (void)state;
    for (int k = 0; k < 5 * 8; k++)
        by_rows[k] = 77;
    assert_int_equal(hybrid_dense_random(three, 3, &R), HYBRID_OK);
    assert_int_equal(hybrid_dense_random(one, 3, &C), HYBRID_OK);
    for (int i = 0; i < 5; i++) {
        for (int j = 0; j < 3; j++) {
            assert_true(by_rows[i * 8 + j] == by_cols[i + j * 9]);
            assert_true(by_rows[i * 8 + j] >= -1 && by_rows[i * 8 + j] < 1);
        }
        for (int j = 3; j < 8; j++)
            assert_true(by_rows[i * 8 + j] == 77); /* gaps keep their values */
    }
}

static void test_bad_specs(void **state)
{
    static const char *const bad[] = {"",
                                      "er",
                                      "er:",
                                      "er:5",
                                      "er:5,",
                                      "er:5,1,",
                                      "er:5,1x",
                                      "er: 5,1",
                                      "er:+5,1",
                                      "er:-5,1",
                                      "er:0,1",
                                      "er:5;1",
                                      "er5,1",
                                      "ers:5,1",
                                      "stencil7:1291",
                                      "road:46341",
                                      "fem3:895",
                                      "rmat:31,1",
                                      "rmat:0,1",
                                      "band:2147483648,1",
                                      "er:99999999999999999999,1",
                                      "er:2147483647,2147483647",
                                      "powerlaw:5,0,1",
                                      "powerlaw:5,1",
                                      "wide:5,5",
                                      "wide:5,5,0",
                                      "dense:5",
                                      "dense:0,5",
                                      "dense:5,2147483648",
                                      "dense:2147483647,2147483647",
                                      "gen:er:5,1"};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        hybrid_csr A = {.nnz = -7};
        if (hybrid_generate(three, bad[i], HYBRID_F64, 1, &A) != HYBRID_BAD_ARGUMENT)
            fail_msg("'%s' was taken", bad[i]);
        assert_int_equal(A.nnz, -7);
        assert_non_null(strstr(hybrid_engine_message(three), bad[i]));
    }
}

static void test_scramble(void **state)
{
    (void)state;
    for (int64_t n = 1; n < 300; n++) {
        char seen[300] = {0};
        for (int64_t x = 0; x < n; x++) {
            const int64_t y = hy_scramble(x, n);
            assert_true(y >= 0 && y < n && !seen[y]);
            seen[y] = 1;
        }
    }
}

/* The pages of a freed matrix, which the engine keeps, make room for another matrix. */
static void test_idle_memory(void **state)
{
    enum { CAP = 13 << 20 };
    hybrid_engine *engine = open_host(2, CAP);
    hybrid_csr A;

    (void)state;
    make(engine, "stencil27:26", HYBRID_F64, 1, &A);
    const int64_t bytes = A.nnz * 12;
    hybrid_csr_free(engine, &A);
    make(engine, "stencil27:32", HYBRID_F64, 1, &A);
    assert_true(bytes + A.nnz * 12 > CAP);
    hybrid_csr_free(engine, &A);
    hybrid_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),  cmocka_unit_test(test_seed),
        cmocka_unit_test(test_sizes),    cmocka_unit_test(test_values),
        cmocka_unit_test(test_dense),    cmocka_unit_test(test_full),
        cmocka_unit_test(test_wide),     cmocka_unit_test(test_bad_specs),
        cmocka_unit_test(test_scramble), cmocka_unit_test(test_idle_memory)};
    return cmocka_run_group_tests(tests, open_engines, close_engines);
}
