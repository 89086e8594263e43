/* io/text/number.h - reads and writes decimal numbers.

   A text that is read must end in a 0, with HY_TEXT_PAD bytes after it. */
#ifndef HY_NUMBER_H
#define HY_NUMBER_H

#include <locale.h>

#include "base/contract/context.h"
#include "io/text/digits.h"

/* Range of e in the powers 10^e that finite numbers other than 0 need. */
enum { HY_MIN_POWER = -342, HY_MAX_POWER = 324 };

/* Tables that reading and writing of numbers share. */
typedef struct hy_numbers {
    /* The leading 128 bits of 10^e for each e, cut off; the first bit is 1. */
    uint64_t high[HY_MAX_POWER - HY_MIN_POWER + 1];
    uint64_t low[HY_MAX_POWER - HY_MIN_POWER + 1];
    locale_t c; /* the C locale, with a decimal point */
} hy_numbers;

hybrid_status hy_numbers_open(hy_context *ctx, hy_numbers **out);
void hy_numbers_close(hy_context *ctx, hy_numbers *numbers); /* accepts NULL */

/* Parses [+-]digits[.digits][e[+-]digits], inf, infinity or nan at `p`, and rounds
   correctly (to infinity on overflow). Returns the end of the number, or NULL if there is
   none. */
const char *hy_parse_real(const char *p, const hy_numbers *numbers, double *value);

/* Parses [+-]digits at `p`. Values out of range become INT64_MAX or -INT64_MAX. Returns
   the end of the number, or NULL if there is none. */
const char *hy_parse_int(const char *p, int64_t *value);

/* Bytes from `p` on that hy_write_uint() and hy_write_real() may overwrite; the text is
   shorter. */
enum { HY_NUMBER_ROOM = 40 };

/* Writes the decimal digits of x at `p`. Returns the end of the text. */
char *hy_write_uint(char *p, uint64_t x);

/* Writes `value` at `p` with the fewest digits that read back as the same value of
   `type`; among these it chooses the number closest to `value`. The text has at most 24
   bytes, such as 7, -0.125, 1e-300, inf or nan. A value of HYBRID_F32 is a float. Returns
   the end of the text. */
char *hy_write_real(char *p, double value, hybrid_type type, const hy_numbers *numbers);

#endif /* HY_NUMBER_H */
