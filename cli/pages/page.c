/* cli/pages/page.c - functions that manual pages and completions share. */
#include "cli/pages/page.h"

#include <string.h>

int page_brief(const cli_option *option)
{
    const char *stop = strstr(option->help, ". ");
    return stop ? (int)(stop - option->help) : (int)strlen(option->help) - 1;
}

static void put_variants(FILE *to)
{
    hybrid_variant_info info;

    for (int i = 0; hybrid_variant_at(i, &info) == HYBRID_OK; i++)
        fprintf(to, "%s%s", i > 0 ? " " : "", info.name);
}

int page_has_words(const cli_kind *kind)
{
    return kind->words || kind->completion == CLI_COMPLETES_VARIANTS;
}

void page_words(FILE *to, const cli_kind *kind)
{
    if (kind->completion == CLI_COMPLETES_VARIANTS)
        put_variants(to);
    for (const cli_word *word = kind->words; word && word->text; word++)
        fprintf(to, "%s%s", word > kind->words ? " " : "", word->text);
}

void page_kinds(FILE *to, const cli_command *command, const char *colon)
{
    for (const cli_term *kind = command->kinds; kind->name; kind++)
        fprintf(to, "%s%.*s%s", kind > command->kinds ? " " : "",
                (int)strcspn(kind->name, ":"), kind->name, colon);
}
