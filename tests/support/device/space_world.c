/* tests/support/device/space_world.c - an engine with a fake device, and operands on both
   sides. */
#include "support/device/space_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "engine/api/engine.h"
#include "support/check/oracle.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fake_memory.h"
#include "support/fake/fake_spmm.h"
#include "support/device/on_device.h"

const test_kind space_kind               = {HYBRID_F64, HYBRID_I64, 1};
const hy_variant *const space_variants[] = {&hy_spgemm_fake_esc, &hy_spmm_fake_rows,
                                            &hy_spmm_fake_tiled, NULL};
extern const hy_backend_ops hy_host_backend_ops;
static const hy_backend_ops *const backends[] = {&hy_fake_backend_ops,
                                                 &hy_host_backend_ops, NULL};

void space_world_open(const hybrid_engine_options *options, space_world *w)
{
    assert_int_equal(hy_engine_open(options, backends, space_variants, &w->engine),
                     HYBRID_OK);
    matrix_random(SPACE_ROWS, SPACE_ROWS, 4, 1, space_kind, &w->A);
    dense_make(SPACE_ROWS, SPACE_COLS, 0, HYBRID_ROW_MAJOR, 2, space_kind, &w->X);
    dense_make(SPACE_ROWS, SPACE_COLS, 0, HYBRID_ROW_MAJOR, 3, space_kind, &w->Y);
    w->a = on_device_csr(0, &w->A, 0);
    w->x = on_device_dense(0, &w->X, 0);
    w->y = on_device_dense(0, &w->Y, 0);
}

void space_world_open_plain(space_world *w)
{
    const hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;

    fake_delays(1, 0);
    space_world_open(&options, w);
}

void space_world_close(space_world *w)
{
    on_device_csr_free(&w->a);
    fake_memory_free(w->x.data);
    fake_memory_free(w->y.data);
    matrix_free(&w->A);
    dense_free(&w->X);
    dense_free(&w->Y);
    hybrid_engine_destroy(w->engine);
    assert_int_equal(fake_alive(), 0);
    assert_int_equal(fake_memory_alive(), 0);
}

void space_world_expect(const space_world *w, hybrid_status status, hybrid_status wanted,
                        const char *words)
{
    if (status != wanted || !strstr(hybrid_engine_message(w->engine), words))
        fail_msg("status %d, wanted %d and \"%s\": %s", (int)status, (int)wanted, words,
                 hybrid_engine_message(w->engine));
}

void space_world_check(const space_world *w, double alpha, double beta)
{
    hybrid_dense here;

    dense_copy(&w->Y, &here);
    on_device_read(&w->y, &here);
    assert_null(oracle_check_spmm(alpha, &w->A, &w->X, beta, &w->Y, &here, 1));
    dense_free(&here);
}

hybrid_status space_world_spmm(const space_world *w, const hybrid_csr *A,
                               const hybrid_dense *X, hybrid_dense *Y)
{
    return hybrid_spmm(w->engine, 1, A, X, 0, Y);
}
