/* tests/support/check/tell.h - prints the final counts of tests without a framework. */
#ifndef TELL_H
#define TELL_H

#include <stdint.h>

/* Prints how many products were checked and how many were wrong. Returns the number of
   wrong ones, plus 1 if fewer than `least` were checked. */
int tell(const char *what, int64_t checked, int64_t least, int wrong);

/* Works as tell(), but counts one wrong product more unless exactly `all` were
   checked. */
int tell_all(const char *what, int64_t checked, int64_t all, int wrong);

/* Does what tell() does for a test that takes every second combination unless it is to
   take all (case_step()): `least` is for all. */
int tell_halved(const char *what, int64_t checked, int64_t least, int wrong);

#endif /* TELL_H */
