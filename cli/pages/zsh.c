/* cli/pages/zsh.c - writes completions for zsh, with _arguments. */
#include "cli/pages/page.h"

/* Writes text as a part, in single quotes, of a specification for _arguments or
   _describe. */
static void put_quoted(FILE *to, const char *text, int length)
{
    for (int i = 0; i < length && text[i]; i++)
        if (text[i] == '\'')
            fputs("'\\''", to);
        else
            fprintf(to,
                    text[i] == ':' || text[i] == '[' || text[i] == ']' ? "\\%c" : "%c",
                    text[i]);
}

static void put_value(FILE *to, const cli_kind *kind)
{
    if (!kind->placeholder)
        return;
    fputc(':', to);
    put_quoted(to, kind->placeholder, 64);
    fputc(':', to);
    if (kind->completion == CLI_COMPLETES_FILES) {
        fputs("_files", to);
    } else if (page_has_words(kind)) {
        fputc('(', to);
        page_words(to, kind);
        fputc(')', to);
    } else {
        fputc(' ', to); /* nothing to complete: zsh shows the name of the value only */
    }
}

/* Writes the specification of an option for _arguments, such as '(-o
   --output)'{-o+,--output=}'[Write the result]:FILE:_files'. */
static void put_option(FILE *to, const cli_option *option)
{
    const int takes = option->kind->placeholder != NULL;

    fputs(" \\\n            ", to);
    if (option->letter)
        fprintf(to, "'(-%c --%s)'{-%c%s,--%s%s}'", option->letter, option->name,
                option->letter, takes ? "+" : "", option->name, takes ? "=" : "");
    else
        fprintf(to, "'--%s%s", option->name, takes ? "=" : "");
    fputc('[', to);
    put_quoted(to, option->help, page_brief(option));
    fputc(']', to);
    put_value(to, option->kind);
    fputc('\'', to);
}

static void put_options(FILE *to, const cli_command *command)
{
    CLI_EACH_OPTION(option, command)
    {
        put_option(to, option);
    }
}

static void put_command(FILE *to, const cli_command *command)
{
    fprintf(to, "        %s)\n            _arguments -s", command->name);
    put_options(to, command);
    if (command->kinds) {
        fputs(" \\\n            '1:KIND:{compadd -S \"\" -- ", to);
        page_kinds(to, command, "\\:");
        fputs("}'", to);
    } else if (command->most > 0) {
        fprintf(to, " \\\n            '*:%s:_files'", command->arguments);
    }
    fputs(" ;;\n", to);
}

void page_zsh(FILE *to)
{
    fputs("#compdef hybrid_spmm\n"
          "# Completion of hybrid_spmm for zsh.\n"
          "\n"
          "_hybrid_spmm() {\n"
          "    local curcontext=$curcontext state line\n"
          "    local -a commands=(\n",
          to);
    for (const cli_command *c = cli_commands; c->name; c++) {
        fprintf(to, "        '%s:", c->name);
        put_quoted(to, c->summary, 80);
        fputs("'\n", to);
    }
    fputs("    )\n"
          "\n"
          "    _arguments -C",
          to);
    put_options(to, &cli_program);
    fputs(" \\\n            '1:command:->command' '*::argument:->argument' && return\n"
          "    case $state in\n"
          "    command) _describe command commands ;;\n"
          "    argument)\n"
          "        case $words[1] in\n",
          to);
    for (const cli_command *c = cli_commands; c->name; c++)
        put_command(to, c);
    fputs("        esac ;;\n"
          "    esac\n"
          "}\n"
          "\n"
          "_hybrid_spmm \"$@\"\n",
          to);
}
