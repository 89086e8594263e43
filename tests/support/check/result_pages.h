/* tests/support/check/result_pages.h - a context whose results are looked at page by
   page. */
#ifndef RESULT_PAGES_H
#define RESULT_PAGES_H

#include "base/memory/results.h"
#include "support/engines/group.h"

enum { PAGE = 4096, MIB = 1 << 20 };

/* Set-up of a test, whose tear-down is close_context(): `ctx` of group.h has four workers, and `before` is the
   number of its bytes in use when the test began. */
extern int64_t before;
int results_open(void **state);

/* Bytes on the meter for pages; the lists' own bytes are small. */
int64_t pages_counted(void);

/* Number of pages of [ptr, ptr + bytes) that are resident, for up to 4 MiB. */
int64_t pages_present(const char *ptr, size_t bytes);

/* An array of results, all of whose bytes are written. */
char *array_of(size_t bytes);

#endif /* RESULT_PAGES_H */
