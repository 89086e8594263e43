/* cli/output/format.h - the formats that results are written in. */
#ifndef CLI_FORMAT_H
#define CLI_FORMAT_H

#include "cli/options/options.h"

/* Checks that the result, which is dense or sparse, can be written to --output in the format
   that --format or the ending of the name says. Returns 0 or an exit code. */
int cli_format_check(const cli_options *options, int dense);

#endif /* CLI_FORMAT_H */
