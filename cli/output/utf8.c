/* cli/output/utf8.c - UTF-8 characters, and text that is safe to print on a terminal. */
#include "cli/output/utf8.h"

#include <stdio.h>
#include <string.h>

enum { ESCAPE_BYTES = sizeof "\\xNN" - 1 };

int cli_utf8_length(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    unsigned low = 0x80, high = 0xbf; /* allowed range of the second byte of a character;
                                         some first bytes narrow it */
    int length;

    if (p[0] < 0x80)
        return 1;
    if (p[0] < 0xc2 || p[0] > 0xf4)
        return 0;
    length = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    if (p[0] == 0xe0)
        low = 0xa0;
    else if (p[0] == 0xed)
        high = 0x9f;
    else if (p[0] == 0xf0)
        low = 0x90;
    else if (p[0] == 0xf4)
        high = 0x8f;
    if (p[1] < low || p[1] > high)
        return 0;
    for (int i = 2; i < length; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

/* Returns 1 if the character at `text` is a control character of ASCII, or one of U+0080
   to U+009F. */
static int is_control(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;

    return p[0] < 0x20 || p[0] == 0x7f || (p[0] == 0xc2 && p[1] < 0xa0);
}

void cli_printable(char *to, size_t room, const char *from)
{
    const char *end = to + room - 1;

    while (*from) {
        const int length   = is_control(from) ? 0 : cli_utf8_length(from);
        const size_t bytes = length > 0 ? (size_t)length : ESCAPE_BYTES;
        if ((size_t)(end - to) < bytes)
            break;
        if (length > 0)
            memcpy(to, from, bytes);
        else
            snprintf(to, ESCAPE_BYTES + 1, "\\x%02x", (unsigned char)*from);
        to += bytes;
        from += length > 0 ? length : 1;
    }
    *to = '\0';
}

cli_title cli_title_of(const char *name, const char *standard)
{
    cli_title title;

    cli_printable(title.s, sizeof title.s, strcmp(name, "-") == 0 ? standard : name);
    return title;
}
