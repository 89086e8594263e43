/* tests/support/inputs/long_rows.c - products with rows of one to a million scalar
   products. */
#include "tests/support/inputs/long_rows.h"

#include "tests/support/inputs/builder.h"

enum { MILLION = 1000 * 1000, ROWS = 2 };

const long_rows long_rows_table[LONG_ROWS] = {
    {"one product", 1, 1, 0, 1},
    {"a hundred", 10, 10, 3, 40},
    {"all into one entry", MILLION, 1, 0, 1},
    {"one row of B", 1, MILLION, 0, MILLION},
    {"a thousand an entry", 1000, 1000, 0, 1000},
    {"some an entry", 1000, 1000, 97, 100 * 1000},
    {"one an entry", MILLION / 10, 1, 1, MILLION / 10},
};

static double number(long_values values, uint64_t seed, int64_t k)
{
    const double v = test_number(seed, k, 0);
    return values == LONG_EQUAL ? 0.1 : values == LONG_SIGNED ? v : 1 + v / 2;
}

static void set_values(hybrid_csr *M, long_values values, uint64_t seed)
{
    for (int64_t k = 0; k < M->nnz; k++)
        value_set(M->val, M->type, k, number(values, seed, k));
}

void long_rows_make(const long_rows *shape, hybrid_type type, long_values values,
                    hybrid_csr *A, hybrid_csr *B)
{
    const test_kind kind = {type, HYBRID_I64, 0};
    const int64_t inner  = shape->inner;
    builder a            = build_start(ROWS, inner);
    builder b            = build_start(inner, shape->cols + 1);

    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t l = 0; l < inner; l++)
            build_add(&a, l);
        build_end_row(&a);
    }
    for (int64_t l = 0; l < inner; l++) {
        const int64_t first = l * shape->step % (shape->cols - shape->length + 1);
        for (int64_t j = 0; j < shape->length; j++)
            build_add(&b, first + j);
        build_end_row(&b);
    }
    *A = build_finish(&a, 1, kind);
    *B = build_finish(&b, 2, kind);
    set_values(A, values, 1);
    set_values(B, values, 2);
    for (int64_t k = inner; k < 2 * inner; k++)
        value_set(A->val, type, k, 3 * value_at(A->val, type, k));
}
