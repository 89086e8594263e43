/* engine/report/words.h - builds text in a buffer of the caller, as snprintf() does. */
#ifndef HY_WORDS_H
#define HY_WORDS_H

#include "base/text/message.h"

typedef struct hy_words {
    char *text;
    /* bytes that the buffer has; bytes of the whole text so far, which may be more */
    size_t capacity, length;
} hy_words;

/* Begins a text in a buffer of `capacity` bytes. If `text` is NULL, only the length of
   the text is computed. */
hy_words hy_words_begin(char *text, size_t capacity);

HY_PRINTF(2, 3) void hy_words_put(hy_words *w, const char *format, ...);

/* Writes 12345678 as "12 345 678". */
void hy_words_count(hy_words *w, int64_t n);

/* Writes a size as "11.8 GiB". */
void hy_words_bytes(hy_words *w, double bytes);

/* Writes lines of text, each behind `width` letters: `title` for the first line, spaces
   for the others. Writes nothing if there are no lines. */
void hy_words_lines(hy_words *w, const char *title, int width, const char *lines);

/* Writes a time of `s` seconds in s or ms, right-aligned in 12 characters. */
void hy_words_time(hy_words *w, double s);

#endif /* HY_WORDS_H */
