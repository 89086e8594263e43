/* tests/unit/partition/test_pack_bcsr.c - the BCSR format contains the rows of A. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/inputs/blocked.h"
#include "tests/support/engines/group.h"

/* Visits the blocks of a pack in the order of the kernel, in which a group of GPU lanes
   (threads) computes each block row. */
static void read_pack(blocked_reader *r)
{
    const hy_bcsr_view v   = hy_packed_bcsr(r->job);
    const int64_t group    = (int64_t)1 << v.head.log_group;
    const int64_t elements = v.head.shape.rows * v.head.shape.cols;

    r->shape  = v.head.shape;
    r->before = v.head.before;
    assert_in_range(v.head.log_group, 0, 5);
    if (blocked_parameters[HY_BLOCK_PAPER])
        assert_int_equal(v.head.log_group, 5);
    assert_int_equal(v.row_ptr[0], 0);
    assert_int_equal(v.row_ptr[v.head.rows], v.head.blocks);
    for (int64_t row = 0; row < v.head.rows; row++) {
        const int64_t end = v.row_ptr[row + 1];
        if (blocked_parameters[HY_BLOCK_PAPER])
            assert_int_equal(end % 16, 0);
        for (int64_t k = v.row_ptr[row]; k < end; k += group) {
            const int64_t width = end - k < group ? end - k : group;
            for (int64_t lane = 0; lane < width; lane++)
                blocked_add(r, row, v.col[k + lane], v.val, k * elements + lane, width);
        }
        blocked_store(r, row);
    }
}

static const blocked_format format = {hy_pack_bcsr_bytes, hy_pack_bcsr, read_pack};

static void cases_are_slices(void **state)
{
    (void)state;
    blocked_check_cases(ctx, &format);
}

static void shapes_are_slices(void **state)
{
    (void)state;
    blocked_check_shapes(ctx, &format);
}

/* Each block shape of 1 to 8 rows and columns is demanded by the variant's parameters,
   without and with the form of the paper. */
static void forced_shapes_are_slices(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        blocked_parameters[HY_BLOCK_R]     = 1;
        blocked_parameters[HY_BLOCK_PAPER] = i;
        blocked_check_shapes(ctx, &format);
    }
    blocked_check_bounds(ctx, &format);
    memset(blocked_parameters, 0, sizeof blocked_parameters);
}

static void large_packs_are_slices(void **state)
{
    (void)state;
    blocked_check_large(ctx, &format);
}

static void zeros_are_entries(void **state)
{
    (void)state;
    blocked_check_zeros(ctx, &format);
}

static void bytes_grow_with_rows(void **state)
{
    (void)state;
    blocked_check_bounds(ctx, &format);
}

static void shapes_that_are_too_large_fail(void **state)
{
    (void)state;
    blocked_check_too_large(ctx, &format);
}

static void failures_leave_nothing(void **state)
{
    (void)state;
    blocked_check_failures(ctx, &format, 2);
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
    return cmocka_run_group_tests_name("pack_bcsr", tests, open_context, close_context);
}
