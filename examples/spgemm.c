/* examples/spgemm.c - C = A*A for a matrix in a file. Usage: spgemm A.mtx */
#include "hybrid_spmm.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    hybrid_engine *engine;
    hybrid_csr A, C;
    int failed = 1;

    if (argc != 2 || hybrid_engine_create(NULL, &engine) != HYBRID_OK)
        return 1;
    if (hybrid_read_mtx(engine, argv[1], HYBRID_F32, &A) == HYBRID_OK) {
        if (hybrid_spgemm(engine, &A, &A, &C) == HYBRID_OK) {
            printf("A*A has %lld entries\n", (long long)C.nnz);
            hybrid_csr_free(engine, &C);
            failed = 0;
        }
        hybrid_csr_free(engine, &A);
    }
    if (failed)
        fprintf(stderr, "%s\n", hybrid_engine_message(engine));
    hybrid_engine_destroy(engine);
    return failed;
}
