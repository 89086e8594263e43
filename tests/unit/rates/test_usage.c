/* tests/unit/rates/test_usage.c - resource use and bound of a run. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/data/csr.h"
#include "engine/report/usage.h"
#include "support/fake/fake_backend.h"
#include "support/inputs/hypersparse.h"
#include "support/engines/places.h"
#include "support/fake/settings.h"
#include "support/products/usage.h"
#include "support/products/usage_runs.h"

enum { WIDTH = 20, CHUNK = 60, CHUNKS = 15 };

static const test_kind f64 = {HYBRID_F64, HYBRID_I64, 1};

/* ---- bytes computed by hand ---- */

typedef struct taken {
    const hybrid_csr *A;
    int64_t bytes; /* bytes of A's rows that the host computed */
} taken;

static void note_rows(void *user, const hybrid_event *e)
{
    taken *t = user;

    if (strstr(e->variant, ".host.") && e->part == 0 &&
        strcmp(e->stage, "accumulate") == 0)
        t->bytes +=
            usage_csr_rows(e->row_end - e->row_begin,
                           hy_offset(t->A, e->row_end) - hy_offset(t->A, e->row_begin));
}

/* Checks the bytes in a report if X and Y are pageable: the report counts in host memory
   that workers make packs, fill the ring with X, and store Y. */
static void what_workers_and_device_move(void **state)
{
    world w;

    (void)state;
    usage_open(&w, &hy_spmm_fake_rows, WIDTH);
    for (int beta = 0; beta < 2; beta++) {
        const int64_t y = (int64_t)world_bytes(&w.Y), sent = fake_copied(HY_DEVICE),
                      back    = fake_copied(HY_PINNED);
        const hybrid_report r = usage_run(&w, CHUNK, HYBRID_SPLIT_GPU, 0, beta);
        assert_int_equal(r.h2d_bytes, fake_copied(HY_DEVICE) - sent);
        assert_int_equal(r.d2h_bytes, fake_copied(HY_PINNED) - back);
        assert_int_equal(r.d2h_bytes, y);
        assert_int_equal(r.host_bytes, r.h2d_bytes + (beta ? 2 * y : y));
        assert_int_equal(r.device_bytes, r.h2d_bytes + 2 * y);
    }
    world_close(&w);
}

static void pinned_memory_is_not_the_workers(void **state)
{
    world w;

    (void)state;
    usage_open(&w, &hy_spmm_fake_rows, WIDTH);
    world_pin(&w, BOTH, 1);
    const hybrid_report r = usage_run(&w, CHUNK, HYBRID_SPLIT_GPU, 0, 0);
    assert_int_equal(r.d2h_bytes, world_bytes(&w.Y));
    assert_int_equal(r.host_bytes, r.h2d_bytes - (int64_t)world_bytes(&w.X));
    assert_int_equal(r.device_bytes, r.h2d_bytes + 2 * r.d2h_bytes);
    world_pin(&w, BOTH, 0);
    world_close(&w);
}

/* Rows of column blocks are copied in place if X and Y are pinned, also if the run before
   copied them through the ring. Bytes of X and Y then do not count in `host_bytes`, the
   traffic of workers. */
static void nor_are_pinned_rows(void **state)
{
    world w;

    (void)state;
    usage_open(&w, &hy_spmm_fake_rows, 64);
    settings_of(w.engine)->column_blocks = 2;
    hybrid_plan *plan                    = world_plan(&w, CHUNK, 0, HYBRID_SPLIT_GPU, 0);
    assert_true(plan->portions->layout.pinned_blocks > 0);
    const int64_t x = (int64_t)world_bytes(&w.X), y = (int64_t)world_bytes(&w.Y);
    for (int run = 0; run < 4; run++) {
        const int pinned = run % 2;
        world_pin(&w, pinned ? BOTH : NONE, 1);
        const hybrid_report r = usage_run_plan(&w, plan, 0);
        world_pin(&w, pinned ? BOTH : NONE, 0);
        assert_int_equal(r.host_bytes, r.h2d_bytes + (pinned ? -x : y));
    }
    hybrid_plan_destroy(plan);
    world_close(&w);
}

