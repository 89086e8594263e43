/* tests/unit/rates/test_threshold.c - rules that choose between two variants, and fitting
   the best rule. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/rates/threshold.h"

static int near(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fabs(b);
}

/* Each trial has a number x, and the seconds that the variants rows and merge took.
   Merge was faster in trials 1, 2 and 4, counted from 0. */
static const hy_trial trials[] = {
    {2, 3, 1}, {4, 2, 1}, {8, 1, 4}, {16, 9, 8}, {32, 1, 2}};

static void a_rule_is_held_against_the_faster(void **state)
{
    (void)state;
    const hybrid_rule never = hy_rule_at(trials, 5, 1);
    assert_true(near(never.accuracy, 0.4));
    assert_true(near(never.slowdown, pow(3 * 2 * 9.0 / 8, 0.2)));
    /* the rule "merge where x < 8" */
    const hybrid_rule some = hy_rule_at(trials, 5, 8);
    assert_true(near(some.accuracy, 0.8) && near(some.slowdown, pow(9.0 / 8, 0.2)));
    const hybrid_rule always = hy_rule_at(trials, 5, 100);
    assert_true(near(always.accuracy, 0.6) && near(always.slowdown, pow(8, 0.2)));
    const hy_trial tie = {1, 5, 5};
    assert_true(hy_rule_at(&tie, 1, 0.5).accuracy == 1);
    assert_true(hy_rule_at(&tie, 1, 2).accuracy == 1);
}

static void the_threshold_that_loses_least_is_found(void **state)
{
    static const hy_trial merge[] = {{3, 2, 1}, {5, 2, 1}},
                          rows[]  = {{3, 1, 2}, {5, 1, 2}};
    static const hy_trial twice[] = {{2, 2, 1}, {4, 1, 2}, {8, 2, 1}, {16, 1, 2}};

    (void)state;
    assert_true(near(hy_fit_threshold(trials, 5, 100), sqrt(4 * 8)));
    assert_true(hy_fit_threshold(trials, 5, 7) == 7);
    assert_true(near(hy_fit_threshold(merge, 2, 1), 10));
    assert_true(near(hy_fit_threshold(rows, 2, 9), 1.5));
    /* thresholds in two intervals are equally good; the one nearer to the default 7.9 is
       chosen */
    assert_true(near(hy_fit_threshold(twice, 4, 7.9), sqrt(8 * 16)));
    assert_true(near(hy_fit_threshold(twice, 4, 4.1), sqrt(2 * 4)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rule_is_held_against_the_faster),
        cmocka_unit_test(the_threshold_that_loses_least_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
