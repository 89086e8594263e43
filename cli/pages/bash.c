/* cli/pages/bash.c - writes completions for bash. The shell function that it writes sets
   `words` to the words that may follow on the command line, and `files` if a file may
   follow. */
#include "cli/pages/page.h"

static const char head[] = "# Completion of hybrid_spmm for bash.\n"
                           "\n"
                           "_hybrid_spmm()\n"
                           "{\n"
                           "    local cur=${COMP_WORDS[COMP_CWORD]} "
                           "prev=${COMP_WORDS[COMP_CWORD-1]} words= files=\n"
                           "\n"
                           "    COMPREPLY=()\n"
                           "    if [[ $cur == = ]]; then # --option=\n"
                           "        cur=\n"
                           "    elif [[ $prev == = ]]; then\n"
                           "        prev=${COMP_WORDS[COMP_CWORD-2]}\n"
                           "    fi\n"
                           "    if ((COMP_CWORD == 1)); then\n"
                           "        words='";

static const char tail[] =
    "    esac fi\n"
    "    if [[ $files ]]; then\n"
    "        compopt -o default\n"
    "    else\n"
    "        [[ $words == *: ]] && compopt -o nospace\n"
    "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
    "    fi\n"
    "} && complete -F _hybrid_spmm hybrid_spmm\n";

static void put_names(FILE *to, const cli_command *command)
{
    const char *blank = "";

    CLI_EACH_OPTION(option, command)
    {
        fprintf(to, "%s--%s", blank, option->name);
        blank = " ";
    }
}

static void put_value(FILE *to, const cli_option *option)
{
    if (!option->kind->placeholder)
        return;
    fputs("        ", to);
    if (option->letter)
        fprintf(to, "-%c|", option->letter);
    fprintf(to, "--%s) ", option->name);
    if (option->kind->completion == CLI_COMPLETES_FILES) {
        fputs("files=1 ;;\n", to);
        return;
    }
    if (page_has_words(option->kind)) {
        fputs("words='", to);
        page_words(to, option->kind);
        fputs("' ", to);
    }
    fputs(";;\n", to);
}

/* Writes the branch of the shell function for a word that is not the value of an option:
   the word may be an option, a kind of argument, or a file. */
static void put_arguments(FILE *to, const cli_command *command)
{
    fputs("        *) if [[ $cur == -* ]]; then words='", to);
    put_names(to, command);
    fputs("'; ", to);
    if (command->kinds) {
        fputs("else words='", to);
        page_kinds(to, command, ":");
        fputs("'; ", to);
    } else if (command->most > 0) {
        fputs("else files=1; ", to);
    }
    fputs("fi ;;\n", to);
}

void page_bash(FILE *to)
{
    fputs(head, to);
    for (const cli_command *c = cli_commands; c->name; c++)
        fprintf(to, "%s ", c->name);
    put_names(to, &cli_program);
    fputs("'\n    else case ${COMP_WORDS[1]} in\n", to);
    for (const cli_command *c = cli_commands; c->name; c++) {
        fprintf(to, "    %s) case $prev in\n", c->name);
        CLI_EACH_OPTION(option, c)
        {
            put_value(to, option);
        }
        put_arguments(to, c);
        fputs("        esac ;;\n", to);
    }
    fputs(tail, to);
}
