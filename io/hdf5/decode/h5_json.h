/* io/hdf5/decode/h5_json.h - finds values in the JSON text of an attribute (RFC 8259).

   Binsparse describes a matrix by nested objects. A reader needs a few of their members
   and passes over all others. */
#ifndef HY_H5_JSON_H
#define HY_H5_JSON_H

#include <stddef.h>
#include <stdint.h>

/* Returns NULL if the text is one JSON value with at most 32 levels. Otherwise returns
   the place of the fault. All functions below need a text that passed. */
const char *hy_h5_json_fault(const char *text);

/* Return the first member of an object, or element `i` of an array: a pointer to its
   value in the text. NULL if `value` is NULL, is of another kind, or has no such part. */
const char *hy_h5_json_member(const char *value, const char *key);
const char *hy_h5_json_element(const char *value, int i);

/* Copies a string without its quotes. Returns 0 if `value` is NULL, is no string, or is
   longer than `bytes` - 1 bytes. */
int hy_h5_json_text(const char *value, char *to, size_t bytes);

/* Reads a whole number from 0 to 2^63 - 1. Returns 0 if `value` is none. */
int hy_h5_json_count(const char *value, int64_t *out);

/* Returns 1 if `value` is the word, such as true. */
int hy_h5_json_is(const char *value, const char *word);

#endif /* HY_H5_JSON_H */
