/* tests/support/engines/world.c - repeated products A*X on a fake device and the host. */
#include "support/engines/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "support/fake/fake_backend.h"

extern const hy_backend_ops hy_host_backend_ops;
extern const hy_variant hy_spgemm_host_rows, hy_spmm_host_rows;

void world_open(world *w, const hy_backend_ops *device, const hy_variant *spmm,
                size_t device_bytes, int64_t width)
{
    const test_kind f64                  = {HYBRID_F64, HYBRID_I64, 1};
    const hy_backend_ops *const places[] = {device, &hy_host_backend_ops, NULL};
    const hy_variant *const variants[] = {&hy_spgemm_fake_esc, spmm, &hy_spgemm_host_rows,
                                          &hy_spmm_host_rows, NULL};
    static const hy_variant *table[sizeof variants / sizeof *variants];
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;

    memcpy(table, variants, sizeof variants); /* `table` is static, because the engine
                                                 keeps a pointer to it */
    options.threads      = 3;
    options.device_bytes = device_bytes;
    assert_int_equal(fake_engine_open(&options, places, table, &w->engine), HYBRID_OK);
    matrix_random(ROWS, COLS, EACH, 1, f64, &w->A);
    dense_make(COLS, width, 0, HYBRID_ROW_MAJOR, 2, f64, &w->X);
    dense_make(ROWS, width, 0, HYBRID_ROW_MAJOR, 3, f64, &w->Y);
    dense_copy(&w->Y, &w->before);
    w->runs = 0;
}

void world_close(world *w)
{
    hybrid_engine_destroy(w->engine);
    matrix_free(&w->A);
    dense_free(&w->X);
    dense_free(&w->Y);
    dense_free(&w->before);
    assert_int_equal(fake_alive(), 0);
}

size_t world_bytes(const hybrid_dense *m)
{
    return (size_t)(m->rows * m->cols) * 8;
}

void world_pin(world *w, int which, int on)
{
    const hybrid_dense *m[] = {&w->X, &w->Y};

    for (int i = 0; i < 2; i++)
        if (which >> i & 1)
            assert_int_equal(on ? hybrid_pin(w->engine, m[i]->data, world_bytes(m[i]))
                                : hybrid_unpin(w->engine, m[i]->data),
                             HYBRID_OK);
}

hybrid_plan *world_plan(world *w, int64_t chunk_rows, unsigned flags, hybrid_split split,
                        double share)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan;

    options.flags      = flags;
    options.chunk_rows = chunk_rows;
    options.split      = split;
    options.host_share = share;
    assert_int_equal(hybrid_spmm_plan(w->engine, &w->A, w->X.cols, &options, &plan),
                     HYBRID_OK);
    return plan;
}

void world_negate(world *w)
{
    for (int64_t k = 0; k < w->A.nnz; k++)
        value_set(w->A.val, HYBRID_F64, k, -value_at(w->A.val, HYBRID_F64, k));
}
