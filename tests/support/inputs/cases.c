/* tests/support/inputs/cases.c - small named matrices, each with a right operand. */
#include "tests/support/inputs/builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- cases ---- */

static void make_random(test_kind kind, test_case *c, int64_t rows, int64_t middle,
                        int64_t cols, double a_row, double b_row)
{
    matrix_random(rows, middle, a_row, 11, kind, &c->A);
    matrix_random(middle, cols, b_row, 12, kind, &c->B);
}

static void no_rows(test_kind kind, test_case *c)
{
    make_random(kind, c, 0, 7, 9, 3, 3);
}

static void no_middle(test_kind kind, test_case *c)
{
    make_random(kind, c, 6, 0, 4, 3, 3);
}

static void no_cols(test_kind kind, test_case *c)
{
    make_random(kind, c, 6, 5, 0, 3, 3);
}

static void no_entries(test_kind kind, test_case *c)
{
    make_random(kind, c, 13, 11, 12, 0, 3);
}

static void no_entries_in_b(test_kind kind, test_case *c)
{
    make_random(kind, c, 13, 11, 12, 3, 0);
}

/* Makes a matrix. Row i has `per_row` consecutive columns from column i * step on, or
   fewer at the matrix's right end. */
static hybrid_csr runs(int64_t rows, int64_t cols, int64_t per_row, int64_t step,
                       uint64_t seed, test_kind kind)
{
    builder b = build_start(rows, cols);

    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = i * step; j < i * step + per_row && j < cols; j++)
            build_add(&b, j);
        build_end_row(&b);
    }
    return build_finish(&b, seed, kind);
}

static void one_by_one(test_kind kind, test_case *c)
{
    c->A = runs(1, 1, 1, 0, 21, kind);
    c->B = runs(1, 1, 1, 0, 22, kind);
}

static void one_row(test_kind kind, test_case *c)
{
    c->A = runs(1, 60, 60, 0, 23, kind);
    matrix_random(60, 50, 4, 24, kind, &c->B);
}

static void one_column(test_kind kind, test_case *c)
{
    c->A = runs(70, 1, 1, 0, 25, kind);
    c->B = runs(1, 1, 1, 0, 26, kind);
}

/* Makes a case in which row 37 of A's 80 rows is dense and the others have about two
   entries. */
static void dense_row(test_kind kind, test_case *c)
{
    builder b = build_start(80, 300);

    for (int64_t i = 0; i < b.rows; i++) {
        for (int64_t j = 0; i == 37 && j < b.cols; j++)
            build_add(&b, j);
        for (uint64_t n = 0; n < 2; n++)
            build_add(&b, test_below(31, (uint64_t)i * 2 + n, b.cols));
        build_end_row(&b);
    }
    c->A = build_finish(&b, 32, kind);
    matrix_random(300, 90, 3, 33, kind, &c->B);
}

/* Makes a case in which every row of A has an entry in column 5, and row 5 of B is
   dense. */
static void dense_column(test_kind kind, test_case *c)
{
    builder a = build_start(90, 40), b = build_start(40, 120);

    for (int64_t i = 0; i < a.rows; i++) {
        build_add(&a, 5);
        build_add(&a, test_below(34, (uint64_t)i, a.cols));
        build_end_row(&a);
    }
    for (int64_t i = 0; i < b.rows; i++) {
        for (int64_t j = 0; i == 5 && j < b.cols; j++)
            build_add(&b, j);
        build_add(&b, test_below(35, (uint64_t)i, b.cols));
        build_end_row(&b);
    }
    c->A = build_finish(&a, 36, kind);
    c->B = build_finish(&b, 37, kind);
}

/* Makes an n x n matrix whose row lengths and columns follow power laws. */
static hybrid_csr skewed(int64_t n, uint64_t seed, test_kind kind)
{
    builder b = build_start(n, n);

    for (int64_t i = 0; i < n; i++) {
        const double u       = test_uniform(seed, (uint64_t)i);
        const int64_t length = (int64_t)(2.0 / (u * u + 0.004));
        for (int64_t k = 0; k < length && k < n; k++) {
            const double v = test_uniform(seed + 1, (uint64_t)(i * n + k));
            build_add(&b, (int64_t)(v * v * v * (double)n));
        }
        build_end_row(&b);
    }
    return build_finish(&b, seed + 2, kind);
}

