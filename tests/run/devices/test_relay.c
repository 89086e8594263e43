/* tests/run/devices/test_relay.c - devices that need the same X bring it up once and copy
   the rest from each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "engine/schedules/column_blocks.h"
#include "engine/plan/plan.h"
#include "support/inputs/cases.h"
#include "support/fake/fake_backend.h"
#include "support/fake/settings.h"
#include "support/check/oracle.h"

extern const hy_backend_ops hy_host_backend_ops;
extern const hy_variant hy_spgemm_host_rows, hy_spmm_host_rows;

static const hy_backend_ops *const places[] = {&hy_fake_backend_ops, &hy_host_backend_ops,
                                               NULL};

/* Variant "spmm.fake.plain": spmm.fake.rows on an X without tail columns. Only devices
   with PLAIN_FLOPS prefer it. */
static hy_variant plain;
static const double PLAIN_FLOPS = 2e13;

static const hy_variant *const variants[] = {&hy_spgemm_fake_esc, &plain,
                                             &hy_spmm_fake_rows,  &hy_spgemm_host_rows,
                                             &hy_spmm_host_rows,  NULL};

/* X takes 2.6 MB in rows of 320 bytes. The loaders send it in pieces of a quarter of
   X. */
enum { ROWS = 8000, EACH = 8, COLUMNS = 40, MOST = 3 };

static const test_kind kind = {HYBRID_F64, HYBRID_I64, 1};

typedef struct world {
    hybrid_engine *engine;
    hybrid_csr A;
    hybrid_dense X, Y, before;
    int64_t loaded, relayed; /* bytes of X from the host, and from other devices */
    int peer_events;
    hybrid_report planned, done; /* before and after the run */
    int64_t
        blocks; /* column blocks of X on the first device in runs with pinned X and Y */
    int plain;  /* number of devices that compute with spmm.fake.plain */
    size_t ring_part; /* the last device's ring has 1 / ring_part of the usual bytes */
} world;

static void note(void *user, const hybrid_event *event)
{
    world *w = user;

    if (strcmp(event->stage, "load") == 0)
        w->loaded += event->bytes;
    if (strcmp(event->stage, "peer") == 0) {
        assert_memory_equal(event->lane, "peer", 4);
        assert_true(event->bytes > 0 && event->begin_ns <= event->end_ns);
        w->peer_events++;
    }
}

static const char *refuse_plain(const hy_features *f, const hy_rates *r)
{
    (void)f;
    return r->flops < PLAIN_FLOPS ? "the device has too few flops" : NULL;
}

static int set_up(void **state)
{
    (void)state;
    plain            = hy_spmm_fake_rows;
    plain.name       = "spmm.fake.plain";
    plain.tail_lines = 0;
    plain.refuse     = refuse_plain;
    return 0;
}

static void open_world(world *w, int devices, int64_t columns)
{
    static const int listed[MOST] = {0, 1, 2};
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;

    memset(w, 0, sizeof *w);
    w->planned = w->done = (hybrid_report)HYBRID_REPORT_INIT;
    w->ring_part         = 1;
    options.threads      = 2;
    options.devices      = listed;
    options.device_count = devices;
    fake_delays(1, 50);
    assert_int_equal(fake_engine_open(&options, places, variants, &w->engine), HYBRID_OK);
    w->engine->host->measured.mem_Bps = 1e12; /* bytes per second; so much that host
                                                 memory does not limit any device */
    matrix_random(ROWS, ROWS, EACH, 5, kind, &w->A);
    dense_make(ROWS, columns, 0, HYBRID_ROW_MAJOR, 1, kind, &w->X);
    dense_make(ROWS, columns, 0, HYBRID_ROW_MAJOR, 2, kind, &w->Y);
    dense_copy(&w->Y, &w->before);
    settings_of(w->engine)->all_devices = 1;
    hybrid_engine_trace(w->engine, note, w);
}

static void close_world(world *w)
{
    hybrid_engine_destroy(w->engine);
    matrix_free(&w->A);
    dense_free(&w->X);
    dense_free(&w->Y);
    dense_free(&w->before);
    assert_int_equal(fake_alive(), 0);
}

/* Computes Y = A*X on all devices, compares it with the oracle, and notes the bytes
   copied. */
