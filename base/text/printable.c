/* base/text/printable.c - replaces characters that would control a terminal. */
#include "base/text/printable.h"

#include <stdio.h>
#include <string.h>

enum { ESCAPE_BYTES = sizeof "\\xNN" - 1 };

/* Returns the number of bytes of the UTF-8 character at `p` (RFC 3629); 0 if there is
   none. The final 0 of a text is no continuation byte, so nothing behind it is read. */
static size_t character_length(const unsigned char *p)
{
    unsigned least = 0x80, most = 0xbf; /* minimum and maximum of the second byte */
    size_t length = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;

    if (p[0] < 0x80)
        return 1;
    if (p[0] < 0xc2 || p[0] > 0xf4)
        return 0;
    if (p[0] == 0xe0)
        least = 0xa0;
    else if (p[0] == 0xed)
        most = 0x9f; /* ED A0 and above would be a surrogate */
    else if (p[0] == 0xf0)
        least = 0x90;
    else if (p[0] == 0xf4)
        most = 0x8f;
    if (p[1] < least || p[1] > most)
        return 0;
    for (size_t i = 2; i < length; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

static int is_control(const unsigned char *p)
{
    return p[0] < 0x20 || p[0] == 0x7f || (p[0] == 0xc2 && p[1] < 0xa0);
}

/* Writes `byte` as an escape of at most ESCAPE_BYTES characters, and a final 0. Returns
   the length without the 0. */
static size_t put_escape(char *to, unsigned char byte)
{
    if (byte == '\n' || byte == '\t') {
        memcpy(to, byte == '\n' ? "\\n" : "\\t", 3);
        return 2;
    }
    snprintf(to, ESCAPE_BYTES + 1, "\\x%02x", byte);
    return ESCAPE_BYTES;
}

void hy_printable(char *to, size_t room, const char *from)
{
    const unsigned char *p = (const unsigned char *)from;
    char *end              = to + room - 1;

    while (*p) {
        const size_t length = character_length(p);
        const int shown     = length > 0 && !is_control(p);
        if ((size_t)(end - to) < (shown ? length : ESCAPE_BYTES))
            break;
        if (shown)
            memcpy(to, p, length);
        to += shown ? length : put_escape(to, *p);
        p += shown ? length : 1;
    }
    *to = '\0';
}
