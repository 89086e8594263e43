/* tests/support/files/io_status.h - checks what a function returned to a test that uses
   `io_ctx` (io_fixture.h). A failed check fails the test. */
#ifndef IO_STATUS_H
#define IO_STATUS_H

#include "hybrid_spmm.h"

/* Checks that the status is HYBRID_OK, and prints the message of io_ctx if not. */
void io_ok(hybrid_status status);

/* Checks that the status `is` is the wanted one, and that the message of io_ctx contains
   `part`. Clears the message. */
void io_expect(hybrid_status is, hybrid_status wanted, const char *part);

/* Calls `call` again and again, each time with another allocation of io_ctx that fails,
   until it returns HYBRID_OK. Every failure must be NO_MEMORY and leave no memory in use.
   Returns the number of allocations that failed. */
int64_t io_fail_each(hybrid_status (*call)(void));

#endif /* IO_STATUS_H */
