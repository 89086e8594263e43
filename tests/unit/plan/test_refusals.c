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
        HY_WITH_ENTRY_RING | HY_WITH_GATHER | HY_WITH_COLLECT | HY_WITH_PASSES |
        HY_WITH_IN_PLACE};

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

/* Words of docs/design.md for the values. */
static const struct {
    unsigned value;
    const char *words;
} words[] = {{HY_WITH_SPARSE_B, "SpGEMM"},
             {HY_WITH_DENSE_X, "SpMM"},
             {HY_WITH_A_ON_DEVICE, "device A"},
             {HY_WITH_SECOND_ON_DEVICE, "device B/X"},
             {HY_WITH_REDUCED_A, "reduced A"},
             {HY_WITH_SAME_BITS, "same bits"},
             {HY_WITHOUT_NAME, "no name"},
             {HY_WITH_HOST_SHARE, "share"},
             {HY_WITH_ROW_NUMBERS, "row numbers"},
             {HY_WITH_REORDERED_A, "reordered A"},
             {HY_WITH_PACKED_B, "packed B"},
             {HY_WITH_UNORDERED_SUMS, "unordered sums"},
             {HY_WITH_NAME_NEEDED, "variant by name"},
             {HY_WITH_HOST, "host"},
             {HY_WITH_DEVICE, "device"},
             {HY_WITH_COPIES, "any other schedule"},
             {HY_WITH_RING, "`row_ring` or `column_ring`"},
             {HY_WITH_ROW_RING, "`row_ring`"},
             {HY_WITH_COLUMN_RING, "`column_ring`"},
             {HY_WITH_ENTRY_RING, "`entry_ring`"},
             {HY_WITH_GATHER, "`gather`"},
             {HY_WITH_COLLECT, "`collect`"},
             {HY_WITH_PASSES, "`passes`"},
             {HY_WITH_IN_PLACE, "`in_place`"}};

static const char *words_of(unsigned value)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].value == value)
            return words[i].words;
    fail_msg("value %#x has no words", value);
    return NULL;
}

/* Returns 1 if a list item of `list` has the pair and the reason of the refusal. Items
   have the form "- ONE, OTHER: REASON" or "- ONE, OTHER; ONE, OTHER: REASON". */
static int is_listed(const char *list, const hy_refusal *r)
{
    char pair[128], end[256];

    snprintf(pair, sizeof pair, "%s, %s", words_of(r->one), words_of(r->other));
    snprintf(end, sizeof end, ": %s\n", r->why);
    for (const char *item = list; (item = strstr(item, "\n- ")); item++) {
        const char *why = strchr(item, ':');
        if (!why || strncmp(why, end, strlen(end)) != 0)
            continue;
        for (const char *at = item + 3; at < why; at++)
            if (strncmp(at, pair, strlen(pair)) == 0 && strchr(":;", at[strlen(pair)]) &&
                at[-1] == ' ' && strchr("-;", at[-2]))
                return 1;
    }
    return 0;
}

/* The list in docs/design.md has the pair and the reason of each row of the table, and
   no other pair. */
static void the_document_lists_the_table(void **state)
{
    char *text  = read_design();
    char *begin = strstr(text, "**Refusals.**");
    int listed = 0, in_table = 0;

    (void)state;
    assert_non_null(begin);
    char *end = strstr(begin, "**Source.**");
    assert_non_null(end);
    *end  = '\0';
    begin = strstr(begin, "\n- ");
    assert_non_null(begin);
    for (const char *item = begin; (item = strstr(item, "\n- ")); item++) {
        const char *why = strchr(item, ':');
        assert_non_null(why);
        listed++;
        for (const char *at = item; at < why; at++)
            listed += *at == ';';
    }
    for (const hy_refusal *r = hy_refusals; r->why; r++, in_table++)
        if (!is_listed(begin, r))
            fail_msg("docs/design.md does not list '%s, %s: %s'", words_of(r->one),
                     words_of(r->other), r->why);
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
