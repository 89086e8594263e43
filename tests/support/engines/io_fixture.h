/* tests/support/engines/io_fixture.h - a context without an engine, and files to read and
   write. */
#ifndef IO_FIXTURE_H
#define IO_FIXTURE_H

#include "io/text/io_sizes.h"

/* The sizes of steps of io/ in the contexts of io_open(). Tests change them between calls
   and set them to hy_usual_io_sizes again. */
extern hy_io_sizes io_sizes;

/* Sets io_sizes so that a text of 1 MB has several windows and many blocks, and runs of
   `run` entries that are merged in several steps. */
void io_sizes_small(int64_t run);

/* Creates a context with `threads` workers. A failure aborts the program. */
hy_context *io_open(int threads);
void io_close(hy_context *ctx);

/* Set-up and tear-down functions of a cmocka group that shares `io_ctx`, a context of
   three workers, and ignores SIGPIPE. The tear-down also removes the temporary files of
   io_temp(). */
extern hy_context *io_ctx;
int io_group_open(void **state);
int io_group_close(void **state);

/* Returns the path of a file of tests/data. The path is valid until the next call. */
const char *io_data(const char *name);

/* Returns the bytes of a file, followed by a 0, and sets *bytes to their number without
   the 0. The caller frees them with free(). A failure aborts the program. */
char *io_load(const char *path, size_t *bytes);
void io_store(const char *path, const void *data, size_t bytes);

/* Returns a path in a temporary folder of this process. The path is valid until the next
   call. */
const char *io_temp(const char *name);
const char *io_partial(const char *name); /* path of the file that the library writes in
                                             place of io_temp(name) and renames when it is
                                             complete */
void io_remove_temp(void);
int io_group_remove(void **state); /* tear-down function of a group that calls
                                      io_remove_temp() */

/* Calls `fn` with the bytes of every file of tests/data that has `part` in its name, at
   most 256 files, and with `rounds` random mutations of each. The mutations are the same
   on every run. No such file aborts the program. */
void io_mutate(const char *part, int rounds,
               int (*fn)(const unsigned char *data, size_t bytes));

/* Aborts the program, after printing `what` and the message of the context, unless the
   condition holds. */
void io_must(const hy_context *ctx, int condition, const char *what);

#endif /* IO_FIXTURE_H */
