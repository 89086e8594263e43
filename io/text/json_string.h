/* io/text/json_string.h - strings of JSON (RFC 8259): what is between the quotes. */
#ifndef HY_JSON_STRING_H
#define HY_JSON_STRING_H

#include <stddef.h>

/* Checks the string that begins at `p`, behind its quote. Returns its closing quote. At a
   fault, returns NULL, sets *at to the place of the fault and *why to a clause about it. A
   string with the character U+0000 is refused. */
const char *hy_json_string_end(const char *p, const char *end, const char **at,
                               const char **why);

/* Writes the `length` bytes at `text`, which hy_json_string_end() has accepted, to `to`
   with escapes resolved, in UTF-8 and without a 0 at the end. Returns the number of bytes
   written, at most `length`. */
size_t hy_json_string_decode(const char *text, size_t length, char *to);

#endif /* HY_JSON_STRING_H */
