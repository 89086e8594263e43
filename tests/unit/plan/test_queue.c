/* tests/unit/plan/test_queue.c - claims of a device and the host in random order.

   test_simulated.c tests several devices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "partition/pattern/inspect.h"
#include "pipeline/run/queue.h"
#include "support/inputs/builder.h"
#include "support/inputs/cases.h"
#include "support/engines/group.h"

enum {
    ROWS       = 300,
    COLS       = 8,
    CHUNKS     = 7,
    PIECE_ROWS = 9,
    SLOT_BYTES = 4000,
    ROW_BYTES  = 8,
    CHOSEN     = 3 /* value of a parameter that the device's variant chose while
                      planning */
};
enum { DEVICE, HOST };

static const double RATE = 1e6;

static const test_kind kind = {HYBRID_F64, HYBRID_I64, 1};

/* ---- a product without computation ---- */

static hy_cost cost_of(const hy_features *f, const hy_rates *rates)
{
    (void)rates;
    return (hy_cost){.out_bytes = (size_t)(f->rows * ROW_BYTES)};
}

static const hy_variant device = {.name = "device", .op = HY_SPMM, .cost = cost_of};
static const hy_variant host   = {.name = "host", .op = HY_SPMM, .cost = cost_of};

static const hy_backend_ops no_ops = {.copy = NULL};
static hy_backend in_place         = {.ops = &no_ops};

typedef struct product {
    hybrid_csr A;
    hy_profile profile;
    hy_chunk chunks[CHUNKS];
    hy_site sites[2];
    hy_queue queue;
    int64_t front, back; /* rows [front, back) are claimed by no site yet */
    int64_t begun;       /* the host has claimed rows [back, ...), and has begun those
                            from `begun` on */
    int64_t device_work, host_work;
} product;

/* Opens a queue of chunks of random length. The packs of the first `kept` chunks are
   cached on the device. The host's share of the work is `share`. */
static void open_product(product *p, unsigned seed, int kept, double share)
{
    int64_t row = 0;

    memset(p, 0, sizeof *p);
    matrix_random(ROWS, ROWS, 6, seed, kind, &p->A);
    assert_int_equal(hy_inspect(ctx, &p->A, NULL, COLS, NULL, &p->profile), HYBRID_OK);
    for (int i = 0; i < CHUNKS; i++) {
        const int64_t left = ROWS - row - (CHUNKS - 1 - i);
        const int64_t rows =
            i == CHUNKS - 1 ? left : 1 + test_below(seed, (uint64_t)i, 2 * left / CHUNKS);
        p->chunks[i]          = (hy_chunk){.id        = i,
                                           .row_begin = row,
                                           .row_end   = row + rows,
                                           .col_end   = COLS,
                                           .cached    = i < kept,
                                           .variant   = &device};
        p->chunks[i].features = hy_profile_range(&p->profile, row, row + rows, COLS);
        p->chunks[i].features.parameter[0] = CHOSEN;
        row += rows;
    }
    p->sites[DEVICE] = (hy_site){.backend = &in_place,
                                 .list    = hy_chunks_of(p->chunks, CHUNKS),
                                 .end     = ROWS,
                                 .rate    = RATE,
                                 .depth   = CHUNKS};
    p->sites[HOST]   = (hy_site){.backend     = &in_place,
                                 .slot_device = SLOT_BYTES,
                                 .taking      = {.variant  = &host,
                                                 .products = INT64_MAX,
                                                 .rows     = PIECE_ROWS,
                                                 .share    = share},
                                 .rate        = RATE,
                                 .depth       = CHUNKS};
    hy_queue_open(&p->queue, &p->profile, 0);
    hy_queue_add(&p->queue, &p->sites[DEVICE]);
    if (share <= 1)
        hy_queue_add(&p->queue, &p->sites[HOST]);
    p->back = p->begun = ROWS;
}

static void close_product(product *p)
{
    hy_profile_free(ctx, &p->profile);
    matrix_free(&p->A);
}

static int64_t work_of(const hy_chunk *c)
{
    return c->features.products + c->features.rows;
}