static void power_law(test_kind kind, test_case *c)
{
    c->A = skewed(250, 41, kind);
    c->B = skewed(250, 44, kind);
}

static hybrid_csr band(int64_t n, int64_t half, uint64_t seed, test_kind kind)
{
    builder b = build_start(n, n);

    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = i < half ? 0 : i - half; j <= i + half && j < n; j++)
            build_add(&b, j);
        build_end_row(&b);
    }
    return build_finish(&b, seed, kind);
}

static void banded(test_kind kind, test_case *c)
{
    c->A = band(211, 4, 51, kind);
    c->B = band(211, 3, 52, kind);
}

/* Makes a matrix of dense blocks of 16 x 16. Each of the `count` groups of 16 rows has
   one block on the diagonal and one elsewhere. */
static hybrid_csr blocks_of(int64_t count, uint64_t seed, test_kind kind)
{
    enum { SIDE = 16 };
    builder b = build_start(count * SIDE, count * SIDE);

    for (int64_t i = 0; i < b.rows; i++) {
        const int64_t block = i / SIDE;
        const int64_t other = test_below(seed, (uint64_t)block, count);
        for (int64_t j = 0; j < SIDE; j++) {
            build_add(&b, block * SIDE + j);
            build_add(&b, other * SIDE + j);
        }
        build_end_row(&b);
    }
    return build_finish(&b, seed, kind);
}

static void blocks(test_kind kind, test_case *c)
{
    c->A = blocks_of(9, 61, kind);
    c->B = blocks_of(9, 62, kind);
}

/* Makes a case in which the scalar products of each element of C cancel each other: each
   row of A has two equal entries x, and the rows of B that they select differ only in
   sign. Every entry of C is a stored 0. */
static void cancelling(test_kind kind, test_case *c)
{
    c->A = runs(50, 100, 2, 2, 71, kind);
    c->B = runs(100, 40, 7, 0, 72, kind);
    for (int64_t k = 0; k < c->A.nnz; k += 2)
        value_set(c->A.val, kind.type, k + 1, value_at(c->A.val, kind.type, k));
    for (int64_t i = 0; i < 100; i += 2)
        for (int64_t j = 0; j < 7; j++)
            value_set(c->B.val, kind.type, (i + 1) * 7 + j,
                      -value_at(c->B.val, kind.type, i * 7 + j));
}

static void identity(test_kind kind, test_case *c)
{
    c->A = runs(130, 130, 1, 1, 81, kind);
    for (int64_t k = 0; k < c->A.nnz; k++)
        value_set(c->A.val, kind.type, k, 1);
    matrix_random(130, 110, 5, 82, kind, &c->B);
}

/* Makes a case in which two of three rows of A are empty, including the first and the
   last. */
static void empty_rows(test_kind kind, test_case *c)
{
    builder b = build_start(200, 200);

    for (int64_t i = 0; i < b.rows; i++) {
        if (i % 3 == 1 && i < 198)
            build_add(&b, i);
        build_end_row(&b);
    }
    c->A = build_finish(&b, 83, kind);
    matrix_random(200, 64, 2, 84, kind, &c->B);
}

/* Makes a case in which row 3 of A has 300 entries and about 12000 scalar products, and
   its neighbours have one entry. */
static void long_row(test_kind kind, test_case *c)
{
    builder b = build_start(9, 400);

    for (int64_t i = 0; i < b.rows; i++) {
        for (int64_t j = 0; i == 3 && j < 300; j++)
            build_add(&b, j);
        build_add(&b, 390 + i);
        build_end_row(&b);
    }
    c->A = build_finish(&b, 91, kind);
    matrix_random(400, 3000, 40, 92, kind, &c->B);
}

