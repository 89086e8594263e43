/* bench/program/bench_pinned.c - pins operands and Y before the clock starts. */
#include "bench/program/bench.h"

enum { MOST_ARRAYS = 8 };

typedef struct array {
    void *ptr;
    size_t bytes;
} array;

static size_t value_size(hybrid_type type)
{
    return type == HYBRID_F64 ? 8 : 4;
}

/* Appends the arrays of a matrix, if it has any. Returns the new number of arrays. */
static int add_csr(const hybrid_csr *m, array *arrays, int count)
{
    const size_t offset = m->offset_type == HYBRID_I64 ? 8 : 4;

    if (!m->row_ptr)
        return count;
    arrays[count++] = (array){m->row_ptr, (size_t)(m->rows + 1) * offset};
    arrays[count++] = (array){m->col, (size_t)m->nnz * 4};
    arrays[count++] = (array){m->val, (size_t)m->nnz * value_size(m->type)};
    return count;
}

static int add_dense(const hybrid_dense *m, array *arrays, int count)
{
    if (m->data)
        arrays[count++] =
            (array){m->data, (size_t)m->rows * (size_t)m->cols * value_size(m->type)};
    return count;
}

static int arrays_of(const bench_case *c, array *arrays)
{
    int count = add_csr(&c->bench->problem.A, arrays, 0);

    count = add_csr(&c->bench->problem.T, arrays, count);
    count = add_dense(&c->X, arrays, count);
    return add_dense(&c->Y, arrays, count);
}

hybrid_status bench_pin(bench_case *c)
{
    array arrays[MOST_ARRAYS];
    const int count      = arrays_of(c, arrays);
    hybrid_status status = HYBRID_OK;

    for (int i = 0; i < count && status == HYBRID_OK; i++)
        if (arrays[i].bytes > 0)
            status = hybrid_pin(c->engine, arrays[i].ptr, arrays[i].bytes);
    return status;
}

void bench_unpin(bench_case *c)
{
    array arrays[MOST_ARRAYS];
    const int count = arrays_of(c, arrays);

    for (int i = 0; i < count; i++) /* also arrays that bench_pin() did not reach; for
                                       them this call only returns an error */
        hybrid_unpin(c->engine, arrays[i].ptr);
}
