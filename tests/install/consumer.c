/* tests/install/consumer.c - a user's first program, compiled as C and as C++: the square
   of a 2 x 2 matrix. */
#include <hybrid_spmm.h>

#include <string.h>

/* Returns 1 if C is [1 8; 0 9], the square of the matrix of this program. */
static int is_square(const hybrid_csr *C)
{
    static const int64_t offsets[] = {0, 2, 3};
    static const int32_t columns[] = {0, 1, 1};
    static const double values[]   = {1, 8, 9};

    return C->rows == 2 && C->cols == 2 && C->nnz == 3 && C->offset_type == HYBRID_I64 &&
           memcmp(C->row_ptr, offsets, sizeof offsets) == 0 &&
           memcmp(C->col, columns, sizeof columns) == 0 &&
           memcmp(C->val, values, sizeof values) == 0;
}

static int multiplies(hybrid_engine *engine)
{
    int64_t offsets[] = {0, 2, 3};
    int32_t columns[] = {0, 1, 1};
    double values[]   = {1, 2, 3};
    hybrid_csr A      = {2,       2,      3,          HYBRID_I64, offsets,
                         columns, values, HYBRID_F64, HYBRID_I32, HYBRID_SPACE_HOST};
    hybrid_csr C;

    if (hybrid_spgemm(engine, &A, &A, &C) != HYBRID_OK)
        return 0;
    const int right = is_square(&C);
    hybrid_csr_free(engine, &C);
    return right;
}

int main(void)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_engine *engine;

    options.backend = HYBRID_HOST;
    options.threads = 2;
    if (hybrid_version() != HYBRID_VERSION ||
        hybrid_engine_create(&options, &engine) != HYBRID_OK)
        return 1;
    const int right = multiplies(engine);
    hybrid_engine_destroy(engine);
    return right ? 0 : 1;
}
