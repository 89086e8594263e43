/* tests/support/check/tell.h - for tests without a framework: how many were checked and
   wrong. */
#ifndef TELL_H
#define TELL_H

#include <stdint.h>

/* Print both. Returned is how many are wrong; too few that were checked are one more. */
int tell(const char *what, int64_t checked, int64_t least, int wrong);

/* The same where the number is known. */
int tell_all(const char *what, int64_t checked, int64_t all, int wrong);

#endif /* TELL_H */