/* Returns the plan's chunk that contains the row. */
static const hy_chunk *home_of(const product *p, int64_t row)
{
    const hy_chunk *c = p->chunks;

    while (c->row_end <= row)
        c++;
    return c;
}

/* ---- properties ---- */

static void check_features(const product *p, const hy_chunk *c)
{
    const hy_features f = hy_profile_range(&p->profile, c->row_begin, c->row_end, COLS);

    assert_int_equal(c->features.rows, f.rows);
    assert_int_equal(c->features.products, f.products);
    assert_int_equal(c->features.parameter[0], c->variant == &device ? CHOSEN : 0);
}

/* Lets the device claim the next chunk from the front, but no rows that the host has
   claimed. Returns 1, or 0 if it claims nothing. `must`: the device has nothing else to
   do. */
static int device_claims(product *p, int must)
{
    hy_claim claim;

    if (!hy_queue_claim(&p->queue, DEVICE, must, &claim))
        return 0;
    const hy_chunk c     = claim.chunk;
    const hy_chunk *home = home_of(p, p->front);
    assert_ptr_equal(home, &p->chunks[claim.index]);
    assert_int_equal(c.row_begin, p->front);
    assert_int_equal(c.row_end, home->row_end < p->back ? home->row_end : p->back);
    assert_true(!c.cached || c.row_end - c.row_begin == home->row_end - home->row_begin);
    assert_ptr_equal(c.variant, &device);
    check_features(p, &c);
    p->front = c.row_end;
    p->device_work += work_of(&c);
    hy_queue_done(&p->queue, DEVICE, &c, 1000);
    return 1;
}

/* Lets the host claim rows of one chunk from the back, as many as fit a slot. Returns 1,
   or 0 if it claims nothing. */
static int host_claims(product *p)
{
    hy_claim claim;

    if (p->queue.count == 1 || !hy_queue_claim(&p->queue, HOST, 0, &claim))
        return 0;
    const hy_chunk c     = claim.chunk;
    const hy_chunk *home = home_of(p, c.row_begin);
    assert_in_range(c.row_end - c.row_begin, 1, PIECE_ROWS);
    assert_true(c.row_end <= home->row_end);
    assert_int_equal(c.row_end, p->begun);
    assert_ptr_equal(c.variant, &host);
    assert_false(c.cached);
    check_features(p, &c);
    p->begun = c.row_begin;
    p->back  = home->cached ? home->row_begin : c.row_begin;
    p->host_work += work_of(&c);
    hy_queue_done(&p->queue, HOST, &c, 1000);
    return 1;
}

/* Lets device and host claim rows in random order until none are left, and checks that
   each row was claimed once. */
static void claim_all(product *p, uint64_t seed)
{
    int idle = 0;

    for (uint64_t turn = 0; idle < 2; turn++) {
        const int host_begins = test_below(seed, turn + 99, 2) == 0;
        const int claims      = host_begins ? host_claims(p) : device_claims(p, 0);
        const int more = claims || (host_begins ? device_claims(p, 0) : host_claims(p));
        idle           = more || device_claims(p, 1) ? 0 : idle + 1;
    }
    assert_int_equal(p->front, p->begun); /* device and host have met: each row was
                                             claimed once */
    assert_int_equal(p->queue.of[DEVICE]->ceded, p->host_work);
    assert_int_equal(p->queue.left, 0);
    for (int k = 0; k < p->queue.count; k++)
        assert_int_equal(p->queue.of[k]->piece.row_begin, p->queue.of[k]->piece.row_end);
    assert_int_equal(p->device_work + p->host_work, p->queue.all);
    assert_int_equal(p->queue.left, 0);
}

static int64_t largest_work(const product *p)
{
    int64_t most = 0;

    for (int i = 0; i < CHUNKS; i++)
        if (work_of(&p->chunks[i]) > most)
            most = work_of(&p->chunks[i]);
    return most;
}

