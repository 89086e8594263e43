/* engine/report/words.h - text that goes to a buffer of the caller, as snprintf() writes
   it. */
#ifndef HY_WORDS_H
#define HY_WORDS_H

#include "base/text/message.h"

typedef struct hy_words {
    char *text;
    size_t capacity, length; /* bytes of the buffer; of the whole text, which may be more */
} hy_words;

/* text NULL: only the length is wanted. */
hy_words hy_words_begin(char *text, size_t capacity);

HY_PRINTF(2, 3) void hy_words_put(hy_words *w, const char *format, ...);

/* 12345678 as "12 345 678". */
void hy_words_count(hy_words *w, int64_t n);

/* "11.8 GiB" */
void hy_words_bytes(hy_words *w, double bytes);

/* Seconds in a column of 12 letters. */
void hy_words_time(hy_words *w, double s);

#endif /* HY_WORDS_H */
