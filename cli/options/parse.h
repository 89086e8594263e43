/* cli/options/parse.h - parses option values. Functions return 1 if the text is valid. */
#ifndef CLI_PARSE_H
#define CLI_PARSE_H

#include <stddef.h>
#include <stdint.h>

int cli_parse_int(const char *text, int64_t least, int64_t most, int64_t *out);

/* Parses whole numbers from 0 to `most`, separated by commas, into `out`. Returns 0 if
   they are more than `room`. */
int cli_parse_ints(const char *text, int most, int room, int *out, int *count);

int cli_parse_seed(const char *text, uint64_t *out);

/* Parses a size in bytes above 0: a decimal number and a unit, rounded down. KB, MB, GB
   and TB are powers of 1000; K, M, G and T, with or without iB, are powers of 1024.
   Without a unit, or with B, the number must be whole. */
int cli_parse_size(const char *text, size_t *out);

/* Parses a number from 0 to 1 such as 0.25 or 1: digits, with or without a point. */
int cli_parse_share(const char *text, double *out);

/* Parses "BEGIN:END" with BEGIN < END, where an END of 0 stands for the end of all rows.
   A number that is left out is 0; an END that is written as 0 is not valid. */
int cli_parse_range(const char *text, int64_t *begin, int64_t *end);

typedef struct cli_word {
    const char *text; /* the word; NULL ends a list of words */
    int value;
} cli_word;

int cli_parse_word(const char *text, const cli_word *words, int *out);

#endif /* CLI_PARSE_H */
