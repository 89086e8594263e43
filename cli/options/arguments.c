/* cli/options/arguments.c - reads arguments with the table of options. */
#include "cli/options/arguments.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli/output/say.h"
#include "cli/options/suggest.h"

enum { FIRST_CODE = 256, NAME_BYTES = 64 };

/* ---- tables for getopt_long() ---------------------------------------------------- */

/* Makes the tables of getopt_long() for the options of a command. The option in row i of
   cli_option_table has the code FIRST_CODE + i. */
static void make_tables(const cli_command *command, struct option *longs, char *shorts)
{
    *shorts++ = ':';
    CLI_EACH_OPTION(option, command)
    {
        const int code = FIRST_CODE + (int)(option - cli_option_table);
        const int has  = option->kind->placeholder != NULL;

        *longs++ = (struct option){option->name, has, NULL, code};
        if (option->letter) {
            *shorts++ = option->letter;
            if (has)
                *shorts++ = ':';
        }
    }
    *longs  = (struct option){0};
    *shorts = '\0';
}

static const cli_option *find_code(const cli_command *command, int code)
{
    CLI_EACH_OPTION(option, command)
    {
        if (code == FIRST_CODE + (int)(option - cli_option_table) ||
            (code > 0 && code == option->letter))
            return option;
    }
    return NULL;
}

/* ---- wrong options --------------------------------------------------------------- */

typedef struct list {
    char text[256]; /* names of commands or options, such as "multiply, explain", cut off
                       if there are too many */
    size_t used;
    int count;
} list;

static void list_add(list *l, const char *dashes, const char *word)
{
    l->used += (size_t)snprintf(l->text + l->used, sizeof l->text - l->used, "%s%s%s",
                                l->count > 0 ? ", " : "", dashes, word);
    if (l->used >= sizeof l->text)
        l->used = sizeof l->text - 1;
    l->count++;
}

static int see_help(const cli_command *command, const char *problem)
{
    return cli_fail(CLI_USAGE, "%s; see '%s --help'", problem,
                    cli_command_title(command).s);
}

/* Prints which commands take the option `name`, if any do. Returns 1, or 0 if no command
   does. */
static int tell_owners(const cli_command *command, const char *name)
{
    list owners   = {0};
    unsigned bits = 0;

    for (const cli_option *option = cli_option_table; option->name; option++)
        if (strcmp(option->name, name) == 0)
            bits |= option->commands;
    for (const cli_command *c = cli_commands; c->name; c++)
        if (bits & c->bit)
            list_add(&owners, "", c->name);
    if (owners.count > 0 && command == &cli_program)
        cli_fail(CLI_USAGE,
                 "--%s must follow the command; it is an option of the commands %s", name,
                 owners.text);
    else if (owners.count > 0)
        cli_fail(CLI_USAGE, "'%s' has no option --%s, which is an option of %s",
                 cli_command_title(command).s, name, owners.text);
    return owners.count > 0;
}

/* If several options of the command begin with `name`, prints them and returns 1; else
   returns 0. */
static int tell_ambiguous(const cli_command *command, const char *name)
{
    list matches = {0};

    CLI_EACH_OPTION(option, command)
    {
        if (strncmp(option->name, name, strlen(name)) == 0)
            list_add(&matches, "--", option->name);
    }
    if (matches.count > 1)
        cli_fail(CLI_USAGE, "--%s is ambiguous: it may stand for %s", name, matches.text);
    return matches.count > 1;
}

static int fail_unknown(const cli_command *command, const char *word, const char *name)
{
    cli_suggestion near = {.typed = name};
    char problem[256];

    CLI_EACH_OPTION(option, command)
    {
        cli_suggest(&near, option->name);
    }
    if (near.best)
        return cli_fail(CLI_USAGE, "'%s' has no option %s; did you mean --%s?",
                        cli_command_title(command).s, word, near.best);
    snprintf(problem, sizeof problem, "'%s' has no option %.100s",
             cli_command_title(command).s, word);
    return see_help(command, problem);
}

static int fail_long(const cli_command *command, const char *name)
{
    char word[NAME_BYTES + 2];

    snprintf(word, sizeof word, "--%s", name);
    if (tell_ambiguous(command, name) || tell_owners(command, name))
        return CLI_USAGE;
    return fail_unknown(command, word, name);
}

/* Prints an error about an unknown letter after a dash, which may be a long option with
   one dash too few. Returns CLI_USAGE. */
static int fail_letter(const cli_command *command, const char *name)
{
    const char word[] = {'-', (char)optopt, '\0'};

    for (const cli_option *option = cli_option_table; option->name; option++)
        if (option->letter == optopt)
            return tell_owners(command, option->name) ? CLI_USAGE
                                                      : fail_unknown(command, word, name);
    return fail_unknown(command, word, name);
}

/* Returns the word at which getopt_long() stopped. After the last letter of a word,
   optind is already at the next word. */
static const char *stopped_at(char **argv)
{
    const char *next = argv[optind];
    const int inside = optopt != 0 && next && next[0] == '-' && next[1] != '-' &&
                       strchr(next, optopt) != NULL;

    return inside ? next : argv[optind - 1];
}

/* Prints what is wrong after getopt_long() returned `code`: ':' if a value is missing,
   else '?'. getopt's variable optopt is 0 after an unknown long option. Returns
   CLI_USAGE. */
static int fail_option(const cli_command *command, int code, char **argv)
{
    const cli_option *known = find_code(command, optopt);
    char name[NAME_BYTES], problem[256];

    if (known) {
        snprintf(problem, sizeof problem, "--%s %s", known->name,
                 code == ':' ? "needs a value" : "takes no value");
        return see_help(command, problem);
    }
    const char *word = stopped_at(argv);
    word += strspn(word, "-");
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    return optopt == 0 ? fail_long(command, name) : fail_letter(command, name);
}

/* ---- reading --------------------------------------------------------------------- */

static int take_inputs(const cli_command *command, int count, char **words,
                       cli_options *out)
{
    if (count < command->least || count > command->most)
        return cli_fail(CLI_USAGE, "usage: %s%s%s [OPTIONS]; see --help",
                        cli_command_title(command).s, command->most ? " " : "",
                        command->arguments);
    for (int i = 0; i < count; i++)
        out->input[i] = words[i];
    return CLI_DONE;
}

int cli_arguments_read(const cli_command *command, int argc, char **argv,
                       cli_options *out)
{
    struct option longs[CLI_OPTIONS_MOST];
    char shorts[2 * CLI_OPTIONS_MOST + 2];
    int code;

    *out   = (cli_options){.seed = 1, .repeat = 1};
    optind = 1;
    opterr = 0;
    make_tables(command, longs, shorts);
    while ((code = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
        const cli_option *option = find_code(command, code);
        if (!option)
            return fail_option(command, code, argv);
        if (!option->kind->read(option->kind, optarg, (char *)out + option->field))
            return cli_fail(CLI_USAGE, "--%s takes %s, not '%s'", option->name,
                            option->kind->rule, optarg);
    }
    if (out->help || out->version)
        return CLI_DONE;
    return take_inputs(command, argc - optind, argv + optind, out);
}
