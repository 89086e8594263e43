/* cli/output/format.h - the formats that results are written in. */
#ifndef CLI_FORMAT_H
#define CLI_FORMAT_H

typedef struct cli_options cli_options;

/* Values of --format; 0 if none was given. */
typedef enum cli_format {
    CLI_FORMAT_MTX = 1, /* Matrix Market, of a sparse result */
    CLI_FORMAT_NPY      /* NumPy, of a dense result */
} cli_format;

/* Checks that the result, which is dense or sparse, can be written to --output in the format
   that --format or the ending of the name says. Returns 0 or an exit code. */
int cli_format_check(const cli_options *options, int dense);

#endif /* CLI_FORMAT_H */
