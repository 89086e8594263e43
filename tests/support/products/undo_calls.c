/* tests/support/products/undo_calls.c - the engine and the calls of undo.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/threads/pool_inside.h"
#include "support/engines/either.h"
#include "support/fake/fake_backend.h"
#include "support/engines/io_fixture.h"
#include "support/fake/settings.h"
#include "support/inputs/stored.h"
#include "support/products/undo.h"

extern const hy_backend_ops hy_host_backend_ops;

static const hy_backend_ops *const fakes[] = {&hy_fault_backend_ops, &hy_host_backend_ops,
                                              NULL};
static const test_kind kind                = {HYBRID_F64, HYBRID_I64, 1};

enum { ROWS = 60, COLUMNS = 6, CHUNK = 13, PIECE = 3000 };

static hybrid_plan_options options_of(const world *w, const char *variant, unsigned flags)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;

    options.chunk_rows = CHUNK;
    options.flags      = flags;
    options.variant    = w->on_device ? variant : NULL;
    return options;
}

void undo_open_engine(place where, hybrid_engine **engine)
{
    static const int listed[]     = {0, 1, 2};
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;

    options.threads    = 2;
    options.host_bytes = where == CAPPED ? 64 << 20 : 0;
    if (where == HOST || where == CAPPED) {
        options.backend = HYBRID_HOST;
        assert_int_equal(hybrid_engine_create(&options, engine), HYBRID_OK);
        return;
    }
    if (where == DEVICES) {
        options.devices      = listed;
        options.device_count = 3;
    }
    assert_int_equal(fake_engine_open(&options, fakes, either_variants, engine),
                     HYBRID_OK);
    settings_of(*engine)->all_devices = where == DEVICES;
}

void undo_open(world *w, place where)
{
    *w = (world){.on_device = where >= DEVICE};
    fake_delays(1, 0);
    undo_open_engine(where, &w->engine);
    w->engine->ctx.pool->spins = 0; /* workers sleep at once instead of polling for work,
                                       because calls are short and cores are few */
    settings_of(w->engine)->piece_bytes = PIECE;
    w->engine->ctx.progress.every_ns    = 0;
    matrix_random(ROWS, ROWS, 4, 3, kind, &w->A);
    oracle_spgemm(&w->A, &w->A, &w->square);
    dense_make(ROWS, COLUMNS, 0, HYBRID_ROW_MAJOR, 1, kind, &w->X);
    dense_make(ROWS, COLUMNS, 0, HYBRID_ROW_MAJOR, 2, kind, &w->Y);
    dense_copy(&w->Y, &w->before);
    w->file = (hybrid_file *)stored_csr(w->engine, "a", &w->A, 1).file;
    const hybrid_plan_options again = options_of(w, "spgemm.fake.esc", HYBRID_REUSE);
    const hybrid_plan_options other = options_of(w, "spmm.fake.rows", 0);
    const hybrid_plan_options stays = options_of(w, "spmm.fake.rows", HYBRID_RESIDENT);
    assert_int_equal(hybrid_spgemm_plan(w->engine, &w->A, &w->A, &again, &w->plan), 0);
    assert_int_equal(hybrid_spmm_plan(w->engine, &w->A, COLUMNS, &other, &w->dense), 0);
    assert_int_equal(hybrid_spmm_plan(w->engine, &w->A, COLUMNS, &stays, &w->kept), 0);
}

void undo_close(world *w)
{
    hybrid_plan_destroy(w->plan);
    hybrid_plan_destroy(w->dense);
    hybrid_plan_destroy(w->kept);
    hybrid_file_close(w->file);
    hybrid_engine_destroy(w->engine);
    oracle_free(&w->square);
    dense_free(&w->X);
    dense_free(&w->Y);
    dense_free(&w->before);
    matrix_free(&w->A);
    assert_int_equal(fake_alive(), 0);
}

/* ---- calls ---- */

static hybrid_status take_square(world *w, hybrid_status status, hybrid_csr *C)
{
    if (status != HYBRID_OK)
        return status;
    assert_null(oracle_check(&w->square, C, 1));
    hybrid_csr_free(w->engine, C);
    return HYBRID_OK;
}

static hybrid_status multiply_once(world *w)
{
    const hybrid_plan_options options = options_of(w, "spgemm.fake.esc", 0);
    hybrid_csr C;

    return take_square(w, hybrid_spgemm_with(w->engine, &options, &w->A, &w->A, &C), &C);
}

static hybrid_status make_plan(world *w)
{
    const hybrid_plan_options options = options_of(w, "spgemm.fake.esc", HYBRID_REUSE);
    hybrid_plan *plan;

    const hybrid_status status =
        hybrid_spgemm_plan(w->engine, &w->A, &w->A, &options, &plan);
    if (status == HYBRID_OK)
        hybrid_plan_destroy(plan);
    return status;
}

static hybrid_status run_plan(world *w)
{
    hybrid_csr C;

    return take_square(w, hybrid_spgemm_run(w->plan, &w->A, &w->A, &C), &C);
}

