/* tests/unit/partition/test_block_choice.c - what the rules of choice pick for SpMV in
   blocks, from fills and constants that are made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "partition/blocks/block_choice.h"

static hy_block_speeds speeds;

static const hy_rates rates = {.mem_Bps      = 1e12,
                               .launch_s     = 5e-6,
                               .width        = 10,
                               .sm_warps     = 64,
                               .sm_blocks    = 32,
                               .sm_registers = 65536,
                               .sm_shared    = 1 << 17};

/* Returns features of a matrix that has full blocks of 3 x 3. Blocks whose sides divide
   3 are full too; all others are half full. */
static hy_features in_threes(void)
{
    hy_features f = {
        .rows = 9000, .cols = 9000, .nnz = 9000 * 30, .row_max = 30, .type = HYBRID_F32};

    for (int r = 1; r <= 8; r++)
        for (int c = 1; c <= 8; c++)
            f.block_fills[8 * (r - 1) + c - 1] = 3 % r == 0 && 3 % c == 0 ? 1.0f : 0.5f;
    return f;
}

static void expect(const hy_features *f, int r, int c, int lanes)
{
    if (f->block_rows != r || f->block_cols != c || f->parameter[HY_BLOCK_LANES] != lanes)
        fail_msg("%d x %d with R %d, not %d x %d with %d", f->block_rows, f->block_cols,
                 f->parameter[HY_BLOCK_LANES], r, c, lanes);
    assert_true(f->block_fill == (double)f->block_fills[8 * (r - 1) + c - 1]);
}

static void fewest_bytes(void **state)
{
    hy_features f = in_threes();

    (void)state;
    hy_block_choose(&f, &rates, HY_CHOI_BELLPACK);
    expect(&f, 3, 3, 0);
}

static void given_values_stay(void **state)
{
    (void)state;
    for (int r = 0; r <= 8; r++)
        for (int c = 0; c <= 8; c++) {
            hy_features f           = in_threes();
            f.parameter[HY_BLOCK_R] = r;
            f.parameter[HY_BLOCK_C] = c;
            hy_block_choose(&f, &rates, HY_CHOI_BCSR);
            assert_true(r == 0 || f.block_rows == r);
            assert_true(c == 0 || f.block_cols == c);
            assert_int_equal(hy_block_is_forced(&f), r > 0 || c > 0);
            if (r == 3 && c == 0)
                expect(&f, 3, 3, 0);
        }
}

/* Returns rates in which the model's constants of all kernels are one second, except
   those of one f32 kernel, a millisecond: that for this format and shape, and for size
   number `index`. */
static hy_rates with_fast(hy_choi_format format, hy_block_shape shape, int index)
{
    hy_rates r                 = rates;
    const hy_block_speed slow  = {1e-9f, 1, 1, 1, 0, 0, 32};
    const hy_block_speed quick = {1e-9f, 1e-3f, 1e-3f, 1e-3f, 0, 0, 32};

    for (int type = 0; type < 2; type++)
        for (int k = 0; k < HY_BLOCK_SHAPES; k++)
            for (int i = 0; i < HY_BLOCK_SIZES; i++)
                speeds.of[format][type][k][i] = slow;
    speeds.of[format][0][hy_choi_shape_index(shape)][index] = quick;
    r.blocks                                                = &speeds;
    return r;
}

static void model_picks_the_fastest(void **state)
{
    const hy_rates r = with_fast(HY_CHOI_BELLPACK, (hy_block_shape){1, 3}, 2);
    hy_features f    = in_threes();

    (void)state;
    f.parameter[HY_BLOCK_PAPER] = 1;
    f.parameter[HY_BLOCK_RULE]  = HY_BLOCK_BY_MODEL;
    hy_block_choose(&f, &r, HY_CHOI_BELLPACK);
    expect(&f, 1, 3, 128);
    f = in_threes(); /* without the form of the paper, the number of threads of a thread
                        block (R) is not chosen: 0 */
    f.parameter[HY_BLOCK_RULE] = HY_BLOCK_BY_MODEL;
    hy_block_choose(&f, &r, HY_CHOI_BELLPACK);
    expect(&f, 1, 3, 0);
    f                           = in_threes();
    f.parameter[HY_BLOCK_PAPER] = 1;
    f.parameter[HY_BLOCK_RULE]  = HY_BLOCK_BY_BYTES;
    hy_block_choose(&f, &r, HY_CHOI_BELLPACK);
    expect(&f, 3, 3, 0);
}

/* The model predicts the paper's form, so it chooses for this form unless a rule is
   named. */
