/* tests/support/runs/each.c - collects the rows of C that a plan hands to a function. */
#include "support/runs/each.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/csr.h"
#include "support/fake/fake_backend.h"

extern const hy_backend_ops hy_host_backend_ops;
extern const hy_variant hy_spgemm_host_rows;

static const hy_backend_ops *const faults[] = {&hy_fault_backend_ops,
                                               &hy_host_backend_ops, NULL};
static const hy_variant *const variants[]   = {&hy_spgemm_fake_esc, &hy_spgemm_host_rows,
                                               NULL};

hybrid_engine *each_open(int on_host, int threads, size_t host_bytes)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_engine *engine;

    options.threads    = threads;
    options.host_bytes = host_bytes;
    options.backend    = on_host ? HYBRID_HOST : HYBRID_AUTO;
    fake_delays(1, 0);
    assert_int_equal(on_host ? hybrid_engine_create(&options, &engine)
                             : fake_engine_open(&options, faults, variants, &engine),
                     HYBRID_OK);
    return engine;
}

hybrid_plan *each_plan(hybrid_engine *engine, const hybrid_csr *A, const hybrid_csr *B,
                       int64_t chunk_rows, unsigned flags)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan;

    options.chunk_rows = chunk_rows;
    options.flags      = flags;
    assert_int_equal(hybrid_spgemm_plan(engine, A, B, &options, &plan), HYBRID_OK);
    return plan;
}

typedef struct collecting {
    collected *out;
    int64_t last;
    pthread_t caller;
} collecting;

static void *grown(void *array, size_t bytes)
{
    void *larger = realloc(array, bytes + 1); /* one byte more, because realloc() of 0
                                                 bytes may return NULL */

    assert_non_null(larger);
    return larger;
}

static void append(hybrid_csr *C, const hybrid_csr *rows)
{
    const size_t size   = hy_value_size(C->type);
    const int64_t *from = rows->row_ptr;

    C->row_ptr  = grown(C->row_ptr, (size_t)(C->rows + rows->rows + 1) * 8);
    C->col      = grown(C->col, (size_t)(C->nnz + rows->nnz) * 4);
    C->val      = grown(C->val, (size_t)(C->nnz + rows->nnz) * size);
    int64_t *to = C->row_ptr;
    for (int64_t i = 0; i <= rows->rows; i++)
        to[C->rows + i] = C->nnz + from[i];
    if (rows->nnz > 0) {
        memcpy(hy_cols(C) + C->nnz, rows->col, (size_t)rows->nnz * 4);
        memcpy((char *)C->val + (size_t)C->nnz * size, rows->val,
               (size_t)rows->nnz * size);
    }
    C->rows += rows->rows;
    C->nnz += rows->nnz;
}

static int take(void *user, int64_t row_begin, const hybrid_csr *rows)
{
    const collecting *c    = user;
    hybrid_csr *C          = &c->out->C;
    const int64_t *row_ptr = rows->row_ptr;

    assert_true(pthread_equal(pthread_self(), c->caller));
    assert_int_equal(row_begin, C->rows);
    assert_true(rows->rows > 0);
    assert_int_equal(rows->cols, C->cols);
    assert_int_equal(rows->type, C->type);
    assert_int_equal(rows->offset_type, HYBRID_I64);
    assert_int_equal(row_ptr[0], 0);
    assert_int_equal(row_ptr[rows->rows], rows->nnz);
    append(C, rows);
    return c->out->panels++ == c->last ? 7 : 0;
}

/* Clears *out and returns the state of a collection that has received no rows yet. Part
   number `last` ends the run; -1: none does. */
static collecting begin_collecting(const hybrid_csr *B, int64_t last, collected *out)
{
    *out           = (collected){.C = {.cols        = B->cols,
                                       .offset_type = HYBRID_I64,
                                       .row_ptr     = grown(NULL, 8),
                                       .col         = grown(NULL, 0),
                                       .val         = grown(NULL, 0),
                                       .type        = B->type}};
    int64_t *first = out->C.row_ptr;
    first[0]       = 0;
    return (collecting){out, last, pthread_self()};
}

hybrid_status collect(hybrid_plan *plan, const hybrid_csr *A, const hybrid_csr *B,
                      int64_t last, collected *out)
{
    collecting c = begin_collecting(B, last, out);

    return hybrid_spgemm_each(plan, A, B, take, &c);
}

hybrid_status collect_files(hybrid_engine *engine, const hybrid_operand *A,
                            const hybrid_operand *B, const hybrid_csr *like,
                            const hybrid_plan_options *options, int64_t last,
                            collected *out)
{
    collecting c = begin_collecting(like, last, out);

    return hybrid_spgemm_files_each(engine, A, B, options, take, &c);
}

void collected_begins(const collected *rows, const hybrid_csr *C)
{
    const hybrid_csr *D    = &rows->C;
    const int64_t *row_ptr = C->row_ptr;

    assert_true(D->rows <= C->rows);
    assert_int_equal(D->nnz, row_ptr[D->rows]);
    assert_memory_equal(D->row_ptr, row_ptr, (size_t)(D->rows + 1) * 8);
    if (D->nnz == 0)
        return;
    assert_memory_equal(D->col, C->col, (size_t)D->nnz * 4);
    assert_memory_equal(D->val, C->val, (size_t)D->nnz * hy_value_size(D->type));
}

void collected_same(const collected *rows, const hybrid_csr *C)
{
    assert_int_equal(rows->C.rows, C->rows);
    collected_begins(rows, C);
}
