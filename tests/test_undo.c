/* tests/test_undo.c - a call that fails leaves the engine as it found it: no byte more is
   counted, resident or pinned than before the call, however the call failed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/engine.h"
#include "support/cases.h"
#include "support/fake_backend.h"
#include "support/io_fixture.h"
#include "support/oracle.h"
#include "support/sanitized.h"
#include "support/stored.h"

extern const hy_backend_ops hy_host_backend_ops;
extern const hy_variant hy_spgemm_host_rows, hy_spmm_host_rows;

static const hy_backend_ops *const fakes[] = {&hy_fault_backend_ops, &hy_host_backend_ops,
                                              NULL};
static const hy_variant *const variants[]  = {&hy_spgemm_fake_esc, &hy_spmm_fake_rows,
                                              &hy_spgemm_host_rows, &hy_spmm_host_rows,
                                              NULL};
static const test_kind kind                = {HYBRID_F64, HYBRID_I64, 1};

enum { ROWS = 60, COLUMNS = 6, CHUNK = 13, PIECE = 3000, MOST = 20000 };
enum { STEP = 4096 }; /* bytes between two caps */

/* HOST: without a cap; CAPPED: with a cap on host memory; else fake devices. */
typedef enum place { HOST, CAPPED, DEVICE, DEVICES, PLACES } place;

typedef struct world {
    hybrid_engine *engine;
    int on_device;
    hybrid_csr A;
    hybrid_dense X, Y, before;
    oracle square;
    hybrid_file *file; /* A */
    hybrid_plan *plan, *dense,
        *kept;    /* live: of A*A, of A*X, of A*X with HYBRID_RESIDENT */
    int64_t asks; /* left until the function of the caller ends the call */
} world;

static hybrid_plan_options options_of(const world *w, const char *variant, unsigned flags)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;

    options.chunk_rows = CHUNK;
    options.flags      = flags;
    options.variant    = w->on_device ? variant : NULL;
    return options;
}

static void open_engine(place where, hybrid_engine **engine)
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
    assert_int_equal(fake_engine_open(&options, fakes, variants, engine), HYBRID_OK);
    (*engine)->all_devices = where == DEVICES;
}

