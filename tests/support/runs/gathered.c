/* tests/support/runs/gathered.c - positions of rows of X in gathered chunks and in a
   ring. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/data/csr.h"
#include "tests/support/runs/gathered.h"

void gathered_ranks(const hy_job *job, int64_t *rank)
{
    const hybrid_csr *A = job->problem->A;
    int64_t count       = 0;

    for (int64_t c = 0; c < A->cols; c++)
        rank[c] = -1;
    for (int64_t k = hy_offset(A, job->chunk->row_begin);
         k < hy_offset(A, job->chunk->row_end); k++)
        rank[hy_cols(A)[k]] = 0;
    for (int64_t c = 0; c < A->cols; c++)
        if (rank[c] == 0)
            rank[c] = count++;
    assert_int_equal(count, job->chunk->features.gather_rows);
}

int64_t window_ranks(const hybrid_csr *A, hy_chunk *chunk, int64_t *rank)
{
    const int64_t end = hy_offset(A, chunk->row_end);

    chunk->x_begin = A->cols;
    chunk->x_end   = 0;
    for (int64_t k = hy_offset(A, chunk->row_begin); k < end; k++) {
        chunk->x_begin = hy_cols(A)[k] < chunk->x_begin ? hy_cols(A)[k] : chunk->x_begin;
        chunk->x_end   = hy_cols(A)[k] >= chunk->x_end ? hy_cols(A)[k] + 1 : chunk->x_end;
    }
    const int64_t rows = chunk->x_end - chunk->x_begin, window = rows > 0 ? rows : 1;
    for (int64_t r = 0; r < A->cols; r++)
        rank[r] = r % window;
    return window;
}