static void multiply(world *w)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    const int64_t relayed       = fake_relayed();
    hybrid_plan *plan;

    options.split  = HYBRID_SPLIT_GPU;
    w->peer_events = 0;
    w->loaded      = 0;
    assert_int_equal(hybrid_spmm_plan(w->engine, &w->A, w->X.cols, &options, &plan),
                     HYBRID_OK);
    assert_int_equal(hybrid_plan_report(plan, &w->planned), HYBRID_OK);
    w->plain = 0;
    for (int i = 0; i < plan->count; i++)
        w->plain += plan->portions[i].variant == &plain;
    plan->portions[plan->count - 1].site->loader->ring.piece_bytes /= w->ring_part;
    const hy_layout *layout = &plan->portions->layout;
    w->blocks               = 1;
    if (layout->pinned_blocks > 0) {
        const hy_image blocks = hy_column_blocks_pinned(plan->portions, layout);
        w->blocks             = hy_image_col_blocks(&blocks);
    }
    assert_int_equal(hybrid_spmm_run(plan, 1, &w->A, &w->X, 0, &w->Y), HYBRID_OK);
    assert_int_equal(hybrid_plan_report(plan, &w->done), HYBRID_OK);
    hybrid_plan_destroy(plan);
    assert_null(oracle_check_spmm(1, &w->A, &w->X, 0, &w->before, &w->Y, 1));
    w->relayed = fake_relayed() - relayed;
}

/* Checks the bytes that a run has copied up. A device that takes rows of another packs
   them apart, with offsets and padding of their own, so the number may differ a little
   from the prediction. */
static void check_predicted(const hybrid_report *planned, const hybrid_report *done)
{
    const int64_t predicted = planned->predicted_h2d_bytes, more = predicted / 64;

    assert_in_range(done->h2d_bytes, predicted - more, predicted + more);
}

static void x_goes_up_once(void **state)
{
    const int64_t bytes = (int64_t)ROWS * COLUMNS * 8;

    (void)state;
    for (int devices = 2; devices <= MOST; devices++) {
        world w;
        open_world(&w, devices, COLUMNS);
        fake_peerless(1);
        multiply(&w);
        assert_int_equal(w.loaded, devices * bytes);
        assert_int_equal(w.relayed, 0);
        assert_int_equal(w.peer_events, 0);
        fake_peerless(0);
        multiply(&w);
        assert_int_equal(w.relayed, (devices - 1) * bytes);
        assert_int_equal(w.loaded, bytes);
        check_predicted(&w.planned, &w.done);
        assert_int_equal(w.peer_events, devices);
        close_world(&w);
    }
}

/* The last device computes with another variant. X has the same bytes for both variants.
   Rows of 40 columns have no tail columns, so all devices copy X from each other. Rows of
   34 columns have two tail columns for spmm.fake.rows alone, so the last device receives
   an X of its own. */
static void variants_share_x_of_the_same_layout(void **state)
{
    (void)state;
    for (int devices = 2; devices <= MOST; devices++)
        for (int64_t columns = 34; columns <= COLUMNS; columns += 6) {
            const int64_t bytes = ROWS * columns * 8, own = columns == 34;
            world w;
            open_world(&w, devices, columns);
            w.engine->devices[devices - 1]->measured.flops = PLAIN_FLOPS;
            multiply(&w);
            assert_int_equal(w.plain, 1);
            assert_int_equal(w.loaded, (1 + own) * bytes);
            assert_int_equal(w.relayed, (devices - 1 - own) * bytes);
            check_predicted(&w.planned, &w.done);
            close_world(&w);
        }
}

/* All devices send pieces that fit the smallest ring. */
static void rings_may_have_different_sizes(void **state)
{
    const int64_t bytes = (int64_t)ROWS * COLUMNS * 8;

    (void)state;
    for (size_t part = 2; part <= 5; part += 3) {
        world w;
        open_world(&w, MOST, COLUMNS);
        w.ring_part = part;
        multiply(&w);
        assert_int_equal(w.loaded, bytes);
        assert_int_equal(w.relayed, (MOST - 1) * bytes);
        close_world(&w);
    }
}