static void every_row_is_claimed_once_and_shares_are_kept(void **state)
{
    /* the host's share of the work; 2: the queue has the device as its only site */
    static const double shares[] = {0, 0.2, 0.5, 1, 2};

    (void)state;
    for (unsigned seed = 1; seed < 40; seed++)
        for (int s = 0; s < 5; s++) {
            product p;
            open_product(&p, seed, (int)seed % 3 * 4, shares[s]);
            claim_all(&p, seed);
            const double share = shares[s] <= 1 ? shares[s] : 0;
            const double off   = share * (double)p.queue.all - (double)p.host_work;
            assert_true(off <= (double)largest_work(&p) &&
                        -off <= (double)largest_work(&p));
            assert_true(share > 0 || p.host_work == 0);
            assert_true(share < 1 || p.device_work == 0);
            close_product(&p);
        }
}

/* A chunk of which the pack is cached on the device is claimed by the host as a whole,
   never in part. */
static void chunks_that_stay_are_not_divided(void **state)
{
    product p;

    (void)state;
    open_product(&p, 3, CHUNKS, 0.5);
    assert_true(host_claims(&p));
    const int64_t rest = p.back; /* rows that are left to the device */
    assert_int_equal(rest, p.chunks[CHUNKS - 1].row_begin);
    while (device_claims(&p, 1))
        continue;
    assert_int_equal(p.front, rest);
    while (host_claims(&p))
        continue;
    assert_int_equal(p.begun, rest);
    close_product(&p);
}

static void rows_too_large_for_a_slot_are_the_devices(void **state)
{
    product p;

    (void)state;
    open_product(&p, 4, 0, 1);
    p.sites[HOST].slot_device = ROW_BYTES - 1;
    assert_false(host_claims(&p));
    while (device_claims(&p, 0))
        continue;
    assert_int_equal(p.front, ROWS);
    close_product(&p);
}

/* With the default split, the share of each site follows from predicted speeds: a much
   slower site gets little work. */
static void the_faster_side_takes_more(void **state)
{
    int64_t host_work[2];

    (void)state;
    for (int fast = 0; fast < 2; fast++) {
        product p;
        open_product(&p, 6, 0, -1);
        p.queue.of[HOST]->rate = fast ? 1e8 : 1e4;
        claim_all(&p, 6);
        host_work[fast] = p.host_work;
        close_product(&p);
    }
    assert_int_equal(host_work[0], 0);
    assert_true(host_work[1] > 0);
}

/* Two devices that multiply B in passes claim rows in order. A chunk has the features of
   its largest pass, and the chunks of the devices end at different rows. The queue counts
   the work of rows, not of passes. */
static void work_is_that_of_all_passes(void **state)
{
    hy_chunk halves[2];
    hy_claim claim;
    product p;

    (void)state;
    open_product(&p, 5, 0, 2);
    for (int i = 0; i < 2; i++)
        halves[i] = (hy_chunk){.row_begin = ROWS / 2 * i,
                               .row_end   = ROWS / 2 * (i + 1),
                               .col_end   = COLS,
                               .variant   = &device,
                               .features  = {.products = i, .rows = ROWS / 2}};
    for (int i = 0; i < CHUNKS; i++)
        p.chunks[i].features.products /= 3;
    hy_queue_open(&p.queue, &p.profile, 1);
    for (int k = 0; k < 2; k++) {
        p.sites[k]            = p.sites[DEVICE];
        p.sites[k].image.axis = HY_AXIS_PASSES;
    }
    p.sites[1].list = hy_chunks_of(halves, 2);
    for (int k = 0; k < 2; k++)
        hy_queue_add(&p.queue, &p.sites[k]);
    assert_int_equal(p.queue.all, p.profile.features.products + ROWS);
    for (int k = 0; hy_queue_claim(&p.queue, k, 1, &claim); k = 1 - k)
        assert_in_range(p.queue.left, 0, p.queue.all - 1);
    assert_int_equal(p.queue.front, ROWS);
    assert_int_equal(p.queue.left, 0);
    close_product(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_claimed_once_and_shares_are_kept),
        cmocka_unit_test(chunks_that_stay_are_not_divided),
        cmocka_unit_test(rows_too_large_for_a_slot_are_the_devices),
        cmocka_unit_test(the_faster_side_takes_more),
        cmocka_unit_test(work_is_that_of_all_passes),
    };
    return cmocka_run_group_tests_name("queue", tests, open_two_workers, close_context);
}
