/* cli/operands/peek.h - the beginning of an operand, which is still to be read. */
#ifndef CLI_PEEK_H
#define CLI_PEEK_H

#include <stddef.h>

enum { CLI_PEEK_BYTES = 1024 };

/* Copies the first bytes of a regular file or of standard input ("-"), inflated if they are
   gzip data, to `text` with a 0 behind. Standard input stays as it is: of a pipe, the bytes
   that are in it are looked at without taking them out, and the call waits for them. Returns
   the number of bytes; 0 if the file cannot be looked at. */
size_t cli_peek(const char *name, char text[CLI_PEEK_BYTES]);

#endif /* CLI_PEEK_H */
