/* tests/unit/plan/test_refusals.c - the table of choices that exclude each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/tables/refusals.h"

static const unsigned axes[] = {
    HY_WITH_SPARSE_B | HY_WITH_DENSE_X,
    HY_WITH_A_ON_DEVICE,
    HY_WITH_SECOND_ON_DEVICE,
    HY_WITH_REDUCED_A,
    HY_WITH_SAME_BITS,
    HY_WITHOUT_NAME,
    HY_WITH_HOST_SHARE,
    HY_WITH_ROW_NUMBERS | HY_WITH_REORDERED_A | HY_WITH_PACKED_B,
    HY_WITH_UNORDERED_SUMS,
    HY_WITH_NAME_NEEDED,
    HY_WITH_HOST | HY_WITH_DEVICE,
    HY_WITH_COPIES | HY_WITH_RING | HY_WITH_ROW_RING | HY_WITH_COLUMN_RING |
        HY_WITH_ENTRY_RING | HY_WITH_GATHER | HY_WITH_IN_PLACE};

enum { AXES = sizeof axes / sizeof *axes };

/* Returns the number of the axis (kind of choice) to which a value with one bit
   belongs. */
static int axis_of(unsigned value)
{
    assert_true(value && (value & (value - 1)) == 0);
    for (int i = 0; i < AXES; i++)
        if (value & axes[i])
            return i;
    fail_msg("value %#x has no axis", value);
    return -1;
}

/* Each refusal names two values of two axes (kinds of choice), and no pair occurs
   twice. */
static void refusals_name_values_of_two_axes(void **state)
{
    (void)state;
    for (const hy_refusal *r = hy_refusals; r->why; r++) {
        assert_int_not_equal(axis_of(r->one), axis_of(r->other));
        for (const hy_refusal *s = hy_refusals; s < r; s++)
            assert_int_not_equal(s->one | s->other, r->one | r->other);
    }
}

/* hy_refused() refuses both values of a refusal together if at least one of them was
   chosen (first argument), and nothing else. */
static void pairs_are_refused(void **state)
{
    (void)state;
    for (const hy_refusal *r = hy_refusals; r->why; r++) {
        assert_string_equal(hy_refused(r->one, r->other), r->why);
        assert_string_equal(hy_refused(r->other, r->one), r->why);
        assert_string_equal(hy_refused(r->one | r->other, 0), r->why);
        assert_null(hy_refused(0, r->one | r->other));
        assert_null(hy_refused(r->one, 0));
        assert_null(hy_refused(r->other, 0));
    }
}

/* Returns the text of docs/design.md, to be freed with free(). */
static char *read_design(void)
{
    enum { MOST = 1 << 20 };
    const char *folder = getenv("HYBRID_SOURCE");
    char path[4096], *text = calloc(MOST, 1);

    assert_non_null(folder);
    assert_non_null(text);
    snprintf(path, sizeof path, "%s/docs/design.md", folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_in_range(fread(text, 1, MOST - 1, file), 1, MOST - 2);
    fclose(file);
    return text;
}

/* The list in docs/design.md has each sentence of the table, and no other. */
static void the_document_lists_the_table(void **state)
{
    char *text  = read_design();
    char *begin = strstr(text, "**Refusals.**"), line[256];
    int listed = 0, in_table = 0;

    (void)state;
    assert_non_null(begin);
    char *end = strstr(begin, "**Source.**");
    assert_non_null(end);
    *end = '\0';
    for (const char *at = begin; (at = strstr(at, "\n- ")); at++)
        listed++;
    for (const hy_refusal *r = hy_refusals; r->why; r++) {
        const int again = r > hy_refusals && strcmp(r[-1].why, r->why) == 0;
        in_table += !again;
        snprintf(line, sizeof line, "\n- %s\n", r->why);
        if (!strstr(begin, line))
            fail_msg("docs/design.md does not list '%s'", r->why);
    }
    assert_int_equal(listed, in_table);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refusals_name_values_of_two_axes),
        cmocka_unit_test(pairs_are_refused),
        cmocka_unit_test(the_document_lists_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
