/* cli/output/utf8.h - characters of UTF-8, and text that a terminal shows and does not
   obey. */
#ifndef CLI_UTF8_H
#define CLI_UTF8_H

#include <stddef.h>

/* Returns the bytes of the UTF-8 character at `p` (RFC 3629), or 0 if there is none. */
int cli_utf8_length(const char *p);

/* Copies `from` to `to`, which has room for `room` bytes with the final 0, and cuts the copy
   if there is more. Control characters and bytes that are not UTF-8 become \xNN. */
void cli_printable(char *to, size_t room, const char *from);

typedef struct cli_title {
    char s[128];
} cli_title;

/* Returns the name of a file as sentences have it: printable, cut if it is long, and
   `standard`, such as "standard input", in place of "-". */
cli_title cli_title_of(const char *name, const char *standard);

#endif /* CLI_UTF8_H */
