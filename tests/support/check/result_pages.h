/* tests/support/check/result_pages.h - counts the pages of results. */
#ifndef RESULT_PAGES_H
#define RESULT_PAGES_H

#include "base/memory/results.h"
#include "support/engines/group.h"

enum { PAGE = 4096, MIB = 1 << 20 };

/* Set-up of a test; close_context() is its tear-down. `ctx` of group.h gets four workers,
   and `before` is set to the bytes that it uses. */
extern int64_t before;
int results_open(void **state);

/* Returns the bytes that the meter counts for pages of results. The bytes of free lists
   are small. */
int64_t pages_counted(void);

/* Returns how many pages of [ptr, ptr + bytes) are in memory. `bytes` is at most 4
   MiB. */
int64_t pages_present(const char *ptr, size_t bytes);

/* Returns an array of results with all bytes written. */
char *array_of(size_t bytes);

#endif /* RESULT_PAGES_H */
