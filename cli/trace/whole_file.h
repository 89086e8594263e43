/* cli/trace/whole_file.h - reads a file as a whole. */
#ifndef CLI_WHOLE_FILE_H
#define CLI_WHOLE_FILE_H

#include <stddef.h>
#include <stdio.h>

/* Reads a file, or standard input if the name is "-". *text receives its bytes and a 0
   behind them; the caller frees it with free(). Returns 0, or an exit code after
   printing an error. */
int cli_whole_file(const char *name, char **text, size_t *bytes);

/* Reads the rest of a stream as cli_whole_file() reads a file. `name` is the name in
   messages. */
int cli_whole_stream(FILE *file, const char *name, char **text, size_t *bytes);

#endif /* CLI_WHOLE_FILE_H */
