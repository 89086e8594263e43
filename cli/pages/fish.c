/* cli/pages/fish.c - writes completions for fish. */
#include "cli/pages/page.h"

static void put_quoted(FILE *to, const char *text, int length)
{
    fputc('\'', to);
    for (int i = 0; i < length && text[i]; i++)
        fprintf(to, text[i] == '\'' || text[i] == '\\' ? "\\%c" : "%c", text[i]);
    fputc('\'', to);
}

/* Writes the beginning of a line of completions that applies to one command only. */
static void put_begin(FILE *to, const cli_command *command)
{
    if (command == &cli_program)
        fputs("complete -c hybrid_spmm -n __fish_use_subcommand", to);
    else
        fprintf(to, "complete -c hybrid_spmm -n '__fish_seen_subcommand_from %s'",
                command->name);
}

static void put_option(FILE *to, const cli_command *command, const cli_option *option)
{
    const cli_kind *kind = option->kind;

    put_begin(to, command);
    if (option->letter)
        fprintf(to, " -s %c", option->letter);
    fprintf(to, " -l %s", option->name);
    if (kind->placeholder && kind->completion == CLI_COMPLETES_FILES) {
        fputs(" -r -F", to);
    } else if (kind->placeholder) {
        fputs(" -x", to);
        if (page_has_words(kind)) {
            fputs(" -a '", to);
            page_words(to, kind);
            fputc('\'', to);
        }
    }
    fputs(" -d ", to);
    put_quoted(to, option->help, page_brief(option));
    fputc('\n', to);
}

static void put_arguments(FILE *to, const cli_command *command)
{
    if (command->kinds) {
        put_begin(to, command);
        fputs(" -a '", to);
        page_kinds(to, command, ":");
        fputs("'\n", to);
    } else if (command->most > 0) {
        put_begin(to, command);
        fputs(" -F\n", to);
    }
}

static void put_command(FILE *to, const cli_command *command)
{
    CLI_EACH_OPTION(option, command)
    {
        put_option(to, command, option);
    }
    if (command != &cli_program)
        put_arguments(to, command);
}

void page_fish(FILE *to)
{
    fputs("# Completion of hybrid_spmm for fish.\n"
          "\n"
          "complete -c hybrid_spmm -f\n",
          to);
    for (const cli_command *c = cli_commands; c->name; c++) {
        put_begin(to, &cli_program);
        fprintf(to, " -a %s -d ", c->name);
        put_quoted(to, c->summary, 80);
        fputc('\n', to);
    }
    put_command(to, &cli_program);
    for (const cli_command *c = cli_commands; c->name; c++)
        put_command(to, c);
}
