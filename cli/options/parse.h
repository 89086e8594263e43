/* cli/options/parse.h - values of options; each returns 1 if the whole text was
   understood. */
#ifndef CLI_PARSE_H
#define CLI_PARSE_H

#include <stddef.h>
#include <stdint.h>

int cli_parse_int(const char *text, int64_t least, int64_t most, int64_t *out);

/* Numbers from 0 to `most`, up to `room` of them, with commas between. */
int cli_parse_ints(const char *text, int most, int room, int *out, int *count);

int cli_parse_seed(const char *text, uint64_t *out);

/* Bytes above 0, rounded down: a decimal number and a unit. KB, MB, GB and TB are powers of
   1000; K, M, G and T, with or without iB, are powers of 1024. Without a unit, and with B, the
   number is whole. */
int cli_parse_size(const char *text, size_t *out);

/* Digits, with or without a point: 0.25, 1. */
int cli_parse_share(const char *text, double *out); /* 0 to 1 */

typedef struct cli_word {
    const char *text; /* NULL ends a table */
    int value;
} cli_word;

int cli_parse_word(const char *text, const cli_word *words, int *out);

#endif /* CLI_PARSE_H */