static void open_world(world *w, place where)
{
    *w = (world){.on_device = where >= DEVICE};
    fake_delays(1, 0);
    open_engine(where, &w->engine);
    w->engine->piece_bytes           = PIECE;
    w->engine->ctx.progress.every_ns = 0;
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

static void close_world(world *w)
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

/* ---- calls --------------------------------------------------------------------------
 */

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

/* A function of the caller that is handed rows, or told how far the call is. */
static int count_down(world *w)
{
    return w->asks > 0 && --w->asks == 0;
}

static int hand_rows(void *user, int64_t begin, const hybrid_csr *rows)
{
    (void)begin, (void)rows;
    return count_down(user);
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

typedef struct call {
    const char *name;
    hybrid_status (*make)(world *);
} call;

#define CALL(name)                                                                       \
    {                                                                                    \
#name, name                                                                      \
    }

static const call products[] = {
    CALL(multiply_once), CALL(make_plan),           CALL(run_plan),  CALL(hand_each),
    CALL(run_kept),      CALL(multiply_dense),      CALL(run_dense), CALL(multiply_files),
    CALL(hand_files),    CALL(multiply_dense_file), {NULL, NULL}};
static const call others[] = {
    CALL(transpose), CALL(read_text), CALL(generate), {NULL, NULL}};

/* ---- what the engine holds ------------------------------------------------------------
 */

/* alive: blocks, lanes and marks of fake devices. Pages of results that a call found may
   have become pinned. */
typedef struct held {
    int64_t host, device, pinned, alive;
} held;

static held held_by(const hybrid_engine *engine)
{
    held h = {.host   = hy_meter_used(&engine->ctx.memory.meter),
              .device = hy_meter_used(&engine->host->device),
              .alive  = fake_alive() - fake_pinned_now()};

    for (int i = 0; i < engine->device_count; i++) {
        h.device += hy_meter_used(&engine->devices[i]->device);
        h.pinned += hy_meter_used(&engine->devices[i]->pinned);
    }
    return h;
}

static int is_more(const held *now, const held *before)
{
    return now->host > before->host || now->device > before->device ||
           now->pinned > before->pinned || now->alive > before->alive;
}

/* The lane of a fake device may still be freeing what it did last. */
static void expect_no_more(const world *w, const held *before, const char *name)
{
    held now = held_by(w->engine);

    for (int i = 0; i < 5000 && is_more(&now, before); i++, now = held_by(w->engine))
        usleep(1000);
    if (is_more(&now, before))
        fail_msg(
            "before: host %lld, device %lld, pinned %lld, alive %lld; after %s, which "
            "failed: %lld, %lld, %lld, %lld",
            (long long)before->host, (long long)before->device, (long long)before->pinned,
            (long long)before->alive, name, (long long)now.host, (long long)now.device,
            (long long)now.pinned, (long long)now.alive);
}

/* ---- failures -------------------------------------------------------------------------
 */

/* One way to let a call fail: `arm` prepares the n-th failure, `disarm` takes it back and
   returns whether the call met it. */
typedef struct way {
    void (*arm)(world *w, int64_t n);
    int (*disarm)(world *w);
} way;

static void arm_memory(world *w, int64_t n)
{
    w->engine->ctx.memory.failures = n;
}

static int disarm_memory(world *w)
{
    const int met                  = w->engine->ctx.memory.failures <= 0;
    w->engine->ctx.memory.failures = 0;
    return met;
}

static void arm_backend(world *w, int64_t n)
{
    (void)w;
    fault_arm(n);
}

static int disarm_backend(world *w)
{
    const int met = !fault_is_armed();

    (void)w;
    fault_arm(0);
    return met;
}

static int tell(void *user, int64_t done, int64_t rows)
{
    (void)done, (void)rows;
    return count_down(user);
}

static void arm_progress(world *w, int64_t n)
{
    w->asks = n;
    hybrid_engine_progress(w->engine, tell, w);
}

static void arm_rows(world *w, int64_t n)
{
    w->asks = n;
}

static int disarm_function(world *w)
{
    const int met = w->asks == 0;

    w->asks = 0;
    hybrid_engine_progress(w->engine, NULL, NULL);
    return met;
}

/* Memory is short from the n-th step on. A call that fits returns OK. */
static int64_t host_cap, device_cap[HY_MOST_DEVICES];

static void arm_host_cap(world *w, int64_t n)
{
    hy_meter *meter = &w->engine->ctx.memory.meter;

    host_cap   = meter->cap;
    meter->cap = n * STEP;
}

static int disarm_host_cap(world *w)
{
    w->engine->ctx.memory.meter.cap = host_cap;
    return 0;
}

static void arm_device_cap(world *w, int64_t n)
{
    for (int i = 0; i < w->engine->device_count; i++) {
        hy_meter *meter = &w->engine->devices[i]->device;
        device_cap[i]   = meter->cap;
        meter->cap      = n * STEP / 4;
    }
}

static int disarm_device_cap(world *w)
{
    for (int i = 0; i < w->engine->device_count; i++)
        w->engine->devices[i]->device.cap = device_cap[i];
    return 0;
}

static const way by_memory     = {arm_memory, disarm_memory},
                 by_backend    = {arm_backend, disarm_backend},
                 by_progress   = {arm_progress, disarm_function},
                 by_rows       = {arm_rows, disarm_function},
                 by_host_cap   = {arm_host_cap, disarm_host_cap},
                 by_device_cap = {arm_device_cap, disarm_device_cap};

/* The call fails in the n-th way, of an engine that keeps nothing (`cold`) or what the
   last call has left. Returns 1 if it did fail, -1 if there is no n-th way. */
static int fail_once(world *w, const call *c, const way *how, int64_t n, int cold)
{
    if (cold)
        hybrid_engine_trim(w->engine);
    const held before = held_by(w->engine);
    how->arm(w, n);
    const hybrid_status status = c->make(w);
    const int met              = how->disarm(w);
    if (status == HYBRID_OK)
        return met ? 0 : -1;
    assert_true(strlen(hybrid_engine_message(w->engine)) > 10);
    expect_no_more(w, &before, c->name);
    return 1;
}

/* Returns how many times the call failed. */
static int64_t fail_each(world *w, const call *c, const way *how)
{
    int64_t failed = 0;

    for (int cold = 0; cold < 2; cold++) {
        assert_int_equal(c->make(w), HYBRID_OK);
        for (int64_t n = 1;; n += 1 + n / 16) {
            const int result = fail_once(w, c, how, n, cold);
            if (result < 0)
                break;
            failed += result;
            assert_true(n < MOST);
        }
    }
    assert_int_equal(c->make(w), HYBRID_OK);
    return failed;
}

static void fail_all(world *w, const call *calls, const way *how)
{
    int64_t failed = 0;

    for (const call *c = calls; c->name; c++)
        failed += fail_each(w, c, how);
    assert_true(failed > 4);
}

/* ---- tests ----------------------------------------------------------------------------
 */

static void write_text(const world *w)
{
    assert_int_equal(hybrid_write_mtx(w->engine, io_temp("a.mtx"), &w->A), HYBRID_OK);
}

static void allocations_fail(void **state)
{
    world w;

    (void)state;
    for (place where = HOST; where < PLACES; where++) {
        open_world(&w, where);
        write_text(&w);
        fail_all(&w, products, &by_memory);
        fail_all(&w, others, &by_memory);
        close_world(&w);
    }
}

static void progress_ends_calls(void **state)
{
    world w;

    (void)state;
    for (place where = HOST; where < PLACES; where++) {
        open_world(&w, where);
        fail_all(&w, products, &by_progress);
        close_world(&w);
    }
}

static void functions_end_calls(void **state)
{
    static const call calls[] = {CALL(hand_each), CALL(hand_files), {NULL, NULL}};
    world w;

    (void)state;
    for (place where = HOST; where < PLACES; where++) {
        open_world(&w, where);
        fail_all(&w, calls, &by_rows);
        close_world(&w);
    }
}

static void devices_fail(void **state)
{
    world w;

    (void)state;
    for (place where = DEVICE; where < PLACES; where++) {
        open_world(&w, where);
        fail_all(&w, products, &by_backend);
        close_world(&w);
    }
}

static void host_memory_is_short(void **state)
{
    world w;

    (void)state;
    for (place where = HOST; where < PLACES; where++) {
        open_world(&w, where);
        write_text(&w);
        fail_all(&w, products, &by_host_cap);
        fail_all(&w, others, &by_host_cap);
        close_world(&w);
    }
}

/* Live plans are cut for more, and are refused while the cap is less. */
static void device_memory_is_short(void **state)
{
    static const call calls[] = {
        CALL(multiply_once), CALL(make_plan), CALL(multiply_dense), {NULL, NULL}};
    world w;

    (void)state;
    for (place where = DEVICE; where < PLACES; where++) {
        open_world(&w, where);
        fail_all(&w, calls, &by_device_cap);
        close_world(&w);
    }
}

/* Files that end too soon, or break the rules. */
static void files_are_bad(void **state)
{
    static const char text[] = "%%MatrixMarket matrix coordinate real general\n"
                               "3 3 3\n1 1 1\n2 2 2\n3 4 3\n";
    world w;

    (void)state;
    for (place where = HOST; where < PLACES; where++) {
        open_world(&w, where);
        io_store(io_temp("a.mtx"), text, sizeof text - 1);
        for (int cold = 0; cold < 2; cold++) {
            if (cold)
                hybrid_engine_trim(w.engine);
            const held before = held_by(w.engine);
            assert_int_equal(read_text(&w), HYBRID_BAD_FILE);
            expect_no_more(&w, &before, "read_text");
            assert_int_equal(truncate(io_temp("a.bin"), 900), 0);
            assert_int_equal(multiply_files(&w), HYBRID_IO_FAILED);
            expect_no_more(&w, &before, "multiply_files");
            assert_int_equal(multiply_dense_file(&w), HYBRID_IO_FAILED);
            expect_no_more(&w, &before, "multiply_dense_file");
            stored_write_csr("a", &w.A);
            assert_int_equal(multiply_files(&w), HYBRID_OK);
        }
        close_world(&w);
    }
}

/* ---- resident bytes -------------------------------------------------------------------
 */

enum { LARGE = 6000, LARGE_EACH = 40, SLACK = 24 << 20 };

static int64_t resident_bytes(void)
{
    long long all = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lld %lld", &all, &resident), 2);
    fclose(file);
    return resident * sysconf(_SC_PAGESIZE);
}

static int stop_late(void *user, int64_t done, int64_t rows)
{
    (void)user;
    return done > rows / 2;
}

/* The engine multiplies a large matrix, which fails after much of C is there, and then
   keeps a small result. */
static void expect_small(hybrid_engine *engine, const hybrid_csr *A, hybrid_status wanted)
{
    const int64_t before = resident_bytes();
    hybrid_csr small, C;

    hybrid_engine_progress(engine, wanted == HYBRID_CANCELLED ? stop_late : NULL, NULL);
    assert_int_equal(hybrid_spgemm(engine, A, A, &C), wanted);
    hybrid_engine_progress(engine, NULL, NULL);
    assert_true(resident_bytes() < before + SLACK);
    matrix_random(3, 3, 2, 1, kind, &small);
    assert_int_equal(hybrid_spgemm(engine, &small, &small, &C), HYBRID_OK);
    assert_true(resident_bytes() < before + SLACK);
    hybrid_csr_free(engine, &C);
    matrix_free(&small);
}

/* C has about 9 million entries of 12 bytes. */
static void pages_of_large_results_go(void **state)
{
    hybrid_engine *engine;
    hybrid_csr A;

    (void)state;
    matrix_random(LARGE, LARGE, LARGE_EACH, 5, kind, &A);
    for (place where = HOST; where < DEVICES; where++) {
        open_engine(where, &engine);
        engine->ctx.progress.every_ns = 0;
        expect_small(engine, &A, where == CAPPED ? HYBRID_NO_MEMORY : HYBRID_CANCELLED);
        if (where != CAPPED) {
            engine->ctx.memory.meter.cap =
                hy_meter_used(&engine->ctx.memory.meter) + (64 << 20);
            expect_small(engine, &A, HYBRID_NO_MEMORY);
        }
        hybrid_engine_destroy(engine);
    }
    matrix_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_fail),
        cmocka_unit_test(progress_ends_calls),
        cmocka_unit_test(functions_end_calls),
        cmocka_unit_test(devices_fail),
        cmocka_unit_test(host_memory_is_short),
        cmocka_unit_test(device_memory_is_short),
        cmocka_unit_test(files_are_bad),
        cmocka_unit_test(pages_of_large_results_go),
    };
    return cmocka_run_group_tests_name("undo", tests, NULL, io_group_remove);
}