static void each_form_has_its_rule(void **state)
{
    const hy_rates r = with_fast(HY_CHOI_BELLPACK, (hy_block_shape){1, 3}, 2);
    hy_features f    = in_threes();

    (void)state;
    f.parameter[HY_BLOCK_PAPER] = 1;
    hy_block_choose(&f, &r, HY_CHOI_BELLPACK);
    expect(&f, 1, 3, 128);
    f = in_threes();
    hy_block_choose(&f, &r, HY_CHOI_BELLPACK);
    expect(&f, 3, 3, 0);
}

/* The model does not consider shapes whose blocks take more than twice the bytes of the
   best shape. */
static void wasteful_shapes_are_left_out(void **state)
{
    const hy_rates r = with_fast(HY_CHOI_BCSR, (hy_block_shape){8, 8}, 0);
    hy_features f    = in_threes();

    (void)state;
    f.block_fills[63]           = 0.1f;
    f.parameter[HY_BLOCK_PAPER] = 1;
    f.parameter[HY_BLOCK_RULE]  = HY_BLOCK_BY_MODEL;
    hy_block_choose(&f, &r, HY_CHOI_BCSR);
    assert_true(f.block_rows < 8 || f.block_cols < 8);
    f.block_fills[63]           = 0.9f;
    f.parameter[HY_BLOCK_LANES] = 0;
    hy_block_choose(&f, &r, HY_CHOI_BCSR);
    expect(&f, 8, 8, 32);
}

/* T, the thread blocks that a multiprocessor holds at once, is that of Eq. 12 of Choi et
   al.: 100 registers of 32 threads take 3328 (13 x 256), so a thread block of 256
   threads takes 26 624 of 65 536 registers. */
static void occupancy(void **state)
{
    (void)state;
    assert_int_equal(hy_choi_resident_of(&rates, 100, 256), 2);
    assert_int_equal(hy_choi_resident_of(&rates, 100, 32), 19);
    assert_int_equal(hy_choi_resident_of(&rates, 16, 32), 32);
}

/* Predicted seconds of a kernel for 9000 rows in blocks of 3 x 3: 3000 block rows of 10
   blocks. In BELLPACK a thread takes a block row: with R = 64 threads there are 47
   thread blocks, of which the fullest of 10 multiprocessors has 5. In BCSR a warp takes
   a block row in one step: with R = 64 there are 1500 thread blocks. With 32 registers a
   thread, T = 32 thread blocks fit on a multiprocessor. */
static void prediction(void **state)
{
    const hy_block_speed entry = {100, 3, 2, 0.5f, 0, 0, 32};
    hy_features f              = in_threes();
    hy_rates r                 = rates;

    (void)state;
    for (int format = 0; format < HY_BLOCK_FORMATS; format++)
        speeds.of[format][0][hy_choi_shape_index((hy_block_shape){3, 3})][1] = entry;
    r.blocks     = &speeds;
    f.block_rows = f.block_cols = 3;
    f.block_fill                = 1;
    assert_true(fabs(hy_block_model_s(&f, &r, HY_CHOI_BELLPACK, 64) -
                     (100 + 3 * 10 + 4 * 0.5 * 10)) < 1e-9);
    /* 5 iterations: the first, three whole ones, and one for the last 220 thread
       blocks */
    assert_true(fabs(hy_block_model_s(&f, &r, HY_CHOI_BCSR, 64) -
                     (118.5 + 3 * 17.5 + 12.5)) < 1e-9);
}

/* With the built-in constants, of two kernels that differ only in bytes the one with
   fewer bytes is chosen. */
static void built_in_constants(void **state)
{
    hy_features f = in_threes();

    (void)state;
    f.rows *= 1000;
    f.nnz *= 1000;
    f.parameter[HY_BLOCK_RULE] = HY_BLOCK_BY_MODEL;
    hy_block_choose(&f, &rates, HY_CHOI_BELLPACK);
    assert_true(f.block_rows == 3 || f.block_cols == 3);
    assert_true(f.block_fill == 1);
}

static void unknown_fills(void **state)
{
    hy_features f = {.rows = 10, .cols = 10, .nnz = 0, .type = HYBRID_F32};

    (void)state;
    f.parameter[HY_BLOCK_R] = 4;
    hy_block_choose(&f, &rates, HY_CHOI_BELLPACK);
    assert_int_equal(f.block_rows, 4);
    assert_int_equal(f.block_cols, 1);
    assert_true(f.block_fill == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fewest_bytes),
        cmocka_unit_test(given_values_stay),
        cmocka_unit_test(model_picks_the_fastest),
        cmocka_unit_test(each_form_has_its_rule),
        cmocka_unit_test(wasteful_shapes_are_left_out),
        cmocka_unit_test(occupancy),
        cmocka_unit_test(prediction),
        cmocka_unit_test(built_in_constants),
        cmocka_unit_test(unknown_fills),
    };
    return cmocka_run_group_tests_name("block_choice", tests, NULL, NULL);
}