/* Makes a case in which rows of A have few or many entries. Up to two entries of a row
   select rows of B (40 to 43) that are much longer than the others. */
static void uneven(test_kind kind, test_case *c)
{
    enum { SHORT = 7 };
    /* numbers of entries of rows 40, 41, 42 and 43 of B */
    static const int64_t longer[] = {150, 1500, 6000, 30000};
    static const struct {
        int64_t entries, first, last; /* by row of A. `entries`: number of entries that
                                         select short rows of B; the row also selects rows
                                         40 + first to 40 + last of B (none if last <
                                         first) */
    } rows[]  = {{35, 0, 0}, {30, 0, 1},   {300, 1, 1}, {620, 1, 1}, {1250, 2, 2},
                 {90, 2, 3}, {1290, 3, 3}, {1, 3, 3},   {200, 4, 3}};
    builder a = build_start(sizeof rows / sizeof *rows, 1300),
            b = build_start(1300, 60000);

    for (int64_t i = 0; i < a.rows; i++) {
        for (int64_t n = 0; n < rows[i].entries; n++)
            build_add(&a, n < 40 ? n : n + 4);
        for (int64_t n = rows[i].first; n <= rows[i].last; n++)
            build_add(&a, 40 + n);
        build_end_row(&a);
    }
    for (int64_t i = 0; i < b.rows; i++) {
        const int64_t length = i >= 40 && i < 44 ? longer[i - 40] : i % (2 * SHORT);
        for (int64_t n = 0; n < length; n++)
            build_add(&b, test_below(93, (uint64_t)(i * b.cols + n), b.cols));
        build_end_row(&b);
    }
    c->A = build_finish(&a, 94, kind);
    c->B = build_finish(&b, 95, kind);
}

static void fat(test_kind kind, test_case *c)
{
    make_random(kind, c, 20, 3000, 30, 60, 1);
}

static void tall(test_kind kind, test_case *c)
{
    make_random(kind, c, 3000, 20, 25, 2, 3);
}

/* Makes a case in which entries are few and far apart, so that column indices need more
   than 16 bits. */
static void wide(test_kind kind, test_case *c)
{
    make_random(kind, c, 60, 50, 1 << 20, 4, 6);
}

static void random_pair(test_kind kind, test_case *c)
{
    make_random(kind, c, 197, 183, 151, 6, 5);
}

static const struct {
    const char *name;
    void (*make)(test_kind kind, test_case *c);
} cases[] = {
    {"no_rows", no_rows},
    {"no_middle", no_middle},
    {"no_cols", no_cols},
    {"no_entries", no_entries},
    {"no_entries_in_b", no_entries_in_b},
    {"one_by_one", one_by_one},
    {"one_row", one_row},
    {"one_column", one_column},
    {"dense_row", dense_row},
    {"dense_column", dense_column},
    {"power_law", power_law},
    {"banded", banded},
    {"blocks", blocks},
    {"cancelling", cancelling},
    {"identity", identity},
    {"empty_rows", empty_rows},
    {"long_row", long_row},
    {"uneven", uneven},
    {"fat", fat},
    {"tall", tall},
    {"wide", wide},
    {"random", random_pair},
};

int case_step(int step)
{
    const char *all = getenv("HYBRID_ALL_CASES");

    return all && strcmp(all, "1") == 0 ? 1 : step;
}

int case_count(void)
{
    return (int)(sizeof cases / sizeof *cases);
}

const char *case_name(int i)
{
    return cases[i].name;
}

void case_make(int i, test_kind kind, test_case *out)
{
    cases[i].make(kind, out);
    out->name = cases[i].name;
}

void case_named(const char *name, test_kind kind, test_case *out)
{
    for (int i = 0; i < case_count(); i++)
        if (strcmp(cases[i].name, name) == 0) {
            case_make(i, kind, out);
            return;
        }
    fprintf(stderr, "no test case is called %s\n", name);
    abort();
}

void case_free(test_case *c)
{
    matrix_free(&c->A);
    matrix_free(&c->B);
}
