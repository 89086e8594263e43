/* io/number.h - decimal numbers in a text that ends in a 0. */
#ifndef HY_NUMBER_H
#define HY_NUMBER_H

#include <locale.h>
#include <stdint.h>

/* Parse [+-]digits[.digits][e[+-]digits], inf, infinity or nan at `p`, rounded
   correctly (to infinity on overflow). Returns where the number ends, or NULL if there
   is none. `c` is the C locale. */
const char *hy_parse_real(const char *p, locale_t c, double *value);

/* Parse [+-]digits at `p`; what does not fit becomes INT64_MAX or -INT64_MAX. */
const char *hy_parse_int(const char *p, int64_t *value);

#endif /* HY_NUMBER_H */
