/* examples/triangles.c - how many triangles a graph has, without C = A*A in memory. A
   holds 1 for each edge, in both directions, and no loops: c_ij is the number of paths of
   two edges from i to j, and with an edge a_ij each of them is a triangle, which is met
   six times. Usage: triangles A.mtx */
#include "hybrid_spmm.h"

#include <stdio.h>

typedef struct count {
    const hybrid_csr *A;
    double paths;
} count;

/* Adds up the entries of some rows of C at the positions where A has an entry too.
   Columns of A and C must ascend in each row. */
static int add_rows(void *user, int64_t row_begin, const hybrid_csr *C)
{
    count *sum             = user;
    const hybrid_csr *A    = sum->A;
    const int64_t *a_begin = (const int64_t *)A->row_ptr + row_begin;
    const int64_t *c_begin = C->row_ptr;
    const int32_t *a_col   = A->col;
    const int32_t *c_col   = C->col;
    const double *value    = C->val;

    for (int64_t i = 0; i < C->rows; i++) {
        int64_t a = a_begin[i];
        for (int64_t c = c_begin[i]; c < c_begin[i + 1]; c++) {
            while (a < a_begin[i + 1] && a_col[a] < c_col[c])
                a++;
            if (a < a_begin[i + 1] && a_col[a] == c_col[c])
                sum->paths += value[c];
        }
    }
    return 0;
}

static hybrid_status count_triangles(hybrid_engine *engine, const hybrid_csr *A)
{
    count sum = {A, 0};
    hybrid_plan *plan;

    hybrid_status status = hybrid_spgemm_plan(engine, A, A, NULL, &plan);
    if (status != HYBRID_OK)
        return status;
    status = hybrid_spgemm_each(plan, A, A, add_rows, &sum);
    hybrid_plan_destroy(plan);
    if (status == HYBRID_OK)
        printf("%.0f triangles\n", sum.paths / 6);
    return status;
}

int main(int argc, char **argv)
{
    hybrid_engine *engine;
    hybrid_csr A;
    int failed = 1;

    if (argc != 2 || hybrid_engine_create(NULL, &engine) != HYBRID_OK)
        return 1;
    if (hybrid_read_mtx(engine, argv[1], HYBRID_F64, &A) == HYBRID_OK) {
        failed = count_triangles(engine, &A) != HYBRID_OK;
        hybrid_csr_free(engine, &A);
    }
    if (failed)
        fprintf(stderr, "%s\n", hybrid_engine_message(engine));
    hybrid_engine_destroy(engine);
    return failed;
}
