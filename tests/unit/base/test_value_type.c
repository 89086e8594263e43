/* tests/unit/base/test_value_type.c - the table of value types. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/data/value_type.h"
#include "tests/support/engines/group.h"

static void each_type_has_a_row(void **state)
{
    static const struct {
        hybrid_type type;
        const char *name, *long_name, *npy_name;
        size_t size;
        double epsilon, min, max;
    } wanted[] = {
        {HYBRID_F32, "f32", "float32", "<f4", 4, 0x1p-23, 0x1p-149, 0x1.fffffep127},
        {HYBRID_F64, "f64", "float64", "<f8", 8, 0x1p-52, 0x1p-1074,
         0x1.fffffffffffffp1023}};

    (void)state;
    assert_int_equal(HY_TYPE_COUNT, sizeof wanted / sizeof *wanted);
    for (int i = 0; i < HY_TYPE_COUNT; i++) {
        const hy_value_type *row = hy_value_type_of(wanted[i].type);
        assert_string_equal(row->name, wanted[i].name);
        assert_string_equal(row->long_name, wanted[i].long_name);
        assert_string_equal(row->npy_name, wanted[i].npy_name);
        assert_true(row->epsilon == wanted[i].epsilon);
        assert_true(row->min == wanted[i].min && row->max == wanted[i].max);
        assert_int_equal(hy_value_size(wanted[i].type), wanted[i].size);
        assert_int_equal(hy_type_index(wanted[i].type), i);
        assert_int_equal(hy_type_at(i), wanted[i].type);
        assert_int_equal(hy_check_type(ctx, HYBRID_BAD_MATRIX, "A", wanted[i].type), 0);
    }
}

/* An array of bytes, so that values also lie at addresses that are not aligned. */
static void values_are_written_rounded_and_copied(void **state)
{
    static const double values[] = {0, -0.0, 1.0 / 3, -1e300, 0x1p-149, INFINITY};
    enum { COUNT = sizeof values / sizeof *values };

    (void)state;
    for (int i = 0; i < HY_TYPE_COUNT; i++) {
        const hybrid_type type = hy_type_at(i);
        hy_value array[COUNT], copy[COUNT];
        char bytes[sizeof array + 1];
        for (int k = 0; k < COUNT; k++) {
            const double rounded =
                type == HYBRID_F32 ? (double)(float)values[k] : values[k];
            hy_value_put(type, array, k, values[k]);
            hy_value_copy(type, copy, COUNT - 1 - k, array, k);
            memcpy(bytes + 1, array, sizeof array);
            assert_true(hy_value_rounded(type, values[k]) == rounded);
            assert_true(hy_value_at(type, array, k) == rounded);
            assert_true(hy_value_at(type, copy, COUNT - 1 - k) == rounded);
            assert_true(hy_value_at(type, bytes + 1, k) == rounded);
            assert_int_equal(signbit(hy_value_at(type, array, k)) != 0,
                             signbit(values[k]) != 0);
        }
    }
}

static void other_numbers_are_no_types(void **state)
{
    static const int numbers[] = {-1, 0, HY_TYPE_COUNT + 1, 1 << 20};

    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        hy_message_clear(&ctx->message);
        assert_int_equal(
            hy_check_type(ctx, HYBRID_BAD_MATRIX, "A", (hybrid_type)numbers[i]),
            HYBRID_BAD_MATRIX);
        assert_non_null(strstr(ctx->message.text, "A: type "));
    }
    hy_message_clear(&ctx->message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_type_has_a_row),
        cmocka_unit_test(values_are_written_rounded_and_copied),
        cmocka_unit_test(other_numbers_are_no_types),
    };
    return cmocka_run_group_tests_name("value_type", tests, open_context, close_context);
}
