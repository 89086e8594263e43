/* tests/support/gathered.c - what a gathered chunk brings of X. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/csr.h"
#include "tests/support/gathered.h"

void gathered_ranks(const hy_job *job, int64_t *rank)
{
    const hybrid_csr *A = job->problem->A;
    int64_t count       = 0;

    for (int64_t c = 0; c < A->cols; c++)
        rank[c] = -1;
    for (int64_t k = hy_offset(A, job->chunk->row_begin);
         k < hy_offset(A, job->chunk->row_end); k++)
        rank[A->col[k]] = 0;
    for (int64_t c = 0; c < A->cols; c++)
        if (rank[c] == 0)
            rank[c] = count++;
    assert_int_equal(count, job->chunk->features.gather_rows);
}
