/* tests/support/engines/io_fixture.h - a context without an engine, and files to read and
   write. */
#ifndef IO_FIXTURE_H
#define IO_FIXTURE_H

#include "base/contract/context.h"

/* Context with `threads` workers; aborts when there is none to be had. */
hy_context *io_open(int threads);
void io_close(hy_context *ctx);

/* Set-up and end of a group of tests that share a context of three workers, and leave no
   files. */
extern hy_context *io_ctx;
int io_group_open(void **state);
int io_group_close(void **state);

/* Path of a file of tests/data; valid until the next call. */
const char *io_data(const char *name);

/* Contents of a file and a 0, to be given to free(); aborts when it cannot be read. */
char *io_load(const char *path, size_t *bytes);
void io_store(const char *path, const void *data, size_t bytes);

/* Path of a file in a fresh folder of this program; valid until the next call. */
const char *io_temp(const char *name);
const char *io_partial(const char *name); /* of what is written until it is complete */
void io_remove_temp(void);
int io_group_remove(void **state); /* the same, at the end of a group */

/* Call `fn` with every file of tests/data of which the name contains `part`, and
   `rounds` mutations of it, the same on every run. */
void io_mutate(const char *part, int rounds,
               int (*fn)(const unsigned char *data, size_t bytes));

#endif /* IO_FIXTURE_H */
