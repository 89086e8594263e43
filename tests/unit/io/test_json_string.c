/* tests/unit/io/test_json_string.c - strings of JSON: valid and invalid escapes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "io/text/json_string.h"

static const struct good {
    const char *text, *meaning; /* `text` includes the closing quote */
} goods[] = {
    {"\"", ""},
    {"x.bin\"", "x.bin"},
    {"\\/data\\/x.bin\"", "/data/x.bin"},
    {"a\\\"b\\\\c\"", "a\"b\\c"},
    {"\\b\\f\\n\\r\\t\"", "\b\f\n\r\t"},
    {"\\u0041\\u005a\\u007F\"", "AZ\x7f"},
    {"\\u0080\\u00e9\\u07ff\"", "\xc2\x80\xc3\xa9\xdf\xbf"},
    {"\\u0800\\u20AC\\uffff\"", "\xe0\xa0\x80\xe2\x82\xac\xef\xbf\xbf"},
    {"\\ud83d\\uDE00\\ud800\\udc00\"", "\xf0\x9f\x98\x80\xf0\x90\x80\x80"},
    {"\xc3\xa9\"", "\xc3\xa9"},
};

static void escapes_are_resolved(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof goods / sizeof *goods; i++) {
        const char *text = goods[i].text, *at, *why, *end = text + strlen(text);
        char meaning[64];

        assert_ptr_equal(hy_json_string_end(text, end, &at, &why), end - 1);
        const size_t length =
            hy_json_string_decode(text, (size_t)(end - 1 - text), meaning);
        assert_int_equal(length, strlen(goods[i].meaning));
        assert_memory_equal(meaning, goods[i].meaning, length);
    }
}

static const struct bad {
    const char *text;
    int at; /* expected position of the fault in the text */
    const char *why;
} bads[] = {
    {"", 0, "no end"},
    {"abc", 0, "no end"},
    {"abc\\", 0, "no end"},
    {"a\nb\"", 1, "control"},
    {"\x1b\"", 0, "control"},
    {"ab\\x41\"", 2, "escape"},
    {"\\'\"", 0, "escape"},
    {"\\u00g0\"", 0, "escape"},
    {"\\u004\"", 0, "escape"},
    {"\\u0000\"", 0, "escape"}, /* refused, because U+0000 would end a path */
    {"\\ud800\"", 0, "escape"}, /* refused, because it is half of a surrogate pair */
    {"\\ud800\\u0041\"", 0, "escape"}, /* refused, because it is half of a surrogate pair
                                          and a letter */
    {"\\ud800x\"", 0, "escape"},
    {"\\udc00\"", 0, "escape"},
};

/* The text lies at the end of an array, so that sanitizers notice reads beyond it. */
static void faults_are_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bads / sizeof *bads; i++) {
        const size_t length = strlen(bads[i].text);
        char *text          = malloc(length + (length == 0));
        const char *at = NULL, *why = NULL;

        assert_non_null(text);
        memcpy(text, bads[i].text, length);
        assert_null(hy_json_string_end(text, text + length, &at, &why));
        assert_int_equal(at - text, bads[i].at);
        assert_non_null(strstr(why, bads[i].why));
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escapes_are_resolved),
        cmocka_unit_test(faults_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