/* The host takes chunks of the second column block, which is the narrower one: its bytes
   count with that width. */
static void panels_are_as_wide_as_they_are(void **state)
{
    world w;

    (void)state;
    usage_open(&w, &hy_spmm_fake_rows, 80);
    settings_of(w.engine)->column_blocks = 2;
    const int64_t x = (int64_t)world_bytes(&w.X), y = (int64_t)world_bytes(&w.Y);
    taken t = {&w.A, 0};
    world_pin(&w, BOTH, 1);
    hybrid_engine_trace(w.engine, note_rows, &t);
    const hybrid_report r = usage_run(&w, CHUNK, HYBRID_SPLIT_SHARE, 0.3, 0);
    hybrid_engine_trace(w.engine, NULL, NULL);
    assert_true(r.host_chunks > 0 && r.chunks > CHUNKS);
    assert_int_equal(r.host_bytes, r.h2d_bytes - x + t.bytes + y - r.d2h_bytes);
    world_pin(&w, BOTH, 0);
    world_close(&w);
}

static void packs_that_stay_are_read_and_not_sent(void **state)
{
    world w;

    (void)state;
    usage_open(&w, &hy_spmm_fake_rows, WIDTH);
    const int64_t x = (int64_t)world_bytes(&w.X), y = (int64_t)world_bytes(&w.Y);
    hybrid_plan *plan = world_plan(&w, CHUNK, HYBRID_RESIDENT, HYBRID_SPLIT_GPU, 0);
    const hybrid_report first = usage_run_plan(&w, plan, 0),
                        later = usage_run_plan(&w, plan, 0);
    assert_int_equal(later.resident_chunks, CHUNKS);
    assert_int_equal(later.h2d_bytes, x);
    assert_int_equal(later.host_bytes, x + y);
    assert_int_equal(later.device_bytes, first.device_bytes);
    hybrid_plan_destroy(plan);
    world_close(&w);
}

static void the_host_reads_a_and_stores_y(void **state)
{
    world w;

    (void)state;
    usage_open(&w, &hy_spmm_fake_rows, WIDTH);
    const int64_t a = usage_csr_rows(ROWS, w.A.nnz), y = (int64_t)world_bytes(&w.Y);
    for (int beta = 0; beta < 2; beta++) {
        const hybrid_report r = usage_run(&w, CHUNK, HYBRID_SPLIT_HOST, 0, beta);
        assert_int_equal(r.host_bytes, a + (beta ? 2 * y : y));
        assert_int_equal(r.h2d_bytes + r.d2h_bytes + r.device_bytes, 0);
        assert_true(r.use[HYBRID_BUS_UP].rate <= 0 && r.use[HYBRID_DEVICE].rate <= 0);
    }
    world_close(&w);
}

static void both_store_their_rows(void **state)
{
    world w;

    (void)state;
    usage_open(&w, &hy_spmm_fake_rows, WIDTH);
    taken t = {&w.A, 0};
    hybrid_engine_trace(w.engine, note_rows, &t);
    const hybrid_report r = usage_run(&w, CHUNK, HYBRID_SPLIT_SHARE, 0.4, 0);
    hybrid_engine_trace(w.engine, NULL, NULL);
    assert_true(r.host_chunks > 0 && t.bytes > 0);
    assert_int_equal(r.host_bytes, r.h2d_bytes + (int64_t)world_bytes(&w.Y) + t.bytes);
    assert_int_equal(r.device_bytes, r.h2d_bytes + 2 * r.d2h_bytes);
    world_close(&w);
}

/* C = A * A: A is copied once, as both operands. Pages of C are used for the first time,
   and their bytes count once. */
