/* cli/pages/page.h - texts for other programs, written from the tables of commands and
   options: manual pages and completions of shells. */
#ifndef CLI_PAGES_PAGE_H
#define CLI_PAGES_PAGE_H

#include <stdio.h>

#include "cli/options/options.h"

/* Each writes a whole file. */
void page_man(FILE *to, const cli_command *command, const char *date); /* "2026-01-31" */
void page_bash(FILE *to);
void page_zsh(FILE *to);
void page_fish(FILE *to);

/* The first sentence of an option's help, without the full stop. Returns its length. */
int page_brief(const cli_option *option);

/* Returns 1 if words complete the option's value; page_words() writes them with blanks between. */
int page_has_words(const cli_kind *kind);
void page_words(FILE *to, const cli_kind *kind);

/* Writes the beginnings "er:" of a command's kinds, with blanks between, and `colon` instead of
   the colon. */
void page_kinds(FILE *to, const cli_command *command, const char *colon);

#endif /* CLI_PAGES_PAGE_H */