/* The caller's functions for rows and for progress call this function. */
int undo_count_down(world *w)
{
    return w->asks > 0 && --w->asks == 0;
}

static int hand_rows(void *user, int64_t begin, const hybrid_csr *rows)
{
    (void)begin, (void)rows;
    return undo_count_down(user);
}

static hybrid_status hand_each(world *w)
{
    return hybrid_spgemm_each(w->plan, &w->A, &w->A, hand_rows, w);
}

static hybrid_status take_product(const world *w, hybrid_status status)
{
    if (status == HYBRID_OK)
        assert_null(oracle_check_spmm(1, &w->A, &w->X, 0, &w->before, &w->Y, 1));
    return status;
}

static hybrid_status multiply_dense(world *w)
{
    return take_product(w, hybrid_spmm(w->engine, 1, &w->A, &w->X, 0, &w->Y));
}

static hybrid_status run_dense(world *w)
{
    return take_product(w, hybrid_spmm_run(w->dense, 1, &w->A, &w->X, 0, &w->Y));
}

static hybrid_status run_kept(world *w)
{
    hybrid_plan_refresh(w->kept);
    return take_product(w, hybrid_spmm_run(w->kept, 1, &w->A, &w->X, 0, &w->Y));
}

static hybrid_status multiply_files(world *w)
{
    const hybrid_operand A = {.file = w->file};
    hybrid_csr C;

    return take_square(w, hybrid_spgemm_files(w->engine, &A, &A, NULL, &C), &C);
}

static hybrid_status hand_files(world *w)
{
    const hybrid_operand A = {.file = w->file};

    return hybrid_spgemm_files_each(w->engine, &A, &A, NULL, hand_rows, w);
}

static hybrid_status multiply_dense_file(world *w)
{
    const hybrid_operand A = {.file = w->file}, X = {.dense = &w->X};

    return take_product(w, hybrid_spmm_files(w->engine, 1, &A, &X, 0, NULL, &w->Y));
}

static hybrid_status predict_files(world *w)
{
    const hybrid_operand A = {.file = w->file};
    hybrid_report report   = HYBRID_REPORT_INIT;

    return hybrid_spgemm_files_predict(w->engine, &A, &A, NULL, &report);
}

static hybrid_status predict_to_file(world *w)
{
    const hybrid_operand A = {.file = w->file};
    hybrid_report report   = HYBRID_REPORT_INIT;

    return hybrid_spgemm_to_file_predict(w->engine, &A, &A, NULL, io_temp("c.npz"), NULL,
                                         &report);
}

static hybrid_status predict_dense_files(world *w)
{
    const hybrid_operand A = {.file = w->file}, X = {.dense = &w->X};
    hybrid_report report = HYBRID_REPORT_INIT;

    return hybrid_spmm_files_predict(w->engine, &A, &X, NULL, &report);
}

static hybrid_status transpose(world *w)
{
    hybrid_csr T;

    const hybrid_status status = hybrid_csr_transpose(w->engine, &w->A, &T);
    if (status == HYBRID_OK)
        hybrid_csr_free(w->engine, &T);
    return status;
}

static hybrid_status read_text(world *w)
{
    hybrid_csr A;

    const hybrid_status status =
        hybrid_read_mtx(w->engine, io_temp("a.mtx"), HYBRID_F64, &A);
    if (status == HYBRID_OK)
        hybrid_csr_free(w->engine, &A);
    return status;
}

static hybrid_status generate(world *w)
{
    hybrid_csr A;

    const hybrid_status status =
        hybrid_generate(w->engine, "er:500,4", HYBRID_F32, 1, &A);
    if (status == HYBRID_OK)
        hybrid_csr_free(w->engine, &A);
    return status;
}

#define CALL(name)                                                                       \
    {                                                                                    \
#name, name                                                                      \
    }

const call undo_products[] = {
    CALL(multiply_once), CALL(make_plan),           CALL(run_plan),  CALL(hand_each),
    CALL(run_kept),      CALL(multiply_dense),      CALL(run_dense), CALL(multiply_files),
    CALL(hand_files),    CALL(multiply_dense_file), {NULL, NULL}};
const call undo_others[] = {
    CALL(predict_files), CALL(predict_to_file), CALL(predict_dense_files),
    CALL(transpose),     CALL(read_text),       CALL(generate),
    {NULL, NULL}};

const call undo_handing[]    = {CALL(hand_each), CALL(hand_files), {NULL, NULL}};
const call undo_allocating[] = {
    CALL(multiply_once), CALL(make_plan), CALL(multiply_dense), {NULL, NULL}};
const call undo_read_text = CALL(read_text), undo_files = CALL(multiply_files),
           undo_dense_file = CALL(multiply_dense_file);

void undo_write_text(const world *w)
{
    assert_int_equal(hybrid_write_mtx(w->engine, io_temp("a.mtx"), &w->A), HYBRID_OK);
}