/* With pinned X and Y, X comes in column blocks, which devices copy from each other, too.
   Blocks of 14 and 12 columns have pieces of different sizes. */
static void column_blocks_go_up_once(void **state)
{
    const size_t bytes = (size_t)ROWS * COLUMNS * 8;

    (void)state;
    for (int devices = 2; devices <= MOST; devices++)
        for (int blocks = 2; blocks <= 3; blocks++) {
            world w;
            open_world(&w, devices, COLUMNS);
            settings_of(w.engine)->column_blocks = blocks;
            assert_int_equal(hybrid_pin(w.engine, w.X.data, bytes), HYBRID_OK);
            assert_int_equal(hybrid_pin(w.engine, w.Y.data, bytes), HYBRID_OK);
            multiply(&w);
            assert_int_equal(w.blocks, blocks);
            assert_int_equal(w.loaded, bytes);
            assert_int_equal(w.relayed, (devices - 1) * (int64_t)bytes);
            check_predicted(&w.done, &w.done);
            assert_int_equal(hybrid_unpin(w.engine, w.X.data), HYBRID_OK);
            assert_int_equal(hybrid_unpin(w.engine, w.Y.data), HYBRID_OK);
            close_world(&w);
        }
}

/* In a one-shot call B goes to the first device while the product is planned. The other
   devices copy B from it. */
static void b_that_is_sent_early_goes_up_once(void **state)
{
    (void)state;
    for (int devices = 2; devices <= MOST; devices++) {
        const hy_image *image;
        hybrid_csr C;
        oracle square;
        world w;
        open_world(&w, devices, COLUMNS);
        oracle_spgemm(&w.A, &w.A, &square);
        settings_of(w.engine)->prefetch_bytes = 1;
        const hy_image b = hy_image_of_csr(w.A.rows, w.A.cols, w.A.nnz, w.A.type);
        image            = &b;
        for (int times = 0; times < 3; times++) {
            const int64_t relayed = fake_relayed();
            w.loaded = w.peer_events = 0;
            assert_int_equal(hybrid_spgemm(w.engine, &w.A, &w.A, &C), HYBRID_OK);
            assert_null(oracle_check(&square, &C, 1));
            hybrid_csr_free(w.engine, &C);
            /* the image has gaps between arrays, which are not sent */
            assert_in_range(w.loaded, hy_image_bytes(image) - 512, hy_image_bytes(image));
            assert_int_equal(fake_relayed() - relayed, (devices - 1) * w.loaded);
            assert_int_equal(w.peer_events, devices - 1);
        }
        oracle_free(&square);
        close_world(&w);
    }
}

/* A device that copies B from the leader fails if another device has failed, even while
   the leader has sent nothing. Its driver would otherwise wait for B for ever. */
static void a_follower_fails_with_another(void **state)
{
    world w;
    hy_relay relay;
    hy_loader leader = {.progress = {.elements = -1, .wanted = -1}}, failed = leader,
              follower = leader;

    (void)state;
    open_world(&w, 2, COLUMNS);
    hy_relay_open(&relay);
    hy_message_init(&failed.said);
    strcpy(failed.said.text, "another device failed");
    failed.progress.status = HYBRID_NO_DEVICE_MEMORY;
    follower.backend       = w.engine->devices[1];
    follower.image.nnz     = 1;
    follower.relay         = &relay;
    relay.leader           = &leader;
    relay.failed           = &failed;
    relay.stopped          = 1;
    assert_int_equal(hy_relay_load(&follower), HYBRID_NO_DEVICE_MEMORY);
    assert_int_equal(follower.progress.status, HYBRID_NO_DEVICE_MEMORY);
    assert_non_null(strstr(hybrid_engine_message(w.engine), "another device failed"));
    hy_message_destroy(&failed.said);
    hy_relay_close(&relay);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(x_goes_up_once),
        cmocka_unit_test(variants_share_x_of_the_same_layout),
        cmocka_unit_test(rings_may_have_different_sizes),
        cmocka_unit_test(b_that_is_sent_early_goes_up_once),
        cmocka_unit_test(a_follower_fails_with_another),
        cmocka_unit_test(column_blocks_go_up_once)};

    return cmocka_run_group_tests(tests, set_up, NULL);
}
