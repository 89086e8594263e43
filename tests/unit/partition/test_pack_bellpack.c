/* tests/unit/partition/test_pack_bellpack.c - the BELLPACK format contains the rows of A.

   In this file a lane is a GPU thread, and a slice is the block rows of some lanes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/inputs/blocked.h"
#include "tests/support/engines/group.h"

static hy_bellpack_rules rules; /* rules that format.bytes and format.pack use; tests set
                                   them */

static size_t bytes(const hy_features *f)
{
    return hy_pack_bellpack_bytes(f, &rules);
}

static hybrid_status pack(hy_job *job)
{
    return hy_pack_bellpack(job, &rules);
}

/* Checks slice k of a pack: it ends where the next one begins, and the block rows of its
   lanes have no more steps than the rules allow. */
static void check_slice(const hy_bellpack_view *v, int64_t k)
{
    const hy_bellpack_slice *s = &v->slice[k];
    const int64_t beyond       = s->at + (int64_t)s->lanes * s->steps;
    const int64_t next         = k + 1 < v->head.slices ? s[1].at : v->head.cells;

    assert_in_range(s->lanes, 1, 1 << v->head.log_lanes);
    assert_int_equal(s->lanes % (1 << s->log_ways), 0);
    assert_int_equal(s->at % 32, 0);
    assert_in_range(next - beyond, 0, 31);
    assert_int_equal(s->first + (s->lanes >> s->log_ways),
                     k + 1 < v->head.slices ? s[1].first : v->head.rows);
    if (blocked_parameters[HY_BLOCK_PAPER])
        assert_int_equal(s->log_ways, 0);
    else
        assert_true(s->log_ways == 5 || s->steps <= rules.least ||
                    s->steps <= v->head.cells / rules.wave + 1);
    for (int64_t cell = s->at; cell < next; cell++)
        assert_true(v->col[cell] >= 0);
}

/* Visits the blocks of a lane of slice `s`, step by step. A padding block that contained
   an entry would be noticed: the entry would occur twice or not exist in A. */
static void read_lane(blocked_reader *r, const hy_bellpack_view *v,
                      const hy_bellpack_slice *s, int64_t lane)
{
    const int64_t elements = v->head.shape.rows * v->head.shape.cols;
    const int32_t row      = v->order[s->first + (lane >> s->log_ways)];

    for (int64_t step = 0; step < s->steps; step++) {
        const int64_t cells = s->at + step * s->lanes;
        blocked_add(r, row, v->col[cells + lane], v->val, cells * elements + lane,
                    s->lanes);
    }
}

/* Visits the blocks of a pack in the order of the kernel, in which one lane or several
   compute each block row. */
static void read_pack(blocked_reader *r)
{
    const hy_bellpack_view v = hy_packed_bellpack(r->job);

    r->shape  = v.head.shape;
    r->before = v.head.before;
    assert_in_range(v.head.log_lanes, 5, 8);
    if (blocked_parameters[HY_BLOCK_LANES] > 0)
        assert_int_equal(1 << v.head.log_lanes, blocked_parameters[HY_BLOCK_LANES]);
    if (blocked_parameters[HY_BLOCK_PAPER]) /* in the form of the paper, slices are
                                               sorted by length */
        for (int64_t k = 1; k < v.head.slices; k++)
            assert_true(v.slice[k].steps <= v.slice[k - 1].steps);
    for (int64_t thread = 0; thread < v.head.slices << v.head.log_lanes; thread++) {
        const int64_t k            = thread >> v.head.log_lanes;
        const int64_t lane         = thread & ((1 << v.head.log_lanes) - 1);
        const hy_bellpack_slice *s = &v.slice[k];
        if (lane == 0)
            check_slice(&v, k);
        if (lane >= s->lanes)
            continue;
        read_lane(r, &v, s, lane);
        if ((lane + 1) % (1 << s->log_ways) == 0)
            blocked_store(r, v.order[s->first + (lane >> s->log_ways)]);
    }
}

/* The rules (wave, least) give each block row one lane, as many lanes as possible, or
   some lanes. */
static const hy_bellpack_rules all_rules[] = {{1, 1000000}, {1 << 20, 1}, {16, 4}};

enum { RULES = sizeof all_rules / sizeof *all_rules };

static const blocked_format format = {bytes, pack, read_pack};

static void cases_are_slices(void **state)
{
    (void)state;
    rules = all_rules[2];
    blocked_check_cases(ctx, &format);
}

static void shapes_are_slices(void **state)
{
    (void)state;
    for (int i = 0; i < RULES; i++) {
        rules = all_rules[i];
        blocked_check_shapes(ctx, &format);
    }
}

/* Each block shape of 1 to 8 rows and columns is demanded by the variant's parameters,
   without and with the form of the paper. */
static void forced_shapes_are_slices(void **state)
{
    (void)state;
    rules = all_rules[2];
    for (int i = 0; i < 2; i++) {
        blocked_parameters[HY_BLOCK_R]     = 1;
        blocked_parameters[HY_BLOCK_LANES] = i ? 64 : 128;
        blocked_parameters[HY_BLOCK_PAPER] = i;
        blocked_check_shapes(ctx, &format);
    }
    blocked_check_bounds(ctx, &format);
    memset(blocked_parameters, 0, sizeof blocked_parameters);
}

static void large_packs_are_slices(void **state)
{
    (void)state;
    rules = all_rules[2];
    blocked_check_large(ctx, &format);
}

static void zeros_are_entries(void **state)
{
    (void)state;
    rules = all_rules[0];
    blocked_check_zeros(ctx, &format);
}

static void bytes_grow_with_rows(void **state)
{
    (void)state;
    for (int i = 0; i < RULES; i++) {
        rules = all_rules[i];
        blocked_check_bounds(ctx, &format);
    }
}

static void shapes_that_are_too_large_fail(void **state)
{
    (void)state;
    rules = (hy_bellpack_rules){1 << 17, 3};
    blocked_check_too_large(ctx, &format);
}

static void failures_leave_nothing(void **state)
{
    (void)state;
    rules = all_rules[2];
    blocked_check_failures(ctx, &format, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cases_are_slices),
        cmocka_unit_test(shapes_are_slices),
        cmocka_unit_test(forced_shapes_are_slices),
        cmocka_unit_test(large_packs_are_slices),
        cmocka_unit_test(zeros_are_entries),
        cmocka_unit_test(bytes_grow_with_rows),
        cmocka_unit_test(shapes_that_are_too_large_fail),
        cmocka_unit_test(failures_leave_nothing),
    };
    return cmocka_run_group_tests_name("pack_bellpack", tests, open_context,
                                       close_context);
}
