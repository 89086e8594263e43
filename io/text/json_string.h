/* io/text/json_string.h - the text between the quotes of a JSON string (RFC 8259). */
#ifndef HY_JSON_STRING_H
#define HY_JSON_STRING_H

#include <stddef.h>

/* Checks the string that begins at `p`, behind its quote. Returns its closing quote. At a
   fault, returns NULL and sets *at to the place of the fault and *why to a clause about
   it. The character U+0000 is refused. */
const char *hy_json_string_end(const char *p, const char *end, const char **at,
                               const char **why);

/* Writes the `length` bytes at `text`, which hy_json_string_end() has accepted, to `to`
   with escapes resolved, in UTF-8 and without a final 0. Returns the number of bytes
   written, at most `length`. */
size_t hy_json_string_decode(const char *text, size_t length, char *to);

/* Writes the character as it stands in a string, escaped if JSON requires that, to `to`,
   which has room for 7 bytes. Returns the number of bytes written. A byte of a longer
   UTF-8 sequence stays as it is. */
size_t hy_json_string_encode(char character, char *to);

#endif /* HY_JSON_STRING_H */
