/* cli/operands/peek.h - looks at the beginning of an operand without consuming it. */
#ifndef CLI_PEEK_H
#define CLI_PEEK_H

#include <stddef.h>

enum { CLI_PEEK_BYTES = 1024 };

/* Copies the first bytes of a regular file or of standard input ("-") to `text` and
   appends a 0. gzip data is inflated. Standard input is not consumed; if it is a pipe,
   the call waits for its first bytes. Returns the number of bytes, or 0 if the file
   cannot be examined. */
size_t cli_peek(const char *name, char text[CLI_PEEK_BYTES]);

#endif /* CLI_PEEK_H */
