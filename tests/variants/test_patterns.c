/* tests/variants/test_patterns.c - errors of C that no sum reveals, and facts about a
   matrix. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/data/csr.h"
#include "support/engines/host_engine.h"

/* ---- errors that no sum reveals ---- */

/* A 3 x 3 matrix and its square, in which tests break a rule. */
typedef struct square {
    int64_t ptr[2][4];
    int32_t col[2][5];
    double val[2][5];
    hybrid_csr A, C;
} square;

static square diagonal(void)
{
    return (square){.ptr = {{0, 1, 2, 3}, {0, 1, 2, 3}},
                    .col = {{0, 1, 2}, {0, 1, 2}},
                    .val = {{1, 2, 3}, {1, 4, 9}}};
}

static hybrid_status verify_square(square *s, int64_t *row)
{
    hybrid_csr *const both[] = {&s->A, &s->C};

    for (int m = 0; m < 2; m++)
        *both[m] = (hybrid_csr){3,         3,         s->ptr[m][3], HYBRID_I64,
                                s->ptr[m], s->col[m], s->val[m],    HYBRID_F64};
    return hybrid_verify_spgemm(engine, &s->A, &s->A, &s->C, 2, 1, row);
}

static void says_bad(square s, const char *words)
{
    int64_t row = 99;

    assert_int_equal(verify_square(&s, &row), HYBRID_BAD_MATRIX);
    if (!strstr(hybrid_engine_message(engine), words))
        fail_msg("\"%s\" lacks \"%s\"", hybrid_engine_message(engine), words);
    assert_int_equal(row, 99);
}

static void verify_tells_broken_patterns(void **state)
{
    static const char *const names[] = {"A: ", "C: "};

    (void)state;
    for (int m = 0; m < 2; m++) {
        square s    = diagonal();
        s.ptr[m][0] = 1;
        says_bad(s, "offsets go from 1 to 3 instead of from 0 to 3");
        s           = diagonal();
        s.ptr[m][1] = 3;
        says_bad(s, "offsets 3 and 2 decrease");
        s           = diagonal();
        s.ptr[m][1] = -1;
        says_bad(s, "offsets 0 and -1 decrease or are not in");
        s           = diagonal();
        s.col[m][1] = 3;
        says_bad(s, "column 3 is not in 0..2");
        s           = diagonal();
        s.col[m][1] = -1;
        says_bad(s, "column -1 is not in 0..2");
        s           = diagonal();
        s.ptr[m][1] = 2; /* row 0 has columns 0 and 0 */
        s.col[m][1] = 0;
        says_bad(s, "column 0 does not come after column 0");
        says_bad(s, names[m]);
    }
}

static void verify_compares_nnz_with_offsets(void **state)
{
    int64_t row = 99;

    (void)state;
    square s = diagonal();
    assert_int_equal(verify_square(&s, &row), HYBRID_OK);
    assert_int_equal(row, -1);
    s.C.nnz = 2;
    assert_int_equal(hybrid_verify_spgemm(engine, &s.A, &s.A, &s.C, 2, 1, &row),
                     HYBRID_BAD_MATRIX);
    assert_non_null(strstr(hybrid_engine_message(engine), "from 0 to 2"));
}

/* Row 1 has one scalar product. A second entry is an error even if it is 0. */
static void verify_counts_entries_of_rows(void **state)
{
    const square extra = {.ptr = {{0, 1, 2, 3}, {0, 1, 3, 4}},
                          .col = {{0, 1, 2}, {0, 1, 2, 2}},
                          .val = {{1, 2, 3}, {1, 4, 0, 9}}};
    int64_t row        = -1;
    square s           = extra;

    (void)state;
    assert_int_equal(verify_square(&s, &row), HYBRID_OK);
    assert_int_equal(row, 1);
    s.ptr[1][2] = 2; /* the extra entry is now in row 2 */
    s.col[1][2] = 1;
    assert_int_equal(verify_square(&s, &row), HYBRID_OK);
    assert_int_equal(row, 2);
}

static void info_describes_a_stencil(void **state)
{
    hybrid_matrix_info info;
    hybrid_csr A;

    (void)state;
    assert_int_equal(hybrid_generate(engine, "stencil7:10", HYBRID_F64, 1, &A),
                     HYBRID_OK);
    assert_int_equal(hybrid_csr_info(engine, &A, &info), HYBRID_OK);
    assert_true(info.square && info.pattern_symmetric);
    assert_int_equal(info.row_min, 4);
    assert_int_equal(info.row_max, 7);
    assert_int_equal(info.bandwidth, 100);
    assert_int_equal(info.empty_rows, 0);
    assert_true(info.synergy > 0 && info.synergy <= 1);
    assert_string_equal(info.synergy_class, info.synergy < 0.125  ? "low"
                                            : info.synergy < 0.25 ? "medium"
                                                                  : "high");
    assert_true(info.square_nnz > A.nnz && info.square_nnz <= info.products);
    hybrid_csr_free(engine, &A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verify_tells_broken_patterns),
        cmocka_unit_test(verify_compares_nnz_with_offsets),
        cmocka_unit_test(verify_counts_entries_of_rows),
        cmocka_unit_test(info_describes_a_stencil),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
