/* tests/support/check/result_pages.h - counts the pages of results. */
#ifndef RESULT_PAGES_H
#define RESULT_PAGES_H

#include "base/memory/results.h"
#include "support/engines/group.h"

enum { PAGE = 4096, MIB = 1 << 20 };

/* Set-up of a cmocka test; close_context() is its tear-down. Creates `ctx` (group.h) with
   four workers, and sets `before` to the bytes of host memory that it uses. */
extern int64_t before;
int results_open(void **state);

/* Returns the bytes of whole pages by which the context uses more host memory than
   `before` says: those of results, including freed ones that are cached. */
int64_t pages_counted(void);

/* Returns how many pages of [ptr, ptr + bytes) are in physical memory. `bytes` must be at
   most 4 MiB, or the test fails. */
int64_t pages_present(const char *ptr, size_t bytes);

/* Returns a result array of `bytes` bytes from the library's allocator, with all bytes
   written. */
char *array_of(size_t bytes);

#endif /* RESULT_PAGES_H */
