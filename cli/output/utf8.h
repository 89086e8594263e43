/* cli/output/utf8.h - UTF-8 characters, and text that is safe to print on a terminal. */
#ifndef CLI_UTF8_H
#define CLI_UTF8_H

#include <stddef.h>

/* Returns the number of bytes of the UTF-8 character at `p` (RFC 3629), or 0 if these
   bytes are not valid. */
int cli_utf8_length(const char *p);

/* Copies `from` to `to`, at most `room` bytes with the final 0; a longer text is
   truncated. Control characters and bytes that are not UTF-8 become \xNN. */
void cli_printable(char *to, size_t room, const char *from);

typedef struct cli_title {
    char s[128];
} cli_title;

/* Returns the file name `name` for messages: printable, truncated if it is long, and
   `standard` (such as "standard input") if the name is "-". */
cli_title cli_title_of(const char *name, const char *standard);

#endif /* CLI_UTF8_H */
