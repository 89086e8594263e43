/* cli/options/help.c - prints --help from the tables of commands and options. */
#include "cli/options/help.h"

#include <string.h>

#include "cli/options/options.h"

enum { WIDTH = 80, OPTION_COLUMN = 29 };

/* Prints the paragraphs of `text` in lines of at most WIDTH columns. The first line
   begins at column `column`; lines that are wrapped begin at `indent`. */
static void put_wrapped(FILE *to, const char *text, int column, int indent)
{
    while (*text) {
        const int length = (int)strcspn(text, " \n");
        const int starts = column == indent;

        if (!starts && column + 1 + length > WIDTH) {
            fprintf(to, "\n%*s", indent, "");
            column = indent;
        } else if (!starts) {
            fputc(' ', to);
            column++;
        }
        fprintf(to, "%.*s", length, text);
        column += length;
        text += length;
        for (; *text == '\n'; text++) {
            fputc('\n', to);
            column = indent;
        }
        text += *text == ' ';
    }
    fputc('\n', to);
}

static void put_term(FILE *to, const char *name, const char *text, int column)
{
    const int width = column - 2;

    fprintf(to, "  %-*s", width, name);
    if ((int)strlen(name) >= width)
        fprintf(to, "\n%*s", column, "");
    put_wrapped(to, text, column, column);
}

static void put_terms(FILE *to, const char *title, const cli_term *terms)
{
    int longest = 0;

    for (const cli_term *t = terms; t && t->name; t++)
        longest = (int)strlen(t->name) > longest ? (int)strlen(t->name) : longest;
    if (longest > 0)
        fprintf(to, "\n%s\n", title);
    for (const cli_term *t = terms; t && t->name; t++)
        put_term(to, t->name, t->text, longest + 4);
}

static void put_options(FILE *to, const cli_command *command)
{
    fputs("\noptions\n", to);
    CLI_EACH_OPTION(option, command)
    {
        const char *value   = option->kind->placeholder;
        const char letter[] = {'-', option->letter, ',', ' ', '\0'};
        char left[64];

        snprintf(left, sizeof left, "%s--%s%s%s", option->letter ? letter : "    ",
                 option->name, value ? " " : "", value ? value : "");
        put_term(to, left, option->help, OPTION_COLUMN);
    }
}

static void put_commands(FILE *to)
{
    fputs("\ncommands\n", to);
    for (const cli_command *c = cli_commands; c->name; c++)
        fprintf(to, "  %-9s %-10s %s\n", c->name, c->arguments, c->summary);
    fputs("\n'hybrid_spmm COMMAND --help' describes a command.\n", to);
}

static void put_examples(FILE *to, const cli_term *examples)
{
    if (examples)
        fputs("\nexamples\n", to);
    for (const cli_term *e = examples; e && e->name; e++) {
        fprintf(to, "  %s\n      ", e->name);
        put_wrapped(to, e->text, 6, 6);
    }
}

void cli_help_print(const cli_command *command, FILE *to)
{
    fprintf(to, "usage: %s%s%s [OPTIONS]\n\n", cli_command_title(command).s,
            command->most ? " " : "", command->arguments);
    put_wrapped(to, command->description, 0, 0);
    if (command == &cli_program)
        put_commands(to);
    put_terms(to, "kinds", command->kinds);
    put_options(to, command);
    put_examples(to, command->examples);
    if (command == &cli_program)
        put_terms(to, "exit codes", cli_exit_codes);
}
