/* cli/pages/page.h - writes manual pages and shell completions from the tables of
   commands and options. */
#ifndef CLI_PAGES_PAGE_H
#define CLI_PAGES_PAGE_H

#include <stdio.h>

#include "cli/options/options.h"

/* Each writes a complete file: the manual page of a command, or completions for a
   shell. */
/* `date` is written as in "2026-01-31" */
void page_man(FILE *to, const cli_command *command, const char *date);
void page_bash(FILE *to);
void page_zsh(FILE *to);
void page_fish(FILE *to);

/* Returns the length of the first sentence of an option's help, without the full stop. */
int page_brief(const cli_option *option);

/* page_has_words() returns 1 if the option's value is one of a list of words.
   page_words() writes these words with blanks between them. */
int page_has_words(const cli_kind *kind);
void page_words(FILE *to, const cli_kind *kind);

/* Writes the prefixes of a command's kinds, such as "er:", with blanks between them.
   `colon` is written instead of each colon. */
void page_kinds(FILE *to, const cli_command *command, const char *colon);

#endif /* CLI_PAGES_PAGE_H */
