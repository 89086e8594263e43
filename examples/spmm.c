/* examples/spmm.c - Y = A*X, planned once and run twice with new values.

   A is the 7-point stencil on a 20^3 grid with all values set to one, and every
   element of X is one (then two): Y counts the neighbours of each grid point. */
#include "hybrid_spmm.h"

#include <stdio.h>
#include <stdlib.h>

static hybrid_engine *engine;

static void check(hybrid_status status)
{
    if (status == HYBRID_OK)
        return;
    fprintf(stderr, "%s: %s\n", hybrid_status_text(status),
            engine ? hybrid_engine_message(engine) : "no engine");
    exit(1);
}

static void fill(float *value, int64_t count, float with)
{
    for (int64_t i = 0; i < count; i++)
        value[i] = with;
}

static float largest(const float *value, int64_t count)
{
    float most = value[0];

    for (int64_t i = 1; i < count; i++)
        if (value[i] > most)
            most = value[i];
    return most;
}

int main(void)
{
    const int64_t cols = 16;
    hybrid_csr A;
    hybrid_dense X, Y;
    hybrid_plan *plan;

    check(hybrid_engine_create(NULL, &engine));
    check(hybrid_generate(engine, "stencil7:20", HYBRID_F32, 1, &A));
    check(hybrid_dense_create(engine, A.cols, cols, HYBRID_ROW_MAJOR, HYBRID_F32, &X));
    check(hybrid_dense_create(engine, A.rows, cols, HYBRID_ROW_MAJOR, HYBRID_F32, &Y));
    fill(A.val, A.nnz, 1);

    check(hybrid_spmm_plan(engine, &A, cols, NULL, &plan));
    for (int with = 1; with <= 2; with++) {
        fill(X.data, X.rows * cols, (float)with);
        check(hybrid_spmm_run(plan, 1, &A, &X, 0, &Y));
        printf("X = %d: the largest element of A*X is %g\n", with,
               (double)largest(Y.data, Y.rows * cols));
    }

    hybrid_plan_destroy(plan);
    hybrid_dense_free(engine, &Y);
    hybrid_dense_free(engine, &X);
    hybrid_csr_free(engine, &A);
    hybrid_engine_destroy(engine);
    return 0;
}
