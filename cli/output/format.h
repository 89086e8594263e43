/* cli/output/format.h - checks the file formats of results. */
#ifndef CLI_FORMAT_H
#define CLI_FORMAT_H

#include "cli/options/options.h"

/* Checks that the result, dense (1) or sparse (0), can be written to --output in the
   format of --format or of the name's ending. Returns 0, or an exit code after printing
   an error. */
int cli_format_check(const cli_options *options, int dense);

/* Returns 1 if --output receives a Matrix Market file or a .npy file. */
int cli_format_is_plain(const cli_options *options);

#endif /* CLI_FORMAT_H */
