/* cli/pages/man.c - writes a manual page per command, and one for the program. Each
   sentence begins a line, and lines have less than 80 bytes, as mandoc -Tlint
   requires. */
#include <ctype.h>
#include <string.h>

#include "cli/pages/page.h"

enum { WIDTH = 76 };

/* ---- text ------------------------------------------------------------------------- */

/* Writes `length` bytes of text with troff's special characters escaped. Returns the
   number of bytes written. */
static int put_letters(FILE *to, const char *text, int length)
{
    static const char *const escapes[] = {"-\\-", "\\\\e", "'\\(aq", "^\\(ha", "~\\(ti"};
    int bytes                          = 0;

    for (int i = 0; i < length; i++) {
        const char *escape = NULL;
        for (size_t k = 0; k < sizeof escapes / sizeof *escapes; k++)
            if (escapes[k][0] == text[i])
                escape = escapes[k] + 1;
        bytes += escape ? fprintf(to, "%s", escape) : fprintf(to, "%c", text[i]);
    }
    return bytes;
}

static void put_string(FILE *to, const char *text)
{
    put_letters(to, text, (int)strlen(text));
}

static int ends_sentence(const char *word, int length)
{
    return length > 1 && word[length - 1] == '.' && word[length - 2] != '.';
}

/* Writes paragraphs, which are separated by an empty line in `text`. */
static void put_text(FILE *to, const char *text)
{
    int column = 0;

    while (*text) {
        const int length = (int)strcspn(text, " \n");
        if (column + length > WIDTH) {
            fputc('\n', to);
            column = 0;
        } else if (column > 0) {
            column += fprintf(to, " ");
        }
        if (column == 0 && (*text == '.' || *text == '\''))
            fputs("\\&", to); /* an empty character, so that troff does not read the word
                                 as a request */
        column += put_letters(to, text, length);
        text += length;
        if (text[0] == '\n') {
            fputs("\n.PP\n", to);
            column = 0;
        } else if (ends_sentence(text - length, length) && *text) {
            fputc('\n', to);
            column = 0;
        }
        text += strspn(text, " \n");
    }
    fputc('\n', to);
}

/* ---- sections --------------------------------------------------------------------- */

static void put_terms(FILE *to, const char *section, const cli_term *terms)
{
    if (terms)
        fprintf(to, ".SH %s\n", section);
    for (; terms && terms->name; terms++) {
        fputs(".TP\n\\fB", to);
        put_string(to, terms->name);
        fputs("\\fR\n", to);
        put_text(to, terms->text);
    }
}

/* Writes the name of the page: "hybrid_spmm" or "hybrid_spmm-multiply". */
static void put_title(FILE *to, const cli_command *command)
{
    fprintf(to, "hybrid_spmm%s%s", command->name[0] ? "\\-" : "", command->name);
}

static void put_head(FILE *to, const cli_command *command, const char *date)
{
    fprintf(to, ".TH HYBRID_SPMM%s", command->name[0] ? "\\-" : "");
    for (const char *c = command->name; *c; c++)
        fputc(toupper((unsigned char)*c), to);
    fprintf(to, " 1 \"%s\" \"hybrid_spmm %s\" \"User Commands\"\n.SH NAME\n", date,
            cli_version().s);
    put_title(to, command);
    fputs(" \\- ", to);
    put_string(to, command->summary);
    fprintf(to, "\n.SH SYNOPSIS\n\\fB%s\\fR", cli_command_title(command).s);
    if (command->most > 0)
        fprintf(to, " \\fI%s\\fR", command->arguments);
    fputs(" [\\fIOPTIONS\\fR]\n.SH DESCRIPTION\n", to);
    put_text(to, command->description);
}

/* Writes which values an option takes, unless they are words of a list or any text:
   "--threads takes a whole number." */
static void put_rule(FILE *to, const cli_option *option)
{
    char text[256];

    if (option->kind->completion != CLI_COMPLETES_WORDS || option->kind->words ||
        !option->kind->rule)
        return;
    snprintf(text, sizeof text, "--%s takes %s.", option->name, option->kind->rule);
    put_text(to, text);
}

static void put_options(FILE *to, const cli_command *command)
{
    fputs(".SH OPTIONS\n", to);
    CLI_EACH_OPTION(option, command)
    {
        fputs(".TP\n", to);
        if (option->letter)
            fprintf(to, "\\fB\\-%c\\fR, ", option->letter);
        fputs("\\fB\\-\\-", to);
        put_string(to, option->name);
        fputs("\\fR", to);
        if (option->kind->placeholder) {
            fputs(" \\fI", to);
            put_string(to, option->kind->placeholder);
            fputs("\\fR", to);
        }
        fputc('\n', to);
        put_text(to, option->help);
        put_rule(to, option);
    }
}

static void put_commands(FILE *to)
{
    fputs(".SH COMMANDS\n", to);
    for (const cli_command *c = cli_commands; c->name; c++) {
        fprintf(to, ".TP\n.BR hybrid_spmm\\-%s (1)\n", c->name);
        put_string(to, c->summary);
        fputc('\n', to);
    }
}

static void put_examples(FILE *to, const cli_term *examples)
{
    if (examples)
        fputs(".SH EXAMPLES\n", to);
    for (const cli_term *e = examples; e && e->name; e++) {
        fputs(e > examples ? ".PP\n" : "", to);
        put_text(to, e->text);
        fputs(".PP\n.RS 4\n.nf\n", to);
        put_string(to, e->name);
        fputs("\n.fi\n.RE\n", to);
    }
}

static void put_see_also(FILE *to, const cli_command *command)
{
    const char *comma = "";

    fputs(".SH SEE ALSO\n", to);
    if (command != &cli_program) {
        fputs(".BR hybrid_spmm (1)", to);
        comma = ",\n";
    }
    for (const cli_command *c = cli_commands; c->name; c++)
        if (c != command) {
            fprintf(to, "%s.BR hybrid_spmm\\-%s (1)", comma, c->name);
            comma = ",\n";
        }
    fputc('\n', to);
}

void page_man(FILE *to, const cli_command *command, const char *date)
{
    put_head(to, command, date);
    if (command == &cli_program)
        put_commands(to);
    put_terms(to, "KINDS", command->kinds);
    put_options(to, command);
    put_terms(to, "EXIT STATUS", cli_exit_codes);
    put_examples(to, command->examples);
    put_see_also(to, command);
}