static void a_square(void **state)
{
    hybrid_csr A;
    int64_t nnz;

    (void)state;
    matrix_random(700, 700, 6, 3, f64, &A);
    for (int where = ON_HOST; where <= ON_DEVICE; where++) {
        hybrid_engine *engine = place_open((place)where, 0);
        const hybrid_report r = usage_square(engine, &A, &nnz);
        const int64_t a = usage_csr_rows(700, A.nnz), c = usage_csr_rows(700, nnz);
        if (where == ON_HOST) {
            assert_int_equal(r.host_bytes, a + c);
        } else {
            assert_int_equal(r.host_bytes, r.h2d_bytes + c);
            assert_int_equal(r.d2h_bytes, c + 8 * r.chunks);
            assert_int_equal(r.device_bytes, r.h2d_bytes + 2 * r.d2h_bytes);
        }
        hybrid_engine_destroy(engine);
    }
    matrix_free(&A);
}

/* Workers store all of Y, also rows that are empty in A and that the device does not
   compute: `host_bytes` counts them. */
static void empty_rows_are_stored(void **state)
{
    world w;

    (void)state;
    usage_open(&w, &hy_spmm_fake_rows, WIDTH);
    settings_of(w.engine)->hypersparse_bytes = 0;
    matrix_free(&w.A);
    hypersparse_make(2, f64, &w.A); /* 11 of 700 rows and as many columns have entries */
    dense_free(&w.X);
    dense_free(&w.Y);
    dense_make(700, WIDTH, 0, HYBRID_ROW_MAJOR, 1, f64, &w.X);
    dense_make(700, WIDTH, 0, HYBRID_ROW_MAJOR, 2, f64, &w.Y);
    const int64_t y = (int64_t)world_bytes(&w.Y);
    for (int beta = 0; beta < 2; beta++) {
        hybrid_plan *plan     = world_plan(&w, 0, 0, HYBRID_SPLIT_GPU, 0);
        const hybrid_report r = usage_run_plan(&w, plan, beta);
        assert_int_equal(r.d2h_bytes, 11 * WIDTH * 8);
        assert_int_equal(r.host_bytes, r.h2d_bytes + (beta ? 2 * y : y));
        hybrid_plan_destroy(plan);
    }
    world_close(&w);
}

/* ---- rates ---- */

/* Tests all splits, with rates that every run exceeds and with others. */
static void no_use_exceeds_what_there_is(void **state)
{
    static const double rates[]       = {0, 1, 1e6, 1e15};
    static const hybrid_split ways[4] = {HYBRID_SPLIT_GPU, HYBRID_SPLIT_HOST,
                                         HYBRID_SPLIT_SHARE, HYBRID_SPLIT_AUTO};
    int64_t nnz;
    world w;

    (void)state;
    usage_open(&w, &hy_spmm_fake_rows, WIDTH);
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < 8; i++) {
            const hybrid_split way = ways[i / 2];
            usage_set_rates(w.engine, rates[k]);
            world_pin(&w, i % 2 ? BOTH : NONE, 1);
            const hybrid_report r =
                usage_run(&w, CHUNK, way, way == HYBRID_SPLIT_SHARE ? 0.5 : 0, i % 4 > 1);
            world_pin(&w, i % 2 ? BOTH : NONE, 0);
            assert_int_equal(r.rates_measured, k > 0);
            if (k != 1)
                continue;
            assert_int_equal(r.use[HYBRID_HOST_MEMORY].origin, HYBRID_OBSERVED);
            assert_true(way != HYBRID_SPLIT_GPU || r.bus_utilisation >= 1);
            assert_true(way != HYBRID_SPLIT_GPU || r.use[HYBRID_DEVICE].utilisation >= 1);
        }
    world_close(&w);
    matrix_random(700, 700, 6, 3, f64, &w.A);
    for (int k = 0; k < 4; k++)
        for (int where = ON_HOST; where < PLACES; where++) {
            hybrid_engine *engine = place_open((place)where, 0);
            usage_set_rates(engine, rates[k]);
            usage_square(engine, &w.A, &nnz);
            hybrid_engine_destroy(engine);
        }
    matrix_free(&w.A);
}

