/* tests/unit/base/test_printable.c - messages contain no terminal control sequences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/text/printable.h"
#include "io/text/io.h"
#include "support/engines/io_fixture.h"

static const struct pair {
    const char *from, *to;
} pairs[] = {
    {"", ""},
    {"plain text, 100 %", "plain text, 100 %"},
    {"na\xc3\xafve \xe2\x82\xac \xf0\x9f\x98\x80",
     "na\xc3\xafve \xe2\x82\xac \xf0\x9f\x98\x80"},
    {"a\nb\tc\rd", "a\\nb\\tc\\x0dd"},
    {"\x1b[31mred\x7f", "\\x1b[31mred\\x7f"},
    {"\xc2\x9b"
     "31m\xc2\xa0",
     "\\xc2\\x9b31m\xc2\xa0"}, /* U+009B, which some terminals take as the start of a
                                  control sequence */
    {"\x9b"
     "31m",
     "\\x9b31m"},
    {"\xc3", "\\xc3"},
    {"\xe2\x82", "\\xe2\\x82"},
    {"\xed\xa0\x80", "\\xed\\xa0\\x80"}, /* UTF-8 code of half of a surrogate pair, which
                                            is invalid */
    {"\xc0\xaf", "\\xc0\\xaf"},          /* a slash in two bytes instead of one, which is
                                            invalid UTF-8 */
    {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
};

static void control_characters_are_escaped(void **state)
{
    char to[64];

    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        hy_printable(to, sizeof to, pairs[i].from);
        assert_string_equal(to, pairs[i].to);
    }
}

/* A string that is longer than its buffer is cut between two characters, not within
   one. */
static void a_copy_may_be_cut(void **state)
{
    char to[8];

    (void)state;
    hy_printable(to, 6, "\n\n\n\n");
    assert_string_equal(to, "\\n");
    hy_printable(to, 4, "ab\xe2\x82\xac");
    assert_string_equal(to, "ab");
    hy_printable(to, 1, "ab");
    assert_string_equal(to, "");
}

static void names_in_messages_are_printable(void **state)
{
    hybrid_csr A;

    (void)state;
    assert_int_equal(hy_read_mtx(io_ctx, "no\x1b[31m\nsuch", HYBRID_F64, &A),
                     HYBRID_IO_FAILED);
    assert_non_null(strstr(io_ctx->message.text, "'no\\x1b[31m\\nsuch'"));
    hy_message_clear(&io_ctx->message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(control_characters_are_escaped),
        cmocka_unit_test(a_copy_may_be_cut),
        cmocka_unit_test(names_in_messages_are_printable),
    };
    return cmocka_run_group_tests(tests, io_group_open, io_group_close);
}
