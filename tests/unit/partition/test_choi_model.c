/* tests/unit/partition/test_choi_model.c - the execution model of Choi, Singh and Vuduc
   against examples that were computed by hand.

   Names and equation numbers are those of the paper: a kernel of L thread blocks of N
   steps runs on M multiprocessors, with T thread blocks at once on each, in I
   iterations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "partition/blocks/choi_model.h"

/* Limits of a Tesla C1060, the GPU of the paper: 30 multiprocessors of compute
   capability 1.3. */
static const hy_choi_device c1060 = {
    .warp = 32, .warps = 32, .blocks = 8, .registers = 16384, .shared = 16384};

static void near(double found, double wanted)
{
    if (!(fabs(found - wanted) <= 1e-12 * fabs(wanted)))
        fail_msg("%.17g, not %.17g", found, wanted);
}

/* T, the thread blocks that a multiprocessor holds at once, is bounded by warps,
   registers and shared memory (Eq. 8 to 12). Each bound decides once. */
static void resident_blocks(void **state)
{
    (void)state;
    /* 2 warps a block: T <= min(8, 32 / 2) = 8; registers: 16384 / 1280 = 12; no shared
       memory */
    assert_int_equal(hy_choi_resident(&c1060, &(hy_choi_kernel){64, 64 * 20, 0}), 8);
    /* 8 warps a block: T <= min(8, 32 / 8) = 4 */
    assert_int_equal(hy_choi_resident(&c1060, &(hy_choi_kernel){256, 256 * 10, 0}), 4);
    /* 33 threads are 2 warps; registers: 16384 / 3300 = 4 */
    assert_int_equal(hy_choi_resident(&c1060, &(hy_choi_kernel){33, 3300, 0}), 4);
    /* shared memory: 16384 / 2080 = 7 */
    assert_int_equal(hy_choi_resident(&c1060, &(hy_choi_kernel){64, 64, 2080}), 7);
    /* one thread block needs more registers, or threads, than a multiprocessor has */
    assert_int_equal(hy_choi_resident(&c1060, &(hy_choi_kernel){64, 20000, 0}), 0);
    assert_int_equal(hy_choi_resident(&c1060, &(hy_choi_kernel){2048, 0, 0}), 0);
}

/* Iterations of L thread blocks, with T = 8 at once on each of M = 30 multiprocessors
   (Eq. 1). */
static void iterations(void **state)
{
    (void)state;
    assert_int_equal(hy_choi_iterations(1, 8, 30), 1);
    assert_int_equal(hy_choi_iterations(240, 8, 30), 1);
    assert_int_equal(hy_choi_iterations(241, 8, 30), 2);
    assert_int_equal(hy_choi_iterations(720, 8, 30), 3);
}

/* Constants that are fitted to measured seconds (Eq. 15 to 17), with 10 steps (beta) and
   T = 8: gamma = (12 - 2) / 10, gamma' = (49 - 40) / 10, alpha = (40 - 12) / (7 * 10).
   One step takes as long as each of ten, so that no seconds are left for starting. */
static void constants(void **state)
{
    const hy_choi_phi phi = {.steps           = 10,
                             .resident        = 8,
                             .one_step        = 2,
                             .one             = 12,
                             .full            = 40,
                             .beyond          = 49,
                             .full_one_step   = 2 + 7 * 0.4,
                             .beyond_one_step = 2 + 7 * 0.4 + 0.9};
    hy_choi_times t       = hy_choi_fit(&phi);

    (void)state;
    near(t.start, 2);
    near(t.first, 1);
    near(t.next, 0.9);
    near(t.more, 0.4);
    assert_true(t.next_start < 1e-12 && t.more_start < 1e-12);
    const hy_choi_phi alone = {.steps = 5, .resident = 1, .one_step = 1, .one = 0.5};
    t                       = hy_choi_fit(&alone);
    assert_true(t.first == 0 && t.more == 0); /* a negative time is noise and counts as
                                                 0; with T = 1 no other thread block can
                                                 add time */
}

/* With N steps, a further thread block adds 3 + 0.4 N, and a later iteration takes
   5 + 0.9 N. */