/* A run that used no workers may begin while a worker of the run before is still counted
   as busy. The cores' utilisation then is 0, not less. */
static void no_use_is_less_than_none(void **state)
{
    hybrid_engine *engine        = place_open(ON_HOST, 0);
    const hy_backend *backends[] = {engine->host};
    const hy_reference reference = {1, 1};
    hybrid_report r              = HYBRID_REPORT_INIT;
    hy_beginning begin           = hy_usage_begin(engine);

    (void)state;
    begin.busy_ns += 1000000;
    hy_usage_end(engine, backends, 1, &begin, &reference, &r);
    assert_true(r.use[HYBRID_CORES].utilisation == 0);
    assert_null(usage_check(&r));
    hybrid_engine_destroy(engine);
}

/* Returns the report of a run of about a second on `count` equal devices, whose buses
   were busy for most of it with 10 GB up and 10 GB down. A bus moves 50 GB/s in each
   direction, and host memory `memory_Bps`. */
static hybrid_report busy_buses(int count, double memory_Bps)
{
    enum { SECOND = 1000000000 };
    const int64_t bytes          = 10 * (int64_t)SECOND;
    const hy_reference reference = {bytes, bytes};
    hybrid_engine *engine        = place_open(ON_DEVICE, 0);
    const hy_backend *backends[] = {engine->device, engine->device};
    hy_measured *bus             = &engine->device->measured;
    hybrid_report r              = HYBRID_REPORT_INIT;
    hy_beginning begin           = hy_usage_begin(engine);

    bus->h2d_Bps = bus->d2h_Bps    = 50e9;
    bus->mem_Bps                   = 1e12;
    engine->host->measured.mem_Bps = memory_Bps;
    begin.ns -= SECOND;
    r.h2d_bytes = r.d2h_bytes = bytes;
    r.h2d_s = 1e6; /* longer than any test takes, so that no other lane was busier */
    hy_usage_end(engine, backends, count, &begin, &reference, &r);
    assert_null(usage_check(&r));
    hybrid_engine_destroy(engine);
    return r;
}

/* Lanes of buses are busy while they wait for host memory, which is the bound of several
   buses if its use exceeds theirs. It also bounds the reference time. */
static void several_buses_wait_for_host_memory(void **state)
{
    static const double slow = 25e9, fast = 1e12;
    hybrid_report r;

    (void)state;
    r = busy_buses(2, slow);
    assert_int_equal(r.bound, HYBRID_HOST_MEMORY);
    assert_int_equal(r.host_bytes, r.h2d_bytes + r.d2h_bytes);
    assert_true(fabs(r.reference_s - 20e9 / slow) < 1e-12);
    r = busy_buses(2, fast);
    assert_int_equal(r.bound, HYBRID_BUS_UP);
    assert_true(fabs(r.reference_s - 10e9 / 100e9) < 1e-12);
    r = busy_buses(1, slow);
    assert_int_equal(r.bound, HYBRID_BUS_UP);
    assert_true(r.host_bytes == 0);
    assert_true(fabs(r.reference_s - 10e9 / 50e9) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_workers_and_device_move),
        cmocka_unit_test(pinned_memory_is_not_the_workers),
        cmocka_unit_test(nor_are_pinned_rows),
        cmocka_unit_test(panels_are_as_wide_as_they_are),
        cmocka_unit_test(packs_that_stay_are_read_and_not_sent),
        cmocka_unit_test(the_host_reads_a_and_stores_y),
        cmocka_unit_test(both_store_their_rows),
        cmocka_unit_test(a_square),
        cmocka_unit_test(empty_rows_are_stored),
        cmocka_unit_test(no_use_exceeds_what_there_is),
        cmocka_unit_test(no_use_is_less_than_none),
        cmocka_unit_test(several_buses_wait_for_host_memory),
    };
    return cmocka_run_group_tests_name("usage", tests, NULL, NULL);
}
