/* tests/cli/test_cli_text.c - sizes on the command line, suggestions for misspelt words,
   and rules for the tables of commands and options. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cli/options/arguments.h"
#include "cli/commands/job.h"
#include "cli/options/options.h"
#include "cli/options/parse.h"
#include "cli/options/suggest.h"

static void sizes_are_exact(void **state)
{
    static const struct {
        const char *text;
        size_t bytes;
    } cases[] = {{"1", 1},
                 {"1000000B", 1000000},
                 {"1K", 1024},
                 {"1KiB", 1024},
                 {"1KB", 1000},
                 {"64MB", 64000000},
                 {"512MiB", 536870912},
                 {"0.5G", 536870912},
                 {".5GiB", 536870912},
                 {"2.5GB", 2500000000},
                 {"0.29MB", 290000},
                 {"1.1KB", 1100},
                 {"0.0009KB", 0},
                 {"0.0019KB", 1},
                 {"1.00000000000000000000000000001K", 1024},
                 {"1.99999999999999999999999999999K", 2047},
                 {"0.1T", 109951162777},
                 {"1TB", 1000000000000},
                 {"8388607T", 9223370937343148032},
                 {"9223372036854775807", 9223372036854775807},
                 {"9223372036854775808", 0},
                 {"8388607.9999999999999999999999999T", 9223372036854775807}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t bytes    = 0;
        const int valid = cli_parse_size(cases[i].text, &bytes);
        if (valid != (cases[i].bytes > 0) || (valid && bytes != cases[i].bytes))
            fail_msg("%s is %zu bytes", cases[i].text, bytes);
    }
}

static void near_words_are_suggested(void **state)
{
    static const char *const candidates[] = {"multiply", "explain",  "info",
                                             "list",     "generate", "calibrate"};
    static const struct {
        const char *typed, *best;
    } cases[] = {{"mulitply", "multiply"},
                 {"multipy", "multiply"},
                 {"multiplyy", "multiply"},
                 {"mult", "multiply"},
                 {"lsit", "list"},
                 {"ifno", "info"},
                 {"genrate", "generate"},
                 {"calibarte", "calibrate"},
                 {"explian", "explain"},
                 {"divide", NULL},
                 {"l", NULL},
                 {"", NULL},
                 {"A.mtx", NULL},
                 {"inform", "info"}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cli_suggestion near = {.typed = cases[i].typed};
        for (size_t k = 0; k < sizeof candidates / sizeof *candidates; k++)
            cli_suggest(&near, candidates[k]);
        if (!near.best != !cases[i].best ||
            (near.best && strcmp(near.best, cases[i].best) != 0))
            fail_msg("%s suggests %s", cases[i].typed, near.best ? near.best : "nothing");
    }
}

static void long_words_are_not_compared(void **state)
{
    char word[10000];
    cli_suggestion near = {.typed = word};

    (void)state;
    memset(word, 'm', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    cli_suggest(&near, "multiply");
    cli_suggest(&near, word);
    assert_null(near.best);
}

/* Each help text must consist of sentences on one line. The first sentence is the
   description in completions. */
static void options_are_described(void **state)
{
    (void)state;
    for (const cli_option *o = cli_option_table; o->name; o++) {
        const size_t length = strlen(o->help);
        if (length < 2 || o->help[length - 1] != '.' || strchr(o->help, '\n'))
            fail_msg("the help of --%s is no sentences on one line", o->name);
        if (o->kind->placeholder && o->kind->completion == CLI_COMPLETES_WORDS &&
            !o->kind->rule)
            fail_msg("--%s takes a value without a rule", o->name);
        for (const cli_option *other = o + 1; other->name; other++)
            if ((other->commands & o->commands) &&
                (strcmp(o->name, other->name) == 0 ||
                 (o->letter && o->letter == other->letter)))
                fail_msg("--%s is twice in one command", o->name);
    }
}

static void words_are_read(void **state)
{
    (void)state;
    for (const cli_option *o = cli_option_table; o->name; o++)
        for (const cli_word *word = o->kind->words; word && word->text; word++) {
            cli_options options = {0};
            if (!o->kind->read(o->kind, word->text, (char *)&options + o->field))
                fail_msg("--%s does not take %s", o->name, word->text);
        }
}

/* --split=0.25 must set both the split and the host's share in the options of the
   plan. */
static void shares_reach_the_plan(void **state)
{
    char name[] = "multiply", option[] = "--split=0.25", operand[] = "A.mtx";
    char *words[] = {name, option, operand, NULL};
    cli_options options;

    (void)state;
    assert_int_equal(cli_arguments_read(cli_command_find(name), 3, words, &options), 0);
    const cli_job job                = {.options = &options, .right = &job.A};
    const hybrid_plan_options wanted = cli_job_wanted(&job);
    assert_int_equal(wanted.split, HYBRID_SPLIT_SHARE);
    assert_true(wanted.host_share == 0.25);
    assert_string_equal(options.input[0], "A.mtx");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes_are_exact),
                                       cmocka_unit_test(near_words_are_suggested),
                                       cmocka_unit_test(long_words_are_not_compared),
                                       cmocka_unit_test(options_are_described),
                                       cmocka_unit_test(words_are_read),
                                       cmocka_unit_test(shares_reach_the_plan)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