static void starts_of_thread_blocks(void **state)
{
    const hy_choi_phi phi = {.steps           = 10,
                             .resident        = 8,
                             .one_step        = 2,
                             .one             = 12,
                             .full            = 12 + 7 * (3 + 4),
                             .beyond          = 12 + 7 * (3 + 4) + 5 + 9,
                             .full_one_step   = 2 + 7 * 3.4,
                             .beyond_one_step = 2 + 7 * 3.4 + 5.9};
    const hy_choi_times t = hy_choi_fit(&phi);

    (void)state;
    assert_true(fabs(t.next - 0.9) < 1e-9 && fabs(t.next_start - 5) < 1e-9);
    assert_true(fabs(t.more - 0.4) < 1e-9 && fabs(t.more_start - 3) < 1e-9);
}

static const hy_choi_times times  = {.start = 5, .first = 2, .next = 1, .more = 0.25},
                           starts = {.start      = 5,
                                     .first      = 2,
                                     .next       = 1,
                                     .more       = 0.25,
                                     .next_start = 10,
                                     .more_start = 1};

static double seconds(int64_t blocks, double steps)
{
    const hy_choi_work work = {.blocks = blocks, .steps = steps};

    return hy_choi_seconds(&times, &work, 3, 4); /* T = 3 thread blocks at once on each
                                                    of M = 4 multiprocessors: 12 in an
                                                    iteration */
}

/* Seconds of L thread blocks of N = 8 steps, by Eq. 13, 14 and 18 to 21: sigma_1 = 21
   (5 + 16), sigma = 8, alpha = 2. */
static void time_of_a_kernel(void **state)
{
    (void)state;
    near(hy_choi_iteration_s(21, 2, 3), 25); /* Eq. 3: 21 + 2 * (3 - 1) */
    /* 30 thread blocks are 3 iterations: 21 + 2 * 2 = 25 for the first, 8 + 2 * 2 = 12
       for the second, and 8 + 2 floor(5 / 4) = 10 for the last, which has 6 thread
       blocks */
    near(seconds(30, 8), 47);
    /* 25 thread blocks: two whole iterations, 25 + 12, and 8 for the last thread
       block */
    near(seconds(25, 8), 45);
    /* 24 thread blocks are two whole iterations: 25 + 12 */
    near(seconds(24, 8), 37);
    /* a single iteration of L thread blocks takes 21 + 2 floor((L - 1) / 4) */
    near(seconds(1, 8), 21);
    near(seconds(4, 8), 21);
    near(seconds(5, 8), 23);
    near(seconds(12, 8), 25);
    near(seconds(0, 8), 5);
}

/* Seconds of L = 30 thread blocks of N = 8 steps as in time_of_a_kernel(), except that a
   further thread block adds 1 more, and a later iteration takes 10 more. The iterations
   take 21 + 2 * 3 = 27, 18 + 2 * 3 = 24 and 18 + 3 = 21. A thread with 100 steps takes
   5 + 2 * 100. */
static void time_of_starts_and_of_the_longest_row(void **state)
{
    hy_choi_work work = {.blocks = 30, .steps = 8};

    (void)state;
    near(hy_choi_seconds(&starts, &work, 3, 4), 27 + 24 + 21);
    work.longest = 8;
    near(hy_choi_seconds(&starts, &work, 3, 4), 27 + 24 + 21);
    work.longest = 100;
    near(hy_choi_seconds(&starts, &work, 3, 4), 205);
    work.blocks = 1;
    near(hy_choi_seconds(&starts, &work, 3, 4), 205);
}

/* The time grows with N, with L, and with each constant. */
static void time_grows(void **state)
{
    const hy_choi_work work = {.blocks = 100, .steps = 8};

    (void)state;
    for (int64_t blocks = 1; blocks < 100; blocks++) {
        assert_true(seconds(blocks + 1, 8) >= seconds(blocks, 8));
        assert_true(seconds(blocks, 9) > seconds(blocks, 8));
    }
    for (int i = 0; i < 4; i++) {
        double parts[4] = {5, 2, 1, 0.25};
        parts[i] *= 2;
        const hy_choi_times more = {parts[0], parts[1], parts[2], parts[3], 0, 0};
        assert_true(hy_choi_seconds(&more, &work, 3, 4) > seconds(100, 8));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resident_blocks),
        cmocka_unit_test(iterations),
        cmocka_unit_test(constants),
        cmocka_unit_test(time_of_a_kernel),
        cmocka_unit_test(starts_of_thread_blocks),
        cmocka_unit_test(time_of_starts_and_of_the_longest_row),
        cmocka_unit_test(time_grows),
    };
    return cmocka_run_group_tests_name("choi_model", tests, NULL, NULL);
}
